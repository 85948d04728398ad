"""The trainings: one training at a time, a place in line, nothing left behind, nobody else's model."""

import dataclasses
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.compute_cost import cost_of
from demos.training.events import Event, Failed, Finished, Paused, Resumed, Started, Step, Stopped, Waiting
from demos.training.learning import stop_and_pause
from demos.training.learning.stop_and_pause import Control
from demos.training.loop import train
from demos.training.service import training_service as module
from demos.training.service.training_queue import USUAL_SECONDS
from demos.training.service.training_service import TrainingService, _like
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset


@pytest.fixture
def trainings(monkeypatch: pytest.MonkeyPatch) -> TrainingService:
    monkeypatch.setattr(module, "LOOK_SECONDS", 0.01)
    return TrainingService()


def left_behind(trainings: TrainingService) -> list[Path]:
    return list(trainings.runs._home.path.iterdir())


def test_a_run_is_kept_and_asked_by_its_id_alone(
    trainings: TrainingService, dataset: Dataset, base: Path, quick: Settings
) -> None:
    run = trainings.runs.new()
    assert trainings.speed("tiny", dataset, quick) == 0
    known: list[float] = []
    trainings.on_speed = lambda: known.append(trainings.speed("tiny", dataset, quick))
    *_, last = trainings.fine_tune(run, dataset, "tiny", base, quick)
    assert isinstance(last, Finished)
    assert trainings.speed("tiny", dataset, quick) == last.result.examples_per_second > 0
    assert known == [last.result.examples_per_second]
    again = dataclasses.replace(quick, epochs=9, learning_rate=1e-5, top_layers=5)  # steps as quick as those
    assert trainings.speed("tiny", dataset, again) == last.result.examples_per_second
    for other in (dataclasses.replace(quick, trains="head"), dataclasses.replace(quick, batch_size=4)):
        assert trainings.speed("tiny", dataset, other) == 0
    (answer,) = trainings.runs.predict(run, ["a good bank \ud800"])
    assert set(answer) == {"bad", "good"}
    assert sum(answer.values()) == pytest.approx(1)
    for stranger in (None, "", "guess", f"{run}/../{run}"):
        with pytest.raises(UserError, match="no longer kept"):
            trainings.runs.predict(stranger, ["x"])
    trainings.runs.discard(run)
    assert left_behind(trainings) == []
    assert len(trainings.queue) == 0


def test_at_the_end_all_are_stopped_and_kept(
    trainings: TrainingService, dataset: Dataset, base: Path, quick: Settings
) -> None:
    long, first, second = dataclasses.replace(quick, epochs=20), trainings.runs.new(), trainings.runs.new()
    events = trainings.fine_tune(first, dataset, "tiny", base, long)
    assert any(isinstance(event, Step) for event in events)
    with ThreadPoolExecutor(2) as pool:
        rest = pool.submit(list, events)
        waiting = pool.submit(list, trainings.fine_tune(second, dataset, "tiny", base, long))
        while len(trainings.queue) < 2:
            time.sleep(0.01)
        began = time.monotonic()
        trainings.stop_all(60)
        assert time.monotonic() - began < 50
        assert isinstance(rest.result(timeout=60)[-1], Stopped)
        assert isinstance(waiting.result(timeout=60)[-1], Failed)
    assert trainings.runs.has(first)
    assert left_behind(trainings) == [trainings.runs.folder(first)]
    stuck = trainings.fine_tune(second, dataset, "tiny", base, long)
    next(stuck)  # and nobody listens
    began = time.monotonic()
    trainings.stop_all(0.2)  # returns, though the training never ends
    assert time.monotonic() - began >= 0.2
    stuck.close()  # type: ignore[attr-defined]


def test_the_second_waits_for_the_first(
    trainings: TrainingService, dataset: Dataset, base: Path, quick: Settings
) -> None:
    first = trainings.fine_tune(trainings.runs.new(), dataset, "tiny", base, quick)
    assert isinstance(next(first), Started)
    second = trainings.fine_tune(trainings.runs.new(), dataset, "tiny", base, quick)
    third_run = trainings.runs.new()
    third = trainings.fine_tune(third_run, dataset, "tiny", base, quick)
    assert next(second) == Waiting(1, pytest.approx(USUAL_SECONDS, abs=30))
    assert next(third) == Waiting(2, pytest.approx(2 * USUAL_SECONDS, abs=30))
    trainings.runs.stop(third_run)  # stop while in line
    assert isinstance(list(third)[-1], Failed)
    first.close()  # type: ignore[attr-defined]  # its tab is closed
    events = list(second)
    assert isinstance(events[-1], Finished)
    assert len(trainings.queue) == 0


def test_a_closed_tab_stops_its_training_and_leaves_nothing(
    trainings: TrainingService, dataset: Dataset, base: Path, quick: Settings
) -> None:
    events = trainings.fine_tune(trainings.runs.new(), dataset, "tiny", base, dataclasses.replace(quick, epochs=20))
    for event in events:
        if isinstance(event, Step):
            break
    events.close()  # type: ignore[attr-defined]
    assert not [thread for thread in threading.enumerate() if thread.name == "training"]
    assert len(trainings.queue) == 0
    assert left_behind(trainings) == []


