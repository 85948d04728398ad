"""The training of a translator: what it tells, and that it is what its program does."""

import gzip
import re
from contextlib import redirect_stdout
from io import StringIO
from itertools import islice
from operator import attrgetter
from typing import Any

import pytest

from demos.bert.translation.bundled import FOLDER
from demos.bert.translation.grammar import example, sentences
from demos.bert.translation.tasks import TASKS
from demos.errors import UserError
from demos.lessons.translation.training.figure import training_code
from demos.training.events import Epoch, Finished, Started, Step, Stopped
from demos.training.service.training_service import TrainingService
from demos.training.translation.live import train_live
from demos.training.translation.pairs import table
from demos.training.translation.training import EVERY, Aligned, Plan, train_translator

PAIRS = sentences(8_500, 0)
SOURCE, TARGET = attrgetter("source"), attrgetter("target")


@pytest.fixture(scope="module")
def events() -> list[Any]:
    return list(train_translator(Plan("additive", 75, 3), lambda: False, example()))


def test_what_is_told_in_which_order(events: list[Any]) -> None:
    kinds = [type(event) for event in events]
    assert kinds[:3] == [Started, Epoch, Aligned]
    assert kinds[-1] is Finished
    assert [event.step for event in events if isinstance(event, Step)] == list(range(1, 76))
    assert [event.step for event in events if isinstance(event, Aligned)] == [0, *range(EVERY, 76, EVERY)]
    e, d = 64, 128
    english, french = (len({word for pair in PAIRS for word in side(pair)}) + 3 for side in (SOURCE, TARGET))
    one_direction = 3 * (d // 2) * (e + d // 2 + 2)
    attention = d * d + d + d * d + d
    by_hand = e * (english + french) + 2 * one_direction + 3 * d * (e + d + 2) + attention + 2 * d * d + d
    assert events[0].parameters == by_hand + d * french + french


def test_it_learns(events: list[Any]) -> None:
    looks = [event for event in events if isinstance(event, Epoch)]
    assert looks[-1].validation_loss < looks[0].validation_loss / 2
    for event in events:
        if isinstance(event, Aligned):
            assert len(event.weights) == len(event.written)
            assert all(sum(row) == pytest.approx(1, abs=1e-5) for row in event.weights)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("score", "task"),
    [("additive", "french"), ("dot", "french"), ("none", "french"), ("transformer", "french"), ("additive", "dates")],
)
def test_the_program_trains_the_same_way(score: str, task: str) -> None:
    """Its printed losses are the page's; the code panel is run as it stands."""
    plan = Plan(score, 25, 3, task)
    printed = StringIO()
    program = training_code(plan)
    assert "demos" not in program
    with redirect_stdout(printed):
        exec(program, {})
    steps = (event for event in train_translator(plan, lambda: False, TASKS[task].example()) if isinstance(event, Step))
    losses = {event.step: event.loss for event in islice(steps, 25)}
    told = re.findall(r"step +(\d+)  loss ([\d.]+)", printed.getvalue())
    assert [int(step) for step, _ in told] == [25]
    assert [float(loss) for _, loss in told] == pytest.approx([losses[25]], abs=2e-3)


@pytest.mark.parametrize("task", TASKS)
def test_the_programs_pairs_are_those_of_the_page(task: str) -> None:
    stored = gzip.decompress((FOLDER / f"{task}.tsv.gz").read_bytes()).decode()
    assert stored == table(task), "python -m demos.training.translation.pairs writes them anew"


def test_stopped_it_ends_with_what_it_learned() -> None:
    events = list(train_translator(Plan("none", 200), lambda: True, example()))
    assert [type(event) for event in events[-3:]] == [Epoch, Aligned, Stopped]
    assert events[-1].result.steps == 1


def test_a_run_waits_its_turn_and_leaves_no_place_behind() -> None:
    trainings = TrainingService()
    run = trainings.runs.new()
    live = train_live(trainings, run, Plan("dot", 50), example())
    assert isinstance(next(live), Started)
    assert len(trainings.press_queue) == 1
    live.close()  # type: ignore[attr-defined]
    assert len(trainings.press_queue) == 0


@pytest.mark.parametrize("plan", [Plan("cosine"), Plan(steps=10), Plan(steps=10**9), Plan(seed=-1)])
def test_bounds(plan: Plan) -> None:
    with pytest.raises(UserError):
        plan.check()
