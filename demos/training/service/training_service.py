"""The one door for page and API to the queue, the training and the kept models."""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from demos.bert.model.cores import cores
from demos.bert.model.memory_budget import Budget
from demos.bert.model.once_cache import Recent
from demos.bert.model.weights import float32_bytes
from demos.errors import UserError
from demos.training.compute_cost import Cost
from demos.training.data.splits import Splits
from demos.training.events import Event, Failed, Finished, Step, Stopped, Waiting
from demos.training.learning import hardware
from demos.training.service.background import Background
from demos.training.service.expected_time import SLOWER, Expected, expected, left_of, speed_settings
from demos.training.service.gpu_quota import work_seconds
from demos.training.service.gpu_worker import ON_ZERO_GPU, NoGPUError, run_training
from demos.training.service.readers import Readers
from demos.training.service.runs import Runs
from demos.training.service.shared_runs import SharedRuns
from demos.training.service.stored_runs import StoredRuns
from demos.training.service.training_queue import USUAL_SECONDS, Ticket, TrainingQueue
from demos.training.service.training_thread import in_own_thread
from demos.training.settings import Settings

T = TypeVar("T")
GPU_SLOTS = 4  # ZeroGPU lends a GPU to each
MAX_SPEEDS = 500  # remembered
BROKEN_OFF = "Training stopped unexpectedly; click Start again."
LEFT_LINE = "Your run was removed from the queue before it started."
COPIES = 4  # of what trains: weights, gradients, AdamW's two averages
LOOK_SECONDS = 0.3  # between two looks at the line


