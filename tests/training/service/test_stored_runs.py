"""Runs on disk: found by another service by the same key and by no other; bounded."""

import errno
import logging
import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demos.errors import UserError
from demos.training.events import Finished
from demos.training.results.answers import read_answers
from demos.training.results.history import Record
from demos.training.service import readers as readers_module
from demos.training.service import stored_runs as module
from demos.training.service.readers import Readers
from demos.training.service.runs import Runs
from demos.training.service.stored_runs import StoredRuns, stored_runs
from demos.training.service.training_service import TrainingService
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset
from tests.systems import needs_users

ANN, BOB = "anns-key-that-nobody-guesses", "bobs-key-that-nobody-guesses"
TEXTS = ["a good bank", "bad paper of the north"]


def a_model(runs: Runs, run: str, size: int = 100) -> None:
    """What stands for a run's model here."""
    folder = runs.folder(run)
    folder.mkdir()
    (folder / "weights").write_bytes(b"x" * size)
    runs.keep(run, "tiny")


def finish(readers: Readers, reader: str, record: Record, size: int = 100) -> None:
    a_model(readers.runs, record.run, size)
    readers.add(reader, record)


def ids(readers: Readers, reader: str) -> list[str]:
    return [record.run for record in readers.history(reader)]


def test_another_service_finds_a_run_by_its_readers_key_alone(
    tmp_path: Path, dataset: Dataset, base: Path, quick: Settings, record: Record
) -> None:
    first, second = (TrainingService(StoredRuns(tmp_path)) for _ in range(2))
    run = first.runs.new()
    *_, last = first.fine_tune(run, dataset, "tiny", base, quick)
    assert isinstance(last, Finished)
    answered, kept = first.runs.predict(run, TEXTS), read_answers(first.runs.folder(run))
    mine = replace(record, run=run)
    first.readers.add(ANN, mine)
    assert list(first.runs._home.path.iterdir()) == []  # not kept twice
    assert first.runs.predict(run, TEXTS) == answered
    for service in (first, second):
        assert service.readers.history(ANN) == [mine]
        assert service.readers.history(f"{ANN}/a-tab-of-this-reader") == [mine]
        for stranger in (BOB, "", ANN[:-1], f"../{ANN}", f"{ANN}\ud800", run):
            assert service.readers.history(stranger) == []
        assert service.runs.predict(run, TEXTS) == answered
        assert service.runs.base(run) == "tiny"
        assert service.runs.has(run)
        assert read_answers(service.runs.folder(run)) == kept
        for stranger in (None, "", ANN, f"{run}/../{run}", "../models"):
            assert not service.runs.has(stranger)
            with pytest.raises(UserError, match="no longer kept"):
                service.runs.predict(stranger, TEXTS)
    names = "".join(str(path) for path in tmp_path.rglob("*"))
    assert ANN not in names
    assert run not in names
    assert {path.suffix for path in tmp_path.rglob("*") if path.is_file()} <= {".json", ".safetensors", ".lock"}
    second.runs.discard(run)
    assert not first.runs.has(run)
    with pytest.raises(UserError, match="no longer kept"):
        first.runs.predict(run, TEXTS)  # though it is in that process's memory
    assert second.readers.history(ANN) == [mine]


def test_a_readers_bounds_hold_over_all_processes(
    tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readers_module, "MAX_HISTORY", 3)
    monkeypatch.setattr(readers_module, "MAX_MODELS", 2)
    first, second = (Readers(Runs(stored=StoredRuns(tmp_path))) for _ in range(2))
    for number in range(5):
        finish((first, second)[number % 2], ANN, replace(record, run=f"run-{number}", number=number))
    for readers in (first, second):
        assert ids(readers, ANN) == ["run-2", "run-3", "run-4"]
        assert [readers.runs.has(f"run-{number}") for number in range(5)] == [False, False, False, True, True]
    monkeypatch.setattr(readers_module, "MAX_MODEL_BYTES", 150)
    finish(first, ANN, replace(record, run="run-5", number=5))
    assert [second.runs.has(f"run-{number}") for number in range(3, 6)] == [False, False, True]
    assert len(list(tmp_path.glob("models/*"))) == 1
    assert len(list(tmp_path.glob("histories/*/*"))) == 3


