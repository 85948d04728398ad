"""What each reader has trained: their own alone, within bounds, and no model of who is forgotten."""

from types import SimpleNamespace
from typing import Any

import pytest

from demos.training.service import readers as module
from demos.training.service.readers import Readers, checked_key, reader_of
from demos.training.service.runs import Runs


@pytest.fixture
def runs() -> Runs:
    return Runs()


def trained(runs: Runs, run: str) -> None:
    """A run whose model is kept."""
    folder = runs.folder(run)
    folder.mkdir()
    (folder / "model").write_bytes(b"weights")
    runs.keep(run, "tiny")


def add(readers: Readers, reader: str, run: str) -> None:
    trained(readers.runs, run)
    record: Any = SimpleNamespace(run=run)
    readers.add(reader, record)


def test_each_has_their_own_newest_last(runs: Runs) -> None:
    readers = Readers(runs)
    add(readers, "ann", "first")
    add(readers, "bob", "other")
    add(readers, "ann", "second")
    assert [record.run for record in readers.history("ann")] == ["first", "second"]
    assert [record.run for record in readers.history("bob")] == ["other"]
    assert readers.history("nobody") == readers.history("") == []
    readers.history("ann").clear()  # a copy: what a page does with it is its own
    assert len(readers.history("ann")) == 2


def test_models_and_runs_beyond_the_bounds_go(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_HISTORY", 3)
    monkeypatch.setattr(module, "MAX_MODELS", 2)
    readers = Readers(runs, most=2)
    for number in range(5):
        add(readers, "ann", f"run-{number}")
    assert [record.run for record in readers.history("ann")] == ["run-2", "run-3", "run-4"]
    assert [runs.has(f"run-{number}") for number in range(5)] == [False, False, False, True, True]
    add(readers, "bob", "his")
    add(readers, "cleo", "hers")
    assert readers.history("ann") == []  # she trained longest ago
    assert not runs.has("run-4")
    assert not runs.folder("run-4").exists()
    assert runs.has("his")


def test_a_key_is_checked_and_a_new_one_cannot_be_guessed() -> None:
    for said in ("a-key-of-16-signs", "a-key-of-16-signs/and-its-tabs-key"):
        assert checked_key(said) == said
        assert reader_of(said) == "a-key-of-16-signs"
    for said in ("", "short", "../../etc/passwd-and-more", "x" * 65, None, "kéy-of-16-letters", "a-key-of-16-signs/"):
        key = checked_key(said)  # type: ignore[arg-type]
        assert key != said
        assert len(key) == 24
    assert checked_key("") != checked_key("")
