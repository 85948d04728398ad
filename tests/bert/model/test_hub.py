"""A model fetched when it is picked: from a small hub of the test's own, on this machine, with progress told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from demos.bert.model import models
from demos.bert.model.catalogue import BUNDLED, CATALOGUE, ModelSpec
from demos.bert.model.models import ModelStore, model_folder
from tests.bert.model.local_hub import in_its_place
from tests.bert.model.many_models import NEWEST, ManyModels, Repository

SPEC = ModelSpec("fetched", "Fetched", "someone/bert-fetched", NEWEST, 6, 12, 384, cased=False, size_mb=91)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """The paths that were requested from the hub."""
    repositories = {SPEC.hub_id: Repository(model_folder(CATALOGUE[BUNDLED]))}
    handler = type("Hub", (ManyModels,), {"repositories": repositories, "asked": []})
    with in_its_place(handler, monkeypatch, tmp_path / "hub"):
        yield handler.asked


def test_a_picked_model_comes_from_the_hub_with_progress(asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_tokens_alone_do_not_fetch_the_weights(asked: list[str]) -> None:
    store = ModelStore({"fetched": SPEC})
    assert store.tokenizer("fetched")("hello").tokens() == ["[CLS]", "hello", "[SEP]"]
    assert any(path.endswith("vocab.txt") for path in asked)
    assert not any(path.endswith("model.safetensors") for path in asked)
    assert not models.at_hand(SPEC)
    assert store.begin("fetched").result(timeout=60).model.config.hidden_size == 384
    assert any(path.endswith("model.safetensors") for path in asked)
