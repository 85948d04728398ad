"""A reader's training of a translator: in the queue of presses, in a separate thread, stopped like any run."""

from collections.abc import Iterator

from demos.bert.translation.grammar import Pair
from demos.training.events import Event
from demos.training.service.training_service import TrainingService
from demos.training.translation.training import Aligned, Plan, train_translator

STEP_SECONDS = 0.05  # of a step, for readers who wait


def train_live(trainings: TrainingService, run: str, plan: Plan, example: Pair) -> Iterator[Event | Aligned]:
    """`train_translator`'s events as one press (`TrainingService.press`). `run` comes from `trainings.runs.new()`."""
    plan.check()
    seconds = STEP_SECONDS * plan.steps
    yield from trainings.press(run, seconds, lambda should_stop: train_translator(plan, should_stop, example))