def test_what_was_asked_for_longest_ago_goes_first(tmp_path: Path, record: Record) -> None:
    stored = StoredRuns(tmp_path, max_bytes=60_000)
    readers = Readers(Runs(stored=stored))
    for number, name in enumerate(("first", "second", "third")):
        finish(readers, f"{name}-{ANN}", replace(record, run=name), size=10_000)
        back(tmp_path, 1_000 - number)  # it, and what was there, becomes older
    assert readers.runs.has("first")  # asked for: now it is the newest
    finish(readers, BOB, replace(record, run="large"), size=30_000)
    kept = {name for name in ("first", "second", "third", "large") if readers.runs.has(name)}
    assert {"first", "large"} <= kept
    assert "second" not in kept
    assert sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file()) <= 60_000


def back(folder: Path, seconds: float) -> None:
    """Everything there becomes so much older."""
    for path in folder.glob("*/*"):
        os.utime(path, times=(path.stat().st_mtime - seconds,) * 2)


def test_a_clock_that_is_set_back_loses_no_new_run(tmp_path: Path, record: Record) -> None:
    readers = Readers(Runs(stored=StoredRuns(tmp_path, max_bytes=60_000)))
    for name in ("first", "second", "third"):
        finish(readers, f"{name}-{ANN}", replace(record, run=name), size=10_000)
    back(tmp_path, -86_400)  # as they look to a clock that was set back a day
    finish(readers, BOB, replace(record, run="new"), size=35_000)
    assert readers.runs.has("new")
    assert ids(readers, BOB) == ["new"]
    assert not all(readers.runs.has(name) for name in ("first", "second", "third"))
    back(tmp_path, 7.1 * 86_400)
    readers = Readers(Runs(stored=StoredRuns(tmp_path)))
    assert not any(readers.runs.has(name) for name in ("first", "second", "third"))


def test_a_run_after_the_clock_was_set_back_is_the_readers_newest(tmp_path: Path, record: Record) -> None:
    readers = Readers(Runs(stored=StoredRuns(tmp_path)))
    finish(readers, ANN, replace(record, run="before", number=1, time="2031-01-02T10:00:00+00:00"))
    finish(readers, ANN, replace(record, run="after", number=2, time="2031-01-01T10:00:00+00:00"))
    assert ids(readers, ANN) == ["before", "after"]


def test_what_nobody_asked_for_in_a_week_goes(tmp_path: Path, record: Record) -> None:
    readers = Readers(Runs(stored=StoredRuns(tmp_path)))
    for reader in (ANN, BOB):
        finish(readers, reader, replace(record, run=f"of-{reader}"))
    back(tmp_path, 6.9 * 86_400)
    assert ids(Readers(Runs(stored=StoredRuns(tmp_path))), ANN) == [f"of-{ANN}"]
    back(tmp_path, 0.2 * 86_400)
    later = Readers(Runs(stored=StoredRuns(tmp_path)))
    assert ids(later, ANN) == [f"of-{ANN}"]  # she asked yesterday
    assert not later.runs.has(f"of-{ANN}")  # but not for its model
    assert ids(later, BOB) == []


