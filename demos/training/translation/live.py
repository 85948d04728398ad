"""A reader's training of a translator: in the queue of presses, in a separate thread, stopped like any run."""

from collections.abc import Iterator

from demos.bert.model.cores import cores
from demos.bert.translation.grammar import Pair
from demos.training.events import Event
from demos.training.service.training_service import TrainingService
from demos.training.service.training_thread import in_own_thread
from demos.training.translation.training import Aligned, Plan, train_translator

STEP_SECONDS = 0.05  # of a step, for readers who wait


def train_live(trainings: TrainingService, run: str, plan: Plan, example: Pair) -> Iterator[Event | Aligned]:
    """Waiting while others are in front, then `train_translator`'s events. `run` comes from `trainings.runs.new()`.

    Stopped by `trainings.runs.stop(run)`, or by closing this. Raises UserError where the line is full.
    """
    plan.check()
    stop_file = trainings.runs.stop_file(run)
    try:
        with trainings.press_queue.join(STEP_SECONDS * plan.steps) as ticket:
            if not (yield from trainings.wait(ticket, stop_file)):
                return
            work = train_translator(plan, stop_file.exists, example)
            events = in_own_thread(lambda: work, cores())
            try:
                yield from events
            finally:
                events.close()  # type: ignore[attr-defined]
    finally:
        stop_file.unlink(missing_ok=True)
