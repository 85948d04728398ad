"""Steps of pre-training on a reader's own copy, as a generator of plain events."""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from demos.bert.pretraining.heads import Pretrained
from demos.errors import UserError
from demos.training.events import Failed, Waiting
from demos.training.learning.failures import sentence_of
from demos.training.pretraining.batches import Instance, collate
from demos.training.pretraining.copies import BUSY, LONG, MAX_STEPS, Copies, Copy, Point, Situation, batch_of
from demos.training.pretraining.learner import Stepped
from demos.training.pretraining.model_parts import Parts
from demos.training.pretraining.probes import ProbeResult, Question, ask, questions
from demos.training.pretraining.rows import RowCounter, Rows
from demos.training.service.training_service import TrainingService

MAX_SECONDS = 300.0  # of one press; the progress by then is kept
PASSES_A_STEP = 3.5  # a step takes as long as so many forward passes, about
STEP_SECONDS = 1.0  # of a step, before there was one like it


@dataclass(frozen=True)
class Made:
    """The copy is there; nothing is trained yet. For a copy that was there before, with its points so far."""

    points: tuple[Point, ...]


@dataclass(frozen=True)
class Learned:
    """The press is over, and its copy kept: what the steps did."""

    points: tuple[Point, ...]  # of the copy, from its first step
    steps: int  # of this press
    reason: str  # "", or why it ended early: "asked", "time"
    instances: tuple[Instance, ...]  # of the last step
    last: Stepped
    rows: Rows  # from the press's first step to its last
    probes: tuple[Question, ...]
    before: ProbeResult  # at the copy's beginning
    after: ProbeResult
    before_untrained: ProbeResult | None
    after_untrained: ProbeResult | None
    parameters: int
    seconds_a_step: float


Event = Waiting | Made | Point | Learned | Failed


@dataclass(frozen=True)
class FirstLook:
    """The facts before the first step, from the shared model, with no gradient."""

    probes: tuple[Question, ...]
    before: ProbeResult
    instances: tuple[Instance, ...]  # of the first step
    masked: float  # their masked words' loss
    seconds_a_step: float  # a guess by that pass


def first_look(pretrained: Pretrained, situation: Situation) -> FirstLook:
    """The first batch and its loss, and what is guessed at the hidden words."""
    parts, tokenizer = Parts.of(pretrained), pretrained.tokenizer
    probes = questions(tokenizer, situation.passage)
    before = ask(parts, tokenizer, situation.passage, probes)
    instances = batch_of(situation, tokenizer, 1, parts.relation is not None)
    began = time.perf_counter()
    with torch.inference_mode():
        masked = parts.losses(collate(instances, tokenizer.pad_token_id)).masked.item()
    seconds = PASSES_A_STEP * (time.perf_counter() - began) * (1 + situation.recipe.untrained)
    return FirstLook(probes, before, instances, masked, seconds)


class Presses:
    """The actions of the part's two buttons, for all its readers: one at a time in a separate queue, on all cores."""

    def __init__(self, trainings: TrainingService) -> None:
        self.trainings = trainings
        self.copies = Copies(trainings.memory)
        self._speed: dict[tuple[str, bool], float] = {}

    def expected(self, situation: Situation, steps: int) -> float:
        """Seconds that so many steps would take, by the last training like it; NaN before there was one."""
        speed = self._speed.get((situation.model, situation.recipe.untrained), math.nan)
        return speed * steps * situation.recipe.batch_size

    def press(
        self, run: str, copy_id: str, situation: Situation, pretrained: Pretrained, steps: int
    ) -> Iterator[Event]:
        """Waiting while others are in front, Made, a Point a step, and Learned or Failed.

        `run`, from `trainings.runs.new()`, becomes the copy's id, unless `copy_id` names a copy of this very situation.
        Stopped by `trainings.runs.stop(run)`, or by closing this. A copy that fails is let go.
        Raises UserError for a copy that is gone or busy, and where the line is full.
        """
        copy = self.copies.get(copy_id) if copy_id else None
        if copy is not None and copy.situation != situation:
            self.copies.discard(copy_id)
            copy_id, copy = "", None
        name = copy_id or run
        seconds = self.expected(situation, steps)

        def work(should_stop: Callable[[], bool]) -> Iterator[Event]:
            mine = copy or self.copies.make(name, situation, pretrained)
            yield from self._steps(mine, name, steps, should_stop)

        yield from self.trainings.press(run, STEP_SECONDS * steps if math.isnan(seconds) else seconds, work)

    def _steps(self, copy: Copy, name: str, steps: int, should_stop: Callable[[], bool]) -> Iterator[Event]:
        if not copy.lock.acquire(blocking=False):
            raise UserError(BUSY)
        try:
            if copy.steps >= MAX_STEPS:
                raise UserError(LONG)
            self.copies.put(name, copy)
            with self.trainings.memory.claim("gradients", copy.gradient_nbytes):
                yield Made(tuple(copy.points))
                yield from self._learn(copy, min(steps, MAX_STEPS - copy.steps), should_stop)
        except GeneratorExit:  # the reader is gone, and no one else has the copy's name
            self.copies.discard(name)
            raise
        except (UserError, MemoryError, RuntimeError) as error:
            if copy.steps < MAX_STEPS:
                self.copies.discard(name)
            message = sentence_of(error)
            if not message:
                raise
            yield Failed(message)
        finally:
            for learner in copy.learners:
                learner.optimizer.zero_grad()  # the gradient is a quarter of the copy, and the next step makes another
            copy.lock.release()

    def _learn(self, copy: Copy, steps: int, should_stop: Callable[[], bool]) -> Iterator[Event]:
        recipe, tokenizer = copy.situation.recipe, copy.tokenizer
        counter = RowCounter(copy.trained.matrix, tokenizer.pad_token_id, closely=steps == 1)
        began, reason, done = time.monotonic(), "", 0
        while True:
            last = done + 1 == steps
            instances = batch_of(copy.situation, tokenizer, copy.steps + 1, copy.trained.parts.relation is not None)
            batch = collate(instances, tokenizer.pad_token_id)
            stepped = copy.trained.step(batch, recipe.rate, counter)
            other = math.nan
            if copy.untrained is not None:
                other = copy.untrained.step(batch, recipe.rate).masked
            copy.steps += 1
            done += 1
            point = Point(copy.steps, stepped.masked, stepped.following, stepped.norm, stepped.right, other)
            copy.points.append(point)
            yield point
            seconds = (time.monotonic() - began) / done
            reason = "asked" if should_stop() else "time" if seconds * done > MAX_SECONDS else ""
            if last or reason:
                break
        self._speed[(copy.situation.model, recipe.untrained)] = seconds / recipe.batch_size
        rows, passage = counter.rows(copy.trained.matrix), copy.situation.passage
        after = ask(copy.trained.parts, tokenizer, passage, copy.probes)
        other_after = ask(copy.untrained.parts, tokenizer, passage, copy.probes) if copy.untrained else None
        yield Learned(
            points=tuple(copy.points),
            steps=done,
            reason="" if last else reason,
            instances=instances,
            last=stepped,
            rows=rows,
            probes=copy.probes,
            before=copy.before,
            after=after,
            before_untrained=copy.before_untrained,
            after_untrained=other_after,
            parameters=copy.trained.parameters,
            seconds_a_step=seconds,
        )
