"""The one door for page and API to the queue, the training and the kept models."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from demos.bert.model.cores import cores
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import WEIGHTS
from demos.bert.model.once_cache import Recent
from demos.errors import UserError
from demos.training.cost import Cost
from demos.training.data.splits import Splits
from demos.training.events import Event, Failed, Finished, Step, Stopped, Waiting
from demos.training.learning import hardware
from demos.training.service.background import Background
from demos.training.service.expected_time import SLOWER, Expected, expected, left_of, way_of
from demos.training.service.gpu_worker import ON_ZERO_GPU, START_SECONDS, gpu_seconds, run_training
from demos.training.service.readers import Readers
from demos.training.service.trained_models import Runs
from demos.training.service.training_queue import TrainingQueue
from demos.training.settings import Settings

GPU_SLOTS = 4  # ZeroGPU lends a GPU to each
MAX_SPEEDS = 500  # remembered
BROKEN_OFF = "The training broke off before its end; press Start again."
COPIES = 4  # of what trains: weights, gradients, AdamW's two averages
LOOK_SECONDS = 0.3  # between two looks at the line


class TrainingService:
    """One training at a time on this machine; others wait in line. One for the whole app, shared by its users."""

    def __init__(self, memory: Budget | None = None) -> None:
        self.memory = Budget() if memory is None else memory
        self.queue = TrainingQueue(GPU_SLOTS if ON_ZERO_GPU else 1)  # for `fine_tune`
        self.cpu_queue = TrainingQueue() if ON_ZERO_GPU else self.queue  # for what trains on all of the CPU's cores
        self.runs = Runs(memory=self.memory)
        self.readers = Readers(self.runs)
        self.background = Background()
        self._speed: Recent[float] = Recent(MAX_SPEEDS)

    def is_awaited(self) -> bool:
        """Whether somebody waits for a place to train."""
        return any(len(queue) > queue.slots for queue in (self.queue, self.cpu_queue))

    def speed(self, model: str, dataset: Splits, settings: Settings) -> float:
        """Examples a second of the last training like it: this model, this data's name, this way; else 0.0."""
        return self._speed.get(_like(model, dataset, settings)) or 0.0

    def expected(self, model: str, dataset: Splits, settings: Settings, cost: Cost) -> Expected:
        """How long a training of this cost would take."""
        if ON_ZERO_GPU:  # what a GPU lent for a moment does is not to be measured from here
            return Expected(gpu_seconds(dataset, "", settings) - START_SECONDS, False)
        half, device = hardware.in_bfloat16(), hardware.run_device().type
        return expected(cost, self.speed(model, dataset, settings), half, device, settings.threads or cores())

    def fine_tune(
        self,
        run: str,
        dataset: Splits,
        model: str,
        base: Path,
        settings: Settings,
        keep: bool = True,
        expected: float = 0.0,
        nbytes: float = 0.0,
    ) -> Iterator[Event]:
        """Waiting events while others are in front, then the training's. `run` comes from `runs.new()`.

        Close it before its last event to give up: the training ends at its next event, the place in line is free, no
        file is left. From `Finished` or `Stopped` on the model is kept until `runs.discard`; without `keep`, for who
        wants its scores alone, it goes with the last event and puts no other out.
        `expected` seconds are what the time left begins with (0: the steps alone say it), `nbytes` the memory that it
        takes (0: from its base's size); where there is no room for it, it fails.
        Raises UserError, before the first event, for settings out of bounds or a full line.
        """
        settings.check()
        stop_file, pause_file = self.runs.stop_file(run), self.runs.pause_file(run)
        over = ended = False
        with self.queue.join() as ticket, ExitStack() as held:
            try:
                while place := ticket.place:
                    if stop_file.exists():
                        yield Failed("The training left the line before it began.")
                        return
                    yield Waiting(place)
                    time.sleep(LOOK_SECONDS)
                try:
                    needed = _needed(base, settings, nbytes)
                    held.enter_context(self.memory.claim("trainings", needed, throw_away=not keep))
                except UserError as error:
                    yield Failed(str(error))
                    return
                events = run_training(dataset, base, settings, self.runs.folder(run), stop_file, pause_file)
                try:
                    for event in events:
                        if isinstance(event, Finished | Stopped):
                            if keep:
                                self.runs.keep(run, model)
                            over = True
                            if event.result.examples_per_second:
                                self._speed.put(_like(model, dataset, settings), event.result.examples_per_second)
                        ended = over or isinstance(event, Failed)
                        yield _timed(event, expected) if isinstance(event, Step) and expected else event
                    if not ended:
                        yield Failed(BROKEN_OFF)
                finally:
                    pause_file.unlink(missing_ok=True)  # else a paused training would not see that it is left
                    events.close()  # type: ignore[attr-defined]  # waits for the training's thread
            finally:
                stop_file.unlink(missing_ok=True)
                pause_file.unlink(missing_ok=True)
                if not (over and keep):
                    self.runs.discard(run)


def _needed(base: Path, settings: Settings, nbytes: float) -> float:
    """The bytes of the machine's memory that a training takes; on a GPU the rest of `nbytes` is that one's."""
    file = base / WEIGHTS
    weights = file.stat().st_size if file.is_file() else 0
    if ON_ZERO_GPU or hardware.run_device().type != "cpu":
        return weights
    return nbytes or weights * (COPIES if settings.trains == "all" else 1)


def _timed(event: Step, expected: float) -> Step:
    """The step with the time left as one estimate with the time that was told before."""
    done = event.step / event.total_steps
    left = left_of(expected, event.seconds_left, done)
    return replace(event, seconds_left=left, slower=left > SLOWER * expected * (1 - done))


def _like(model: str, dataset: Splits, settings: Settings) -> tuple[object, ...]:
    return model, type(dataset), dataset.name, *way_of(settings)
