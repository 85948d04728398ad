"""Runs on disk with several processes: written at once, and by a process that is killed in the middle."""

import itertools
import multiprocessing
import os
import pkgutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demos.training.results.history import Record
from demos.training.service.stored_runs import StoredRuns
from tests.systems import needs_fork

pytestmark = needs_fork

ANN = "anns-key-that-nobody-guesses"


def write(folder: Path, name: str, count: int, sample: Record) -> None:
    stored = StoredRuns(folder / "runs")
    for number in range(count):
        run = f"{name}-{number}"
        stored.keep(run, "tiny", folder / "model")
        stored.add(ANN, replace(sample, run=run, number=number))


def a_folder(parent: Path) -> None:
    """What stands for a model, in three files."""
    (parent / "model").mkdir()
    for name in ("weights", "head", "words"):
        (parent / "model" / name).write_bytes(b"x" * 2**10)


def writer(folder: Path, name: str, count: int, sample: Record) -> Any:
    """Another process that stores so many runs."""
    process = multiprocessing.get_context("fork").Process(target=write, args=(folder, name, count, sample))
    process.start()
    return process


def test_two_processes_write_at_once(tmp_path: Path, record: Record) -> None:
    a_folder(tmp_path)
    both = [writer(tmp_path, name, 12, record) for name in ("one", "other")]
    for process in both:
        process.join(60)
        assert process.exitcode == 0
    stored = StoredRuns(tmp_path / "runs")
    expected = {f"{name}-{number}" for name in ("one", "other") for number in range(12)}
    assert {record.run for record in stored.history(ANN)} == expected
    assert all(stored.base(run) == "tiny" and stored.size(run) > 3 * 2**10 for run in expected)


def killed_at(step: str, times: int, folder: Path, sample: Record) -> None:
    """Store runs, and be killed at the first, second or third call of this function."""
    name, function = step.rsplit(".", 1)
    home = pkgutil.resolve_name(name)
    original, calls = getattr(home, function), itertools.count(1)

    def counted(*inputs: Any, **more: Any) -> Any:
        if next(calls) == times:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*inputs, **more)

    setattr(home, function, counted)
    write(folder, "one", 3, sample)


@pytest.mark.parametrize("step", ["os.link", "pathlib.Path.write_text", "pathlib.Path.rename", "pathlib.Path.replace"])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_kill_leaves_nothing_half(step: str, times: int, tmp_path: Path, record: Record) -> None:
    a_folder(tmp_path)
    arguments = (step, times, tmp_path, record)
    process = multiprocessing.get_context("fork").Process(target=killed_at, args=arguments)
    process.start()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL
    runs = tmp_path / "runs"
    (left,) = runs.glob("unfinished-*.lock")
    stored = StoredRuns(runs)
    own = stored._unfinished.path
    assert left.name != f"{own.name}.lock"
    assert {path.name for path in runs.glob("unfinished-*")} == {own.name, f"{own.name}.lock"}
    assert list(own.iterdir()) == []
    records = stored.history(ANN)
    whole = {f"one-{number}" for number in range(3) if stored.base(f"one-{number}") == "tiny"}
    assert {record.run for record in records} <= whole
    assert len(list(runs.glob("histories/*/*"))) == len(records)
    assert len(list(runs.glob("models/*"))) == len(whole)
    assert len(whole) - len(records) in (0, 1)  # a model comes before its record, by which alone it is found
    assert all(stored.size(run) > 3 * 2**10 for run in whole)