class TrainingService:
    """One fine-tuning at a time on this machine; others wait in line. One for the whole app, shared by its users."""

    def __init__(self, stored: StoredRuns | None = None, memory: Budget | None = None) -> None:
        """Finished runs of Train are found again in `stored`, also by another process; else they last as this one."""
        self.memory = Budget() if memory is None else memory
        self.queue = TrainingQueue(GPU_SLOTS if ON_ZERO_GPU else 1)  # for `fine_tune`
        self.cpu_queue = TrainingQueue() if ON_ZERO_GPU else self.queue  # for one that is to go on the CPU
        self.press_queue = TrainingQueue()  # for live pre-training: seconds, that need not wait behind minutes
        self.runs = Runs(stored=stored, memory=self.memory)
        self.readers = Readers(self.runs)
        self.background = Background()
        self.shared = SharedRuns()
        self._speed: Recent[float] = Recent(MAX_SPEEDS)
        self.on_speed: Callable[[], object] = lambda: None  # called when a run has shown how quick this machine is
        self._under_way: set[str] = set()  # runs of `fine_tune`

    def is_awaited(self) -> bool:
        """Whether somebody waits for a place to train."""
        return any(len(queue) > queue.slots for queue in (self.queue, self.cpu_queue, self.press_queue))

    def stop_all(self, seconds: float) -> None:
        """Make every training stop and keep its model; wait at most so long until all have."""
        self.background.stop_all()
        for run in list(self._under_way):
            self.runs.stop(run)
        deadline = time.monotonic() + seconds
        while (self._under_way or self.background.is_busy) and time.monotonic() < deadline:
            time.sleep(0.05)

    def speed(self, model: str, dataset: Splits, settings: Settings, on_cpu: bool = False) -> float:
        """Examples a second of the last training like it: this model, this data's name, this way; else 0.0."""
        return self._speed.get(_like(model, dataset, settings, on_cpu)) or 0.0

    def expected(self, model: str, dataset: Splits, settings: Settings, cost: Cost, on_cpu: bool = False) -> Expected:
        """The expected time of a training of this cost."""
        speed = self.speed(model, dataset, settings, on_cpu)
        if ON_ZERO_GPU and not on_cpu:  # a GPU that is lent for a moment can't be measured from here
            return Expected(work_seconds(dataset, settings, speed), bool(speed))
        half, device = hardware.in_bfloat16(on_cpu), hardware.run_device(on_cpu).type
        return expected(cost, speed, half, device, settings.threads or cores())

    def fine_tune(
        self,
        run: str,
        dataset: Splits,
        model: str,
        base: Path,
        settings: Settings,
        keep: bool = True,
        expected: float = 0.0,
        on_cpu: bool = False,
        nbytes: float = 0.0,
    ) -> Iterator[Event]:
        """Waiting events while others are in front, then the training's. `run` comes from `runs.new()`.

        Close it before its last event to give up: the training ends at its next event, the place in line is free, no
        file is left. From `Finished` or `Stopped` on, the model is kept until `runs.discard`. Without `keep`, for
        callers that need only its scores, it is deleted with the last event and displaces no other model. `expected`
        seconds are the first estimate of the time left (0: by the steps alone), `nbytes` is the memory that it takes
        (0: from its base's size); without room for it, the run fails. `on_cpu` needs no GPU.
        Raises UserError, before the first event, for settings out of bounds or a full line.
        """
        settings.check()
        stop_file = self.runs.stop_file(run)
        like = _like(model, dataset, settings, on_cpu)
        ended: Event | None = None
        with (
            (self.cpu_queue if on_cpu else self.queue).join(expected or USUAL_SECONDS) as ticket,
            ExitStack() as claims,
        ):
            self._under_way.add(run)
            try:
                if not (yield from self.wait(ticket, stop_file)):
                    return
                try:
                    needed = _needed(base, settings, nbytes, on_cpu)
                    claims.enter_context(self.memory.claim("trainings", needed, throw_away=not keep))
                except UserError as error:
                    yield Failed(str(error))
                    return
                with closing(self._trained(run, dataset, model, base, settings, on_cpu)) as events:
                    for event in events:
                        if isinstance(event, Finished | Stopped | Failed):
                            ended = event
                        if isinstance(event, Finished | Stopped):
                            if keep:
                                self.runs.keep(run, model)
                            if event.result.examples_per_second:
                                self._speed.put(like, event.result.examples_per_second)
                                self.on_speed()
                        if isinstance(event, Step):
                            event = _timed(event, expected) if expected else event
                            ticket.ends_in(event.seconds_left)
                        yield event
                if ended is None:
                    yield Failed(BROKEN_OFF, on_cpu=ON_ZERO_GPU and not on_cpu)
            finally:
                stop_file.unlink(missing_ok=True)
                self.runs.pause_file(run).unlink(missing_ok=True)
                if not (isinstance(ended, Finished | Stopped) and keep):
                    self.runs.discard(run)
                self._under_way.discard(run)

    def wait(self, ticket: Ticket, stop_file: Path) -> Generator[Waiting | Failed, None, bool]:
        """Yield the number of runs in front and their time, or Failed if it is stopped; returns whether it may run."""
        while place := ticket.place:
            if stop_file.exists():
                yield Failed(LEFT_LINE)
                return False
            yield Waiting(place, ticket.seconds_before)
            time.sleep(LOOK_SECONDS)
        return True

    def press(self, run: str, seconds: float, work: Callable[[Callable[[], bool]], Iterator[T]]) -> Iterator[Any]:
        """Waiting events while others press, then those of `work`, which gets a function that says when to stop.

        In a separate thread, on all cores, for about `seconds`. Stopped by `runs.stop(run)`, or by closing this.
        Raises UserError where the line is full.
        """
        stop_file = self.runs.stop_file(run)
        try:
            with self.press_queue.join(seconds) as ticket:
                if not (yield from self.wait(ticket, stop_file)):
                    return
                events = in_own_thread(lambda: work(stop_file.exists), cores())
                try:
                    yield from events
                finally:
                    events.close()  # type: ignore[attr-defined]
        finally:
            stop_file.unlink(missing_ok=True)

    def _trained(
        self, run: str, dataset: Splits, model: str, base: Path, settings: Settings, on_cpu: bool
    ) -> Generator[Event, None, None]:
        """The training's events; Failed where no GPU was lent for it."""
        files = self.runs.folder(run), self.runs.stop_file(run), self.runs.pause_file(run)
        work = work_seconds(dataset, settings, self.speed(model, dataset, settings))
        events = run_training(dataset, base, settings, *files, on_cpu, work)
        try:
            for event in events:  # noqa: UP028  (`yield from` would close them before the pause is over)
                yield event
        except NoGPUError as error:
            yield Failed(str(error), on_cpu=True)
        finally:
            files[2].unlink(missing_ok=True)  # else a paused training would not see that it is left
            events.close()  # type: ignore[attr-defined]  # waits for the training's thread


def _needed(base: Path, settings: Settings, nbytes: float, on_cpu: bool) -> float:
    """The bytes of the machine's memory that a training takes; on a GPU the rest of `nbytes` is that one's."""
    weights = float32_bytes(base)
    if not on_cpu and (ON_ZERO_GPU or hardware.run_device().type != "cpu"):
        return weights
    return nbytes or weights * (COPIES if settings.trains == "all" else 1)


def _timed(event: Step, expected: float) -> Step:
    """The step with the time left as one estimate with the time that was shown before."""
    done = event.step / event.total_steps
    left = left_of(expected, event.seconds_left, done)
    return replace(event, seconds_left=left, slower=left > SLOWER * expected * (1 - done))


def _like(model: str, dataset: Splits, settings: Settings, on_cpu: bool = False) -> tuple[object, ...]:
    return on_cpu, model, type(dataset), dataset.name, *speed_settings(settings)
