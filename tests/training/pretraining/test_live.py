"""Presses: the loss falls, stop stops, the same seed gives the same, copies are apart, bounded and let go."""

import math
from dataclasses import replace

import pytest
import torch

from demos.bert.model.memory_budget import Budget
from demos.bert.pretraining.heads import Pretrained
from demos.errors import UserError
from demos.training.events import Failed, Waiting
from demos.training.pretraining import live
from demos.training.pretraining.copies import BUSY, GONE, Copies, Copy, Point, Recipe, Situation, size_of
from demos.training.pretraining.live import Learned, Made, Presses
from demos.training.pretraining.passage import read_passage
from demos.training.service import training_service as workshop_module
from demos.training.service.training_service import TrainingService

TEXT = "The hive is full. The bees prepare to swarm. A queen lays eggs. Close the lid again."
RECIPE = Recipe(rate=2e-2, batch_size=4, seed=1)


@pytest.fixture
def presses() -> Presses:
    return Presses(TrainingService())


@pytest.fixture(scope="module")
def situation(pretrained: Pretrained) -> Situation:
    return Situation("tiny", read_passage(pretrained.tokenizer, TEXT), RECIPE.check())


def press(presses: Presses, situation: Situation, pretrained: Pretrained, steps: int, held: str = "") -> tuple:
    run = presses.trainings.runs.new()
    return run, list(presses.press(run, held, situation, pretrained, steps))


def test_the_loss_falls_on_one_copy_and_one_step_goes_on_from_it(
    presses: Presses, situation: Situation, pretrained: Pretrained
):
    matrix = pretrained.decoder.weight.clone()
    run, events = press(presses, situation, pretrained, 12)
    learned = events[-1]
    assert isinstance(events[0], Made)
    assert [one.step for one in events[1:-1]] == list(range(1, 13)) == [one.step for one in learned.points]
    first, last = learned.points[0], learned.points[-1]
    assert first.masked > 9
    assert last.masked < 7.5
    assert last.untrained < 7.5
    assert learned.rows.gradient is None
    assert learned.before.answers != learned.after.answers
    assert not math.isnan(presses.expected(situation, 100))
    _, more = press(presses, situation, pretrained, 1, run)
    assert more[0] == Made(learned.points)
    assert more[-1].points[:-1] == learned.points
    assert more[-1].points[-1].step == 13
    assert more[-1].before == learned.before
    assert more[-1].rows.by_input is not None
    assert torch.equal(pretrained.decoder.weight, matrix)  # the shared model learned nothing


def test_readers_are_apart_and_the_same_seed_gives_the_same(
    presses: Presses, situation: Situation, pretrained: Pretrained
):
    one, first = press(presses, situation, pretrained, 3)
    two, second = press(presses, situation, pretrained, 3)
    assert one != two
    assert first[-1].points == second[-1].points  # the second did not go on from the first
    assert presses.copies.get(one).trained.matrix is not presses.copies.get(two).trained.matrix
    _, third = press(presses, replace(situation, recipe=replace(RECIPE, seed=2)), pretrained, 3)
    assert third[-1].points != first[-1].points
    _, other = press(presses, replace(situation, recipe=replace(RECIPE, untrained=False)), pretrained, 3, one)
    assert [one.masked for one in other[-1].points] == [one.masked for one in first[-1].points]
    assert all(math.isnan(one.untrained) for one in other[-1].points)
    with pytest.raises(UserError, match=GONE[:30]):  # another situation took its place
        presses.copies.get(one)


def test_between_presses_a_copy_has_no_gradient(presses: Presses, situation: Situation, pretrained: Pretrained):
    run, usage = presses.trainings.runs.new(), presses.trainings.memory.usage
    events = presses.press(run, "", situation, pretrained, 2)
    assert isinstance(next(events), Made)
    copy = presses.copies.get(run)
    assert usage() == {"copies": copy.nbytes, "gradients": copy.gradient_nbytes}
    assert isinstance(list(events)[-1], Learned)
    assert usage() == {"copies": copy.nbytes}
    for learner in copy.learners:
        assert all(weight.grad is None for weight in learner.trained)


