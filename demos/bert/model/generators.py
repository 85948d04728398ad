"""Work with progress: a generator that yields its progress and returns its result."""

from collections.abc import Generator
from typing import Any, TypeVar

Result = TypeVar("Result")


def drained(steps: Generator[Any, None, Result]) -> Result:
    """The result of the steps, without their progress."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value
