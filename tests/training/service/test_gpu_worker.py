"""The training through a forked, daemonic worker that pickles what goes in and comes out, as ZeroGPU's does."""

import multiprocessing
import os
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from demos.training.events import Event, Finished, Started, Step, Stopped
from demos.training.learning.model import Trained
from demos.training.service.gpu_worker import train_in_worker
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset
from tests.systems import needs_fork

FORK: Any = multiprocessing.get_context("fork") if hasattr(os, "fork") else None
pytestmark = needs_fork


def zero_gpu(task: Any, *args: Any) -> Iterator[Any]:
    """Run the generator function as spaces.zero.wrappers does: a forked daemon, a thread in it, pickles both ways."""
    arguments, results = FORK.Queue(), FORK.Queue()

    def work() -> None:
        def iterate() -> None:
            try:
                for result in task(*pickle.loads(arguments.get())):
                    results.put(pickle.dumps(result))
            finally:  # one that fails ends early, and is not waited for
                results.put(None)

        thread = threading.Thread(target=iterate)
        thread.start()
        thread.join()

    process = FORK.Process(target=work, daemon=True)
    process.start()
    arguments.put(pickle.dumps(args))
    try:
        while (result := results.get(timeout=200)) is not None:
            yield pickle.loads(result)
    finally:
        process.terminate()
        process.join()


def test_a_training_through_the_worker_is_the_training_here(
    dataset: Dataset, base: Path, quick: Settings, tmp_path: Path
) -> None:
    here = list(train_in_worker(dataset, str(base), quick, str(tmp_path / "here"), str(tmp_path / "stop")))
    there: list[Event] = list(
        zero_gpu(train_in_worker, dataset, str(base), quick, str(tmp_path / "there"), str(tmp_path / "stop"))
    )
    assert isinstance(there[0], Started)
    assert isinstance(there[-1], Finished)
    assert [e.loss for e in here if isinstance(e, Step)] == [e.loss for e in there if isinstance(e, Step)]
    texts = ["a good river", "the bad bank"]
    assert Trained.read(there[-1].result.folder).predict(texts) == Trained.read(tmp_path / "here").predict(texts)


def test_stop_and_keep_works_across_the_fork(dataset: Dataset, base: Path, quick: Settings, tmp_path: Path) -> None:
    stop, long = tmp_path / "stop", Settings(epochs=20, batch_size=1, max_length=24, evaluations=1, threads=1)
    last = None
    for event in zero_gpu(train_in_worker, dataset, str(base), long, str(tmp_path / "run"), str(stop)):
        if isinstance(event, Step) and event.step == 3:
            stop.touch()
        last = event
    assert isinstance(last, Stopped)
    assert last.reason == "asked"
    assert 3 <= last.result.steps < 20 * len(dataset.train)
    kept = Trained.read(last.result.folder).predict([example.text for example in dataset.test])
    hits = [row.index(max(row)) == example.label for row, example in zip(kept, dataset.test, strict=True)]
    assert last.result.accuracy == pytest.approx(sum(hits) / len(hits))  # what was learned crossed the fork