def test_stop_stops_within_a_step_and_keeps(
    trainings: TrainingService, dataset: Dataset, base: Path, quick: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, seen = trainings.runs.new(), 0

    def slowly(*args: object) -> Iterator[Event]:  # one step at a time, as a page that keeps up would see it
        dataset_, base_, settings, folder, stop_file, *_ = args
        return train(dataset_, base_, settings, folder, Control(stop_file.exists))  # type: ignore[attr-defined, arg-type]

    monkeypatch.setattr(module, "run_training", slowly)
    for event in trainings.fine_tune(run, dataset, "tiny", base, quick):
        if isinstance(event, Step):
            seen = event.step
            if seen == 4:
                trainings.runs.stop(run)
    assert isinstance(event, Stopped)
    assert seen == event.result.steps == 4
    assert trainings.runs.has(run)
    assert not trainings.runs.stop_file(run).exists()


def test_a_paused_run_goes_on_when_asked_and_is_left_at_once(
    trainings: TrainingService, dataset: Dataset, base: Path, quick: Settings
) -> None:
    long = dataclasses.replace(quick, epochs=20, evaluations=1)
    run, told = trainings.runs.new(), []
    events = trainings.fine_tune(run, dataset, "tiny", base, long)
    for event in events:
        if isinstance(event, Step) and not told:
            trainings.runs.pause(run)
        if isinstance(event, Paused | Resumed):
            told.append(type(event))
            if told == [Paused]:
                trainings.runs.go_on(run)
            elif told == [Paused, Resumed]:
                trainings.runs.pause(run)
            else:
                break
    assert told == [Paused, Resumed, Paused]
    began = time.monotonic()
    events.close()  # type: ignore[attr-defined]  # its tab is closed while it waits
    assert time.monotonic() - began < stop_and_pause.MOST_PAUSE_SECONDS / 2
    assert len(trainings.queue) == 0
    assert left_behind(trainings) == []


def test_what_a_training_will_take_is_estimated_then_measured(
    trainings: TrainingService, dataset: Dataset, base: Path, quick: Settings, tiny: LoadedModel
) -> None:
    cost = cost_of(dataset, tiny.tokenizer, tiny.model, quick)
    guess = trainings.expected("tiny", dataset, quick, cost)
    assert not guess.measured
    assert guess.seconds > 0
    trainings._speed.put(_like("tiny", dataset, quick), 50.0)
    told = trainings.expected("tiny", dataset, quick, cost)
    assert told.measured
    assert cost.examples / 50 < told.seconds < 2 * cost.examples / 50  # the steps, then the looks and the test


@pytest.mark.parametrize(("measured", "slower"), [(70.0, False), (150.0, True), (20.0, False)])
def test_the_time_left_is_the_time_expected_until_the_steps_tell_better(
    trainings: TrainingService, dataset: Dataset, base: Path, quick: Settings, monkeypatch: pytest.MonkeyPatch,
    measured: float, slower: bool,
) -> None:  # fmt: skip
    """`measured` is what the loop's own clock would say at the first step, of 100; 70 s were expected."""

    def steps(*_: object) -> Iterator[Event]:
        for step in range(1, 101):
            yield Step(step, 100, step / 50, 1.0, 0.5, 1e-4, 1.0, 9.0, measured * (100 - step) / 99)
        yield Failed("enough")

    monkeypatch.setattr(module, "run_training", steps)
    events = list(trainings.fine_tune(trainings.runs.new(), dataset, "tiny", base, quick, expected=70.0))
    told = [event for event in events if isinstance(event, Step)]
    assert told[0].seconds_left == pytest.approx(70, rel=0.1)  # what stands beside Start
    assert told[-1].seconds_left == 0
    assert told[50].seconds_left == pytest.approx(measured * 49 / 99)  # by now this run's own speed alone
    assert not told[0].slower
    assert told[7].seconds_left == pytest.approx(70 * 0.92, rel=0.1)  # the first steps are the slowest
    assert told[50].slower == slower
    alone = next(trainings.fine_tune(trainings.runs.new(), dataset, "tiny", base, quick))
    assert isinstance(alone, Step)
    assert (alone.seconds_left, alone.slower) == (measured, False)  # nothing was expected


def test_bad_settings_are_refused_before_the_line(trainings: TrainingService, dataset: Dataset, base: Path) -> None:
    for wrong in ({"epochs": 99}, {"learning_rate": float("nan")}, {"pooling": "best"}, {"batch_size": 2.5}):
        with pytest.raises(UserError):
            next(trainings.fine_tune("r", dataset, "tiny", base, Settings(**wrong)))  # type: ignore[arg-type]
    assert len(trainings.queue) == 0
