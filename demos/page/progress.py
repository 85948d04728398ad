"""Long work on the page: its progress shown now and then, its result returned."""

import time
from collections.abc import Callable, Generator
from typing import TypedDict, TypeVar


class EventOptions(TypedDict, total=False):
    concurrency_id: str  # the queue
    concurrency_limit: int  # calls at once, of all with this queue
    trigger_mode: str  # what a press does while the answer to an earlier one is awaited
    show_progress: str


HEAVY: EventOptions = {"concurrency_id": "vectors", "concurrency_limit": 2}  # handlers that encode many sentences
BETWEEN = 0.2  # seconds between two lines of progress: as often as one can read, and no burden to the queue

Step = TypeVar("Step")
Result = TypeVar("Result")
Output = TypeVar("Output")  # of the handler: one component's value, or a list of several


def relayed(steps: Generator[Step, None, Result], outputs: Callable[[Step], Output]) -> Generator[Output, None, Result]:
    """The result of the steps; meanwhile, every BETWEEN seconds at most, a handler's `outputs` for the newest step.

    For a handler that is a generator: `vectors = yield from relayed(cache.steps(...), outputs)`.
    """
    reported_at = time.monotonic()
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        if time.monotonic() - reported_at > BETWEEN:
            reported_at = time.monotonic()
            yield outputs(step)
