"""Pause, go on, stop: what a run under way does when it is asked."""

import dataclasses
import threading
import time
from pathlib import Path

import pytest

from demos.training.events import Event, Finished, Paused, Resumed, Step, Stopped
from demos.training.learning import stop_and_pause
from demos.training.learning.stop_and_pause import Control
from demos.training.loop import train
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset


@pytest.fixture
def one_look(quick: Settings) -> Settings:
    return dataclasses.replace(quick, evaluations=1)


def steps_of(events: list[Event]) -> list[tuple[int, float]]:
    return [(event.step, event.loss) for event in events if isinstance(event, Step)]


def test_a_pause_changes_no_number_and_its_time_does_not_count(
    dataset: Dataset, base: Path, one_look: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the pause, the clock goes on by an hour."""
    clock, ahead = time.monotonic, 0.0
    monkeypatch.setattr(time, "monotonic", lambda: clock() + ahead)
    monkeypatch.setattr(stop_and_pause, "MOST_PAUSE_SECONDS", 7_200.0)
    plain = list(train(dataset, base, one_look, tmp_path / "a"))
    looks, events, began = iter(()), [], clock()

    def should_wait() -> bool:
        nonlocal ahead
        look = next(looks, "")
        ahead += 3_600.0 if look == "later" else 0.0
        return look != ""

    for event in train(dataset, base, one_look, tmp_path / "b", Control(should_wait=should_wait)):
        events.append(event)
        if isinstance(event, Step) and event.step == 3:
            looks = iter(["asked", "later"])
    told = [event for event in events if isinstance(event, Paused | Resumed)]
    assert told == [Paused(3, stop_and_pause.MOST_PAUSE_SECONDS), Resumed(3, "asked")]
    assert steps_of(events) == steps_of(plain)
    last = events[-1]
    assert isinstance(last, Finished)
    took = clock() - began
    assert last.result.seconds <= took < 3_600
    before, after = [event for event in events if isinstance(event, Step)][2:4]
    assert 8 * (4 / after.examples_per_second - 3 / before.examples_per_second) <= took  # the fourth step's own seconds


def test_a_pause_ends_by_itself_and_there_is_no_second_one(
    dataset: Dataset, base: Path, one_look: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stop_and_pause, "MOST_PAUSE_SECONDS", 0.1)
    events = list(train(dataset, base, one_look, tmp_path / "run", Control(should_wait=lambda: True)))
    assert [event for event in events if isinstance(event, Paused | Resumed)] == [Paused(0, 0.1), Resumed(0, "time")]
    assert isinstance(events[-1], Finished)


def test_stop_works_in_a_pause(dataset: Dataset, base: Path, one_look: Settings, tmp_path: Path) -> None:
    stop, seen = threading.Event(), []
    control = Control(stop.is_set, lambda: len(seen) >= 2)
    events = []
    for event in train(dataset, base, one_look, tmp_path / "run", control):
        events.append(event)
        if isinstance(event, Step):
            seen.append(event.step)
        if isinstance(event, Paused):
            threading.Timer(0.1, stop.set).start()
    assert isinstance(events[-1], Stopped)
    assert events[-1].reason == "asked"
    assert events[-1].result.steps == 2
    assert not any(isinstance(event, Resumed) for event in events)
