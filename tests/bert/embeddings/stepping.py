"""Work told step by step, taken to its end."""

from collections.abc import Generator
from typing import TypeVar

Step = TypeVar("Step")
Result = TypeVar("Result")


def walked(steps: Generator[Step, None, Result]) -> tuple[list[Step], Result]:
    """(all that was told on the way, the result)."""
    told: list[Step] = []
    while True:
        try:
            told.append(next(steps))
        except StopIteration as end:
            return told, end.value
