"""A Hub that hangs, fails, or sends what is broken: one sentence soon, a way back, and nobody else is held up."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from safetensors.torch import save_file
from torch import ones

from demos.bert.model import fetching
from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.bert.model.fetching import WEIGHTS, what_is_broken
from demos.bert.model.models import ModelStore, at_hand, model_folder
from demos.errors import UserError
from tests.bert.model.local_hub import in_its_place
from tests.bert.model.many_models import ManyModels, Repository
from tests.bert.model.test_hub import SPEC
from tests.systems import needs_sigterm

ROOT = Path(__file__).resolve().parents[3]
STALL = 3.0


class FaultyHub(ManyModels):
    """A hub with a fault that each test sets; `go_on` ends what hangs."""

    fault = ""
    go_on: threading.Event

    def _send(self, status: int, body: bytes = b"", **headers: str) -> None:
        weights = self.path.split("?")[0].endswith(WEIGHTS)
        if self.fault == "silent" or (self.fault == "silent at weights" and weights and self.command == "GET"):
            self.go_on.wait(60)
        if self.fault == "500" and weights:
            self.send_error(500)
            return
        if self.fault == "stalls" and weights and self.command == "GET":
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[: 2**20])
            self.wfile.flush()
            self.go_on.wait(60)
            self.close_connection = True
            return
        if self.fault in ("pickle", "cut short", "changed") and weights:
            changed = {
                "pickle": b"PK\x03\x04" + body[4:], "cut short": body[: len(body) // 2], "changed": body[:-1] + b"\0",
            }  # fmt: skip
            body = changed[self.fault]
        super()._send(status, body, **headers)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[type[FaultyHub]]:
    repositories = {SPEC.hub_id: Repository(model_folder(CATALOGUE[BUNDLED]))}
    parts = {"repositories": repositories, "asked": [], "go_on": threading.Event()}
    handler = type("Hub", (FaultyHub,), parts)
    monkeypatch.setattr(fetching, "STALL_SECONDS", STALL)
    with in_its_place(handler, monkeypatch, tmp_path / "hub") as handler.url:
        yield handler
        handler.go_on.set()


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["silent", "silent at weights", "stalls"])
def test_a_silent_hub_is_a_sentence_soon_and_holds_nobody_up(fault: str, hub: type[FaultyHub]) -> None:
    hub.fault = fault
    store = ModelStore({BUNDLED: CATALOGUE[BUNDLED], "fetched": SPEC, "other": SPEC, "third": SPEC})
    stalled = [store.begin(key) for key in ("fetched", "other", "third")]
    assert store.begin(BUNDLED).result(timeout=90).spec.key == BUNDLED  # while three picks hang
    for loading in stalled:
        with pytest.raises(UserError, match=r"Fetched could not be downloaded, .*; to try again, choose Fetched again"):
            loading.result(timeout=90)
    hub.fault = ""
    hub.go_on.set()
    deadline = time.monotonic() + 120  # for the client to let the first attempt's lock go
    while True:
        try:
            assert store.begin("fetched").result(timeout=60).model.config.hidden_size == 384
            break
        except UserError:
            assert time.monotonic() < deadline


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("500", "could not be downloaded from the Hugging Face Hub just now"),
        ("pickle", "The weights of Fetched are a pickle, which can hold a program"),
        ("cut short", "The weights of Fetched are cut short"),
        ("changed", "could not be downloaded|are not the ones that the Hub announced"),
    ],
)
def test_broken_weights_are_named_thrown_away_and_fetched_again(
    fault: str, said: str, hub: type[FaultyHub], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "STALL_SECONDS", 40.0)  # the client asks again and again where it gets a 500
    hub.fault = fault
    store = ModelStore({"fetched": SPEC})
    with pytest.raises(UserError, match=said):
        store.begin("fetched").result(timeout=90)
    assert not at_hand(SPEC)
    hub.fault = ""
    assert store.begin("fetched").result(timeout=60).model.config.hidden_size == 384


@pytest.mark.slow
def test_weights_that_break_on_the_disk_are_fetched_again(hub: type[FaultyHub]) -> None:
    weights = model_folder(SPEC) / WEIGHTS
    whole = weights.read_bytes()
    weights.resolve().write_bytes(whole[:1_000])
    assert (model_folder(SPEC) / WEIGHTS).read_bytes() == whole


def test_what_is_broken_is_named(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file({"a": ones(9, 9)}, path)
    whole = path.read_bytes()
    assert what_is_broken(path, whole=True) == ""
    short, none = "are cut short", "are no safetensors file"
    for held, said in (
        (whole[:-1], short), (whole[:20], short), (whole[:5], none), (b"", none),
        (b"PK\x03\x04" + whole, "are a pickle"),
        (b"\x80\x02}q\x00." + whole, "are a pickle"), (b"<html>" * 99, none), (b"\2" + bytes(7) + b"[]", none),
        (b"\7" + bytes(7) + b'{"a":1}', none),
    ):  # fmt: skip
        path.write_bytes(held)
        assert what_is_broken(path).startswith(said), held[:9]


@pytest.mark.slow
@needs_sigterm
def test_a_program_ends_while_a_load_hangs(hub: type[FaultyHub], tmp_path: Path) -> None:
    hub.fault = "silent at weights"
    program = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
from tests.bert.model.test_hub import SPEC
from demos.bert.model.models import ModelStore
store = ModelStore({"fetched": SPEC})
store.begin("fetched")
time.sleep(300)
"""
    environment = {**os.environ, "HF_ENDPOINT": hub.url, "HF_HUB_CACHE": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "0"}
    child = subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, env=environment)
    try:
        deadline = time.monotonic() + 120
        while not any(path.endswith(WEIGHTS) for path in hub.asked):
            assert child.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.1)
        child.send_signal(signal.SIGTERM)
        assert child.wait(timeout=60) == 0
    finally:
        child.kill()
