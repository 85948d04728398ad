"""A model fetched when it is picked: from a small hub of the test's own, on this machine, with progress told."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from demos.bert.model import models
from demos.bert.model.catalogue import BUNDLED, CATALOGUE, ModelSpec
from demos.bert.model.models import ModelStore, model_folder
from tests.bert.model.local_hub import in_its_place

SPEC = ModelSpec("fetched", "Fetched", "someone/bert-fetched", "a" * 40, 6, 12, 384, cased=False, size_mb=91)


class _Hub(BaseHTTPRequestHandler):
    """As much of the Hub's own protocol as a snapshot needs: the tree of a revision, and its files with an ETag."""

    protocol_version = "HTTP/1.1"
    folder: Path
    asked: set[str]

    def log_message(self, *args: object) -> None:
        pass

    def _send(self, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(body)), "X-Repo-Commit": "a" * 40}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    def do_GET(self) -> None:
        path = self.path.split("?")[0]
        if "/resolve/" in path:
            self.asked.add(path.rsplit("/", 1)[1])
            body = (self.folder / path.rsplit("/", 1)[1]).read_bytes()
            self._send(body, {"ETag": f'"{hashlib.sha256(body).hexdigest()}"'})
        elif path.startswith("/api/models/"):
            files = [(name, (self.folder / name).stat().st_size) for name in SPEC.files]
            tree = [{"type": "file", "path": name, "size": size, "oid": "0" * 40} for name, size in files]
            info = {"id": SPEC.hub_id, "sha": "a" * 40, "siblings": [{"rfilename": name} for name, _ in files]}
            self._send(json.dumps(tree if "/tree/" in path else info).encode(), {"Content-Type": "application/json"})
        else:
            self._send(b"", {})

    do_HEAD = do_GET  # noqa: N815  the name that http.server calls


@pytest.fixture
def asked() -> set[str]:
    """The names of the files that were asked of the hub."""
    return set()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, asked: set[str]) -> Iterator[str]:
    handler = type("Hub", (_Hub,), {"folder": model_folder(CATALOGUE[BUNDLED]), "asked": asked})
    with in_its_place(handler, monkeypatch, tmp_path / "hub") as url:
        yield url


def test_a_picked_model_comes_from_the_hub_with_progress(hub: str, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ModelStore({"fetched": SPEC})
    assert not models.at_hand(SPEC)
    counts: list[int] = []
    note = store._note
    monkeypatch.setattr(store, "_note", lambda key, count: (note(key, count), counts.append(store.progress(key) or 0)))
    loaded = store.begin("fetched").result(timeout=60)
    assert loaded.model.config.hidden_size == 384
    assert len(counts) > 2
    assert counts == sorted(counts)
    size = sum((model_folder(CATALOGUE[BUNDLED]) / name).stat().st_size for name in SPEC.files)
    assert counts[-1] == size
    assert store.progress("fetched") is None  # nothing is being fetched now
    assert models.at_hand(SPEC)  # and it stays on this disk


def test_tokens_alone_do_not_fetch_the_weights(hub: str, asked: set[str]) -> None:
    store = ModelStore({"fetched": SPEC})
    assert store.tokenizer("fetched")("hello").tokens() == ["[CLS]", "hello", "[SEP]"]
    assert "vocab.txt" in asked
    assert "model.safetensors" not in asked
    assert not models.at_hand(SPEC)
    assert store.begin("fetched").result(timeout=60).model.config.hidden_size == 384
    assert "model.safetensors" in asked
