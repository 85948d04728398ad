"""A training's own thread: its CPU threads stay its own, and it ends when nobody listens."""

import threading
from collections.abc import Iterator

import pytest
import torch

from demos.training.events import Event, Scoring
from demos.training.service.training_thread import in_own_thread


def test_cpu_threads_are_set_for_that_thread_alone() -> None:
    before = torch.get_num_threads()
    seen: list[int] = []

    def make() -> Iterator[Event]:
        seen.append(torch.get_num_threads())
        yield Scoring("test", 1, 1)

    assert list(in_own_thread(make, before + 2)) == [Scoring("test", 1, 1)]
    assert seen == [before + 2]
    assert torch.get_num_threads() == before
    fresh = threading.Thread(target=lambda: seen.append(torch.get_num_threads()))
    fresh.start()
    fresh.join()
    assert seen[1] == before


def test_closing_ends_the_thread_and_runs_its_finally() -> None:
    ended = threading.Event()

    def make() -> Iterator[Event]:
        try:
            done = 0
            while True:
                done += 1
                yield Scoring("test", done, 0)
        finally:
            ended.set()

    events = in_own_thread(make, 1)
    assert next(events) == Scoring("test", 1, 0)
    events.close()  # type: ignore[attr-defined]
    assert ended.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name == "training"]


def test_an_exception_is_raised_here() -> None:
    def make() -> Iterator[Event]:
        yield Scoring("test", 1, 1)
        raise ZeroDivisionError("there")

    events = in_own_thread(make, 1)
    next(events)
    with pytest.raises(ZeroDivisionError, match="there"):
        next(events)
