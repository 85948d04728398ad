"""A coroutine run to its end, also where a browser's tests have left an event loop running in this thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def elsewhere(function: Callable[..., Result], *arguments: Any) -> Result:
    """What the function returns in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments).result()


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """What the coroutine returns."""
    return elsewhere(asyncio.run, coroutine)