def test_stop_keeps_what_was_learned_and_leaving_ends_it(
    presses: Presses, situation: Situation, pretrained: Pretrained
):
    run = presses.trainings.runs.new()
    seen = []
    for event in presses.press(run, "", situation, pretrained, 500):
        seen.append(event)
        if isinstance(event, Point) and event.step == 2:
            presses.trainings.runs.stop(run)
    assert isinstance(seen[-1], Learned)
    assert seen[-1].reason == "asked"
    assert 2 <= seen[-1].steps < 100
    assert presses.copies.get(run).steps == seen[-1].steps
    assert not presses.trainings.runs.stop_file(run).exists()

    left = presses.trainings.runs.new()
    events = presses.press(left, "", situation, pretrained, 500)
    next(events), next(events)
    events.close()
    assert len(presses.trainings.press_queue) == 0
    with pytest.raises(UserError):
        presses.copies.get(left)


def test_a_press_ends_by_the_clock(
    presses: Presses, situation: Situation, pretrained: Pretrained, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "MAX_SECONDS", 0.0)
    _, events = press(presses, situation, pretrained, 50)
    assert (events[-1].reason, events[-1].steps) == ("time", 1)


def test_one_trains_at_a_time_and_who_waits_is_told(presses: Presses, situation: Situation, pretrained: Pretrained):
    with presses.trainings.press_queue.join(150.0):
        run = presses.trainings.runs.new()
        events = presses.press(run, "", situation, pretrained, 1)
        assert next(events) == Waiting(1, pytest.approx(150, abs=30))
        presses.trainings.runs.stop(run)
        assert isinstance(list(events)[-1], Failed)
    assert len(presses.copies) == 0


@pytest.mark.parametrize("on_zero_gpu", [False, True])
def test_a_press_waits_for_presses_alone(
    situation: Situation, pretrained: Pretrained, monkeypatch: pytest.MonkeyPatch, on_zero_gpu: bool
):
    monkeypatch.setattr(workshop_module, "ON_ZERO_GPU", on_zero_gpu)
    presses = Presses(TrainingService())
    trainings = presses.trainings
    assert (trainings.cpu_queue is trainings.queue) != on_zero_gpu
    with trainings.queue.join(), trainings.cpu_queue.join():  # fine-tunings, of minutes
        first = presses.press(trainings.runs.new(), "", situation, pretrained, 2)
        assert isinstance(next(first), Made)
        second = presses.press(trainings.runs.new(), "", situation, pretrained, 2)
        assert next(second).place == 1
        second.close()
        assert isinstance(list(first)[-1], Learned)


def test_copies_are_bounded_and_guarded(presses: Presses, situation: Situation, pretrained: Pretrained):
    copy = Copy.make(situation, pretrained)
    copies = Copies(Budget(2 * (3 * copy.nbytes + copy.gradient_nbytes)))  # half of it is for three
    for name in "abc":
        copies.make(name, situation, pretrained)
    copies.get("a")
    copies.make("d", situation, pretrained)
    assert len(copies) == 3
    with pytest.raises(UserError, match=GONE[:30]):
        copies.get("b")
    for name in ("", "../x", "e"):
        with pytest.raises(UserError, match=GONE[:30]):
            copies.get(name)
    assert size_of(situation, pretrained) == copy.nbytes + copy.gradient_nbytes
    small = Copies(Budget(1.9 * copy.nbytes))
    with pytest.raises(UserError, match="GB of memory"):
        small.make("a", situation, pretrained)
    room = Copies(Budget(3.9 * copy.nbytes))
    first = room.make("a", situation, pretrained)
    room.make("b", situation, pretrained)
    assert not room.has("a")
    room.put("a", first)
    assert (room.has("a"), room.has("b")) == (True, False)
    with first.lock:  # it is being trained: it stays, and goes beyond the bound
        room.make("b", situation, pretrained)
        assert (room.has("a"), room.has("b")) == (True, True)
    presses.copies.put("mine", copy)
    with copy.lock, pytest.raises(UserError, match=BUSY[:20]):
        press(presses, situation, pretrained, 1, "mine")
    copy.trained.matrix.data[:] = float("nan")
    _, events = press(presses, situation, pretrained, 1, "mine")
    assert isinstance(events[-1], Failed)
    with pytest.raises(UserError):  # a broken copy is let go
        presses.copies.get("mine")
    for wrong in (replace(RECIPE, batch_size=33), replace(RECIPE, rate=math.inf), replace(RECIPE, seed=-1)):
        with pytest.raises(UserError):
            wrong.check()
