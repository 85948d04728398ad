"""Runs by their ids: which models are kept, within their bounds; each is read once, and outside of the lock."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from demos.errors import UserError
from demos.training.learning.learner import Learner
from demos.training.learning.model import Trained
from demos.training.loop import train
from demos.training.service.runs import Runs
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset

MAPS = Path("/proc/self/maps")


def test_a_readers_earlier_runs_make_room_before_another_readers_only_one() -> None:
    runs = Runs(max_runs=4, max_bytes=10**6)
    theirs, *mine = (runs.new() for _ in range(6))
    for name in (theirs, *mine[:3]):
        runs.folder(name).mkdir()
        (runs.folder(name) / "weights").write_bytes(b"x" * 500)
        runs.keep(name, "tiny")
        if name != theirs:
            runs.keep_last(mine, 3, 10**6)
    runs.keep(mine[3], "tiny")  # one more than there is room for: the oldest of who has several goes
    assert [runs.has(name) for name in (theirs, *mine[:4])] == [True, False, True, True, True]
    runs.keep_last(mine, 3, 600)
    assert [runs.has(name) for name in (theirs, *mine[:4])] == [True, False, False, True, True]
    runs.keep_last(mine, 1, 0)  # the newest stays, whatever its size
    assert [runs.has(name) for name in (theirs, *mine[:4])] == [True, False, False, False, True]
    assert not runs.folder(mine[2]).exists()
    runs.keep_last(["../x", "unknown"], 1, 1)  # no harm
    assert runs.has(theirs)


def test_runs_are_bounded_in_number_and_bytes() -> None:
    runs = Runs(max_runs=3, max_bytes=2_500)
    names = [runs.new() for _ in range(5)]
    assert len(set(names)) == 5
    for name in names[:4]:
        runs.folder(name).mkdir()
        (runs.folder(name) / "weights").write_bytes(b"x" * 500)
        runs.keep(name, "tiny")
    assert [runs.has(name) for name in names[:4]] == [False, True, True, True]
    assert not runs.folder(names[0]).exists()
    runs.folder(names[4]).mkdir()
    (runs.folder(names[4]) / "weights").write_bytes(b"x" * 3_000)
    runs.keep(names[4], "tiny")  # larger than all may be together: the newest stays, alone
    assert [runs.has(name) for name in names] == [False, False, False, False, True]
    home = runs._home.path
    del runs
    for _ in range(6_000):
        if not home.exists():
            break
        time.sleep(0.01)
    assert not home.exists()


def test_a_kept_model_is_read_once_and_nobody_else_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs()
    ready, slow = runs.new(), runs.new()
    for run in (ready, slow):
        runs.keep(run, "tiny")
    began, go_on = threading.Event(), threading.Event()
    read: list[str] = []

    def reading(folder: Path) -> object:
        read.append(folder.name)
        if folder.name == slow:
            began.set()
            assert go_on.wait(timeout=30)
        return SimpleNamespace(nbytes=8)

    monkeypatch.setattr(Trained, "read", reading)
    there = runs.trained(ready)
    with ThreadPoolExecutor() as pool:
        try:
            asked = [pool.submit(runs.trained, slow) for _ in range(3)]
            assert began.wait(timeout=30)
            assert pool.submit(runs.trained, ready).result(timeout=30) is there
            assert pool.submit(runs.base, slow).result(timeout=30) == "tiny"
            assert pool.submit(runs.keep, "another", "tiny").result(timeout=30) is None
            assert pool.submit(runs.discard, "another").result(timeout=30) is None
            assert not any(one.done() for one in asked)
        finally:
            go_on.set()
        first, *others = [one.result(timeout=30) for one in asked]
    assert all(other is first for other in others)
    assert read == [ready, slow]


@pytest.mark.parametrize("too_late", [True, False])
def test_a_run_discarded_while_it_is_read_is_gone(monkeypatch: pytest.MonkeyPatch, too_late: bool) -> None:
    runs = Runs()
    run = runs.new()
    runs.folder(run).mkdir()
    runs.keep(run, "tiny")

    def reading(folder: Path) -> object:
        discarding = threading.Thread(target=runs.discard, args=(run,), daemon=True)
        discarding.start()
        discarding.join(timeout=10)
        assert not discarding.is_alive(), "discarding waits for the reading"
        if not too_late:
            raise ValueError("half of the files are gone")
        return SimpleNamespace(nbytes=8)

    monkeypatch.setattr(Trained, "read", reading)
    with pytest.raises(UserError, match="no longer kept"):
        runs.trained(run)
    assert not runs.folder(run).exists()
    assert run not in runs._trained


@pytest.mark.parametrize("run", ["../other", "a/b", "C:run", "", "CON", "nul", "x" * 65])
def test_no_run_has_a_name_that_is_no_files(run: str) -> None:
    with pytest.raises(UserError, match="no longer kept"):
        Runs().folder(run)


@pytest.mark.skipif(not MAPS.is_file(), reason="only Linux tells which files are mapped into memory")
def test_a_model_in_use_holds_none_of_its_files(dataset: Dataset, base: Path, quick: Settings, tmp_path: Path) -> None:
    """Windows deletes no file that is mapped into memory."""
    list(train(dataset, base, replace(quick, max_steps=1), tmp_path / "run"))
    trained = Trained.read(tmp_path / "run")
    again = Learner(trained.task, tmp_path / "run", quick)
    assert str(tmp_path) not in MAPS.read_text(encoding="utf-8")
    assert again.earlier is not None
