"""What was used last, within a bound: the one cache that all stores of results are built on."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


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
