"""The workshop: one door for page and API to the line, the training and the kept models."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from demos.training.data import Dataset, Splits
from demos.training.events import Event, Failed, Finished, Stopped, Waiting
from demos.training.line import Line
from demos.training.runs import Runs
from demos.training.settings import Settings
from demos.training.worker import ON_ZERO_GPU, run_training

GPU_SLOTS = 4  # ZeroGPU lends a GPU to each
LOOK_SECONDS = 0.3  # between two looks at the line


class Workshop:
    """One training at a time on this machine; others wait in line. One for the whole app, shared by its users."""

    def __init__(self) -> None:
        self.line = Line(GPU_SLOTS if ON_ZERO_GPU else 1)
        self.runs = Runs()
        self._speed: dict[tuple[str, type], float] = {}

    def speed(self, model: str, kind: type = Dataset) -> float:
        """Examples a second of this model's last training on this kind of data here; 0.0 before there was one."""
        return self._speed.get((model, kind), 0.0)

    def fine_tune(self, run: str, dataset: Splits, model: str, base: Path, settings: Settings) -> Iterator[Event]:
        """Waiting events while others are in front, then the training's. `run` comes from `runs.new()`.

        Close it before its last event to give up: the training ends at its next event, the place in line is free, no
        file is left. From `Finished` or `Stopped` on the model is kept until `runs.discard`.
        Raises UserError, before the first event, for settings out of bounds or a full line.
        """
        settings.check()
        stop_file = self.runs.stop_file(run)
        over = False
        with self.line.join() as ticket:
            try:
                while place := ticket.place:
                    if stop_file.exists():
                        yield Failed("The training left the line before it began.")
                        return
                    yield Waiting(place)
                    time.sleep(LOOK_SECONDS)
                events = run_training(dataset, base, settings, self.runs.folder(run), stop_file)
                try:
                    for event in events:
                        if isinstance(event, Finished | Stopped):
                            self.runs.keep(run, model)
                            over = True
                            if event.result.examples_per_second:
                                self._speed[model, type(dataset)] = event.result.examples_per_second
                        yield event
                finally:
                    events.close()  # type: ignore[attr-defined]  # waits for the training's thread
            finally:
                stop_file.unlink(missing_ok=True)
                if not over:
                    self.runs.discard(run)