def full(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("broken", ["os.link", "pathlib.Path.write_text", "pathlib.Path.rename"])
def test_a_full_disk_leaves_a_run_in_memory(
    broken: str, tmp_path: Path, record: Record, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    readers = Readers(Runs(stored=StoredRuns(tmp_path)))
    a_model(readers.runs, record.run)
    with monkeypatch.context() as patch:
        patch.setattr(broken, full)
        patch.setattr(shutil, "copyfile", full)
        readers.add(ANN, record)
    assert readers.history(ANN) == [record]
    assert readers.runs.has(record.run)
    assert (readers.runs.folder(record.run) / "weights").read_bytes() == b"x" * 100
    assert 1 <= len(caplog.records) <= 2
    assert all("No space left" in line.getMessage() and "\n" not in line.getMessage() for line in caplog.records)
    assert list(readers.runs.stored._unfinished.path.iterdir()) == []  # type: ignore[union-attr]
    assert list(tmp_path.glob("models/*")) == []
    finish(readers, ANN, replace(record, run="next", number=9))  # there is room again
    assert ids(readers, ANN) == [record.run, "next"]


def test_without_a_folder_runs_last_as_long_as_the_process(
    tmp_path: Path, record: Record, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert stored_runs(tmp_path / "file" / "runs") is None
    assert len(caplog.records) == 1
    readers = TrainingService(stored_runs(tmp_path / "file")).readers
    finish(readers, ANN, record)
    assert readers.history(ANN) == [record]
    assert readers.runs.has(record.run)


def test_the_folder_goes_while_it_is_in_use(tmp_path: Path, record: Record) -> None:
    readers = Readers(Runs(stored=StoredRuns(tmp_path / "runs")))
    finish(readers, ANN, record)
    shutil.rmtree(tmp_path / "runs")
    assert readers.history(ANN) == []
    assert not readers.runs.has(record.run)
    finish(readers, ANN, replace(record, run="next"))
    assert ids(readers, ANN) == ["next"]
    assert readers.runs.has("next")


@pytest.mark.parametrize("text", ["", "{", "[1]", "null", '{"run": "x"}', "\ud800", "settings"])
def test_a_broken_or_foreign_record_is_passed_over(
    text: str, tmp_path: Path, record: Record, caplog: pytest.LogCaptureFixture
) -> None:
    readers = Readers(Runs(stored=StoredRuns(tmp_path)))
    finish(readers, ANN, record)
    finish(readers, ANN, replace(record, run="second", number=2))
    file = readers.runs.stored._record(ANN, "second")  # type: ignore[union-attr]
    if text == "settings":  # of a version to come
        text = file.read_text(encoding="utf-8").replace('"epochs"', '"epochs_of_tomorrow"')
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    caplog.clear()
    assert readers.history(ANN) == [record]
    assert len(caplog.records) == 1
    (file.parent / "foreign.json").mkdir()
    (file.parent / "notes.txt").write_text("somebody's", encoding="utf-8")
    assert readers.history(ANN) == [record]


def test_what_others_keep_in_the_folder_stays(tmp_path: Path, record: Record) -> None:
    theirs = [tmp_path / "notes.txt", tmp_path / "models" / "bert" / "weights", tmp_path / "histories" / "of-rome.json"]
    for path in theirs:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("theirs", encoding="utf-8")
        os.utime(path, times=(0, 0))
    readers = Readers(Runs(stored=StoredRuns(tmp_path, max_bytes=0)))
    finish(readers, ANN, record)
    assert readers.history(ANN) == []  # for there is room for nothing
    assert [path.read_text(encoding="utf-8") for path in theirs] == ["theirs"] * 3


@pytest.mark.parametrize("file", ["model.safetensors", "head.safetensors", "run.json", "config.json"])
def test_a_truncated_model_is_told_as_gone(
    file: str,
    tmp_path: Path,
    dataset: Dataset,
    base: Path,
    quick: Settings,
    record: Record,
    caplog: pytest.LogCaptureFixture,
) -> None:
    first, second = (TrainingService(StoredRuns(tmp_path)) for _ in range(2))
    run = first.runs.new()
    for _ in first.fine_tune(run, dataset, "tiny", base, replace(quick, epochs=1)):
        pass
    first.readers.add(ANN, replace(record, run=run))
    os.truncate(first.runs.folder(run) / file, 20)
    caplog.clear()
    with pytest.raises(UserError, match="no longer kept"):
        second.runs.predict(run, TEXTS)
    assert [line.name for line in caplog.records if line.levelno >= logging.WARNING] == ["demos.training.service.runs"]
    assert not first.runs.has(run)
    assert [one.run for one in second.readers.history(ANN)] == [run]


@needs_users
def test_a_name_that_another_user_has_taken_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path))
    assert stored_runs() is not None
    (folder,) = tmp_path.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert stored_runs() is None
    user = os.getuid() + 1
    monkeypatch.setattr(os, "getuid", lambda: user)
    assert stored_runs() is None  # what is there by now is not this user's


def test_many_threads_add_to_one_history(tmp_path: Path, record: Record) -> None:
    readers = Readers(Runs(stored=StoredRuns(tmp_path)))
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(finish, readers, ANN, replace(record, run=f"run-{n}", number=n)) for n in range(20)]
        for one in done:
            one.result(timeout=60)
    assert set(ids(readers, ANN)) == {f"run-{number}" for number in range(20)}
    assert [readers.runs.has(f"run-{number}") for number in range(20)].count(True) <= readers_module.MAX_MODELS + 4
