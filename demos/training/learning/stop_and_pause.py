"""The requests to a run under way: stop and keep the model, pause, and resume."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from demos.training.events import Event, Paused, Resumed

MOST_PAUSE_SECONDS = 120.0  # of one run, all its pauses together
LOOK_SECONDS = 0.05  # between two looks at the requests


def _never() -> bool:
    return False


@dataclass(frozen=True)
class Control:
    """Called before each step."""

    should_stop: Callable[[], bool] = _never
    should_wait: Callable[[], bool] = _never


class Pauses:
    """One run's pauses, and for how long it waited in all."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self.seconds = 0.0
        self.over = False  # the run waited as long as it may

    def wait(self, step: int) -> Iterator[Event]:
        """Nothing without a request to pause; else Paused, a wait, and Resumed (unless there is a request to stop)."""
        if self.over or not self.control.should_wait():
            return
        yield Paused(step, MOST_PAUSE_SECONDS - self.seconds)
        began = time.monotonic()
        end = began + MOST_PAUSE_SECONDS - self.seconds
        while self.control.should_wait() and not self.control.should_stop() and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)
        self.over = time.monotonic() >= end
        self.seconds += time.monotonic() - began
        if not self.control.should_stop():
            yield Resumed(step, "time" if self.over else "asked")
