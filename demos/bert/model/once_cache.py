"""A small cache of what takes a while: each result computed once, however many ask for it at the same time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from typing import Generic, TypeVar

from demos.bert.model.locks import Turns
from demos.bert.model.steps import drained

Progress = TypeVar("Progress")
Result = TypeVar("Result")
LOOK_SECONDS = 0.2  # between two looks at whether another reader's computation is over


class OnceCache(Generic[Progress, Result]):
    """Results by key, the `most` last asked for; safe for many threads. Who asks for what is on its way waits."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._kept: OrderedDict[Hashable, Result] = OrderedDict()
        self._turns = Turns()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def steps(
        self, key: Hashable, make: Callable[[], Generator[Progress, None, Result]], waiting: Progress
    ) -> Generator[Progress, None, Result]:
        """The result of `key`: kept, or made now by `make`, whose progress is passed on.

        While another thread makes it, `waiting` is told. An error is raised to who asked, and nothing is kept.
        """
        with self._turns.lock(key) as turn:
            while not turn.acquire(timeout=LOOK_SECONDS):
                yield waiting
            try:
                with self._lock:
                    if key in self._kept:
                        self._kept.move_to_end(key)
                        return self._kept[key]
                result = yield from make()
                with self._lock:
                    self._kept[key] = result
                    while len(self._kept) > self.most:
                        self._kept.popitem(last=False)
                return result
            finally:
                turn.release()

    def get(self, key: Hashable, make: Callable[[], Generator[Progress, None, Result]], waiting: Progress) -> Result:
        """`steps` without its progress."""
        return drained(self.steps(key, make, waiting))
