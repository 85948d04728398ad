"""Caches: what was used last, within a bound; and what takes a while, computed once however many ask at one time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from typing import Generic, TypeVar

from demos.bert.model.locks import Turns
from demos.bert.model.steps import drained

Value = TypeVar("Value")
Progress = TypeVar("Progress")
Result = TypeVar("Result")
LOOK_SECONDS = 0.2  # between two looks at whether another reader's computation is over


class Recent(Generic[Value]):
    """Values by key; beyond `most`, their sizes added up, the least recently used go. Safe for many threads."""

    def __init__(self, most: float, size: Callable[[Value], float] = lambda value: 1) -> None:
        self.most = most
        self.total = 0.0  # of the sizes
        self._size = size
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> Value | None:
        """The value, which is the last used now; None where it is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: Value) -> None:
        """Keep this value, unless it alone is larger than the bound."""
        size = self._size(value)
        with self._lock:
            if key in self._values:
                self.total -= self._size(self._values.pop(key))
            if size > self.most:
                return
            self._values[key] = value
            self.total += size
            while self.total > self.most:
                self.total -= self._size(self._values.popitem(last=False)[1])


class OnceCache(Generic[Progress, Result]):
    """Results by key, the last asked for; safe for many threads. Who asks for what is on its way waits.

    Kept within `most`, their sizes added up; each counts 1 where `size` says nothing else (of a tuple with the result).
    """

    def __init__(self, most: float, size: Callable[[tuple[Result]], float] = lambda result: 1) -> None:
        self._kept: Recent[tuple[Result]] = Recent(most, size)
        self._turns = Turns()

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
                kept = self._kept.get(key)  # in a tuple, for a result may be None
                if kept is None:
                    kept = ((yield from make()),)
                    self._kept.put(key, kept)
                return kept[0]
            finally:
                turn.release()

    def get(self, key: Hashable, make: Callable[[], Generator[Progress, None, Result]], waiting: Progress) -> Result:
        """`steps` without its progress."""
        return drained(self.steps(key, make, waiting))
