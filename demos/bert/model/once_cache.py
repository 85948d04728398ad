"""Caches: the values used last, within a bound; and slow results, each computed once for all threads that need it."""

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable
from concurrent.futures import Future
from contextlib import suppress
from math import inf
from typing import Any, Generic, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary, ref

from demos.bert.model.generators import drained
from demos.bert.model.locks import Turns
from demos.bert.model.memory_budget import Budget

Value = TypeVar("Value")
Progress = TypeVar("Progress")
Result = TypeVar("Result")
LOOK_SECONDS = 0.2  # between two looks at whether another reader's computation is over


class _Entry(NamedTuple):
    value: Any
    size: float
    used: int  # when it was last


class Recent(Generic[Value]):
    """Values by key; beyond `most`, their sizes added up, the least recently used go. Safe for many threads.

    With a `budget`, sizes are bytes, and values go for those of other caches too; `kind` is what it calls them. Those
    that are `in_use` stay. `lasting`: they can't be made again, so that they go after those of all other caches.
    """

    def __init__(
        self,
        most: float = inf,
        size: Callable[[Value], float] = lambda value: 1,
        budget: Budget | None = None,
        kind: str = "",
        lasting: bool = False,
        in_use: Callable[[Value], bool] | None = None,
    ) -> None:
        self.most, self.kind, self.lasting = most, kind, lasting
        self.total = 0.0  # of the sizes
        self._size, self._in_use = size, in_use
        self._values: OrderedDict[Hashable, _Entry] = OrderedDict()
        self._leaving: dict[Hashable, tuple[Callable[[], Any], float]] = {}
        self._making: dict[Hashable, Future[Value]] = {}
        self._budget = Budget(inf) if budget is None else budget
        self._budget.add(self)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def get(self, key: Hashable) -> Value | None:
        """The value, which is the last used now; None where it is not kept."""
        with self._budget.lock:
            return self._lookup(key)

    def put(self, key: Hashable, value: Value, needed: bool = False) -> bool:
        """Keep this value if there is room for it; says whether. For one that is `needed` whatever may go goes."""
        size = self._size(value)
        with self._budget.lock:
            return self._keep(key, value, size, needed)

    def pop(self, key: Hashable) -> None:
        """Let this value go. Unknown keys are fine."""
        with self._budget.lock:
            self._drop(key)

    def make(self, key: Hashable, make: Callable[[Callable[[float], None]], Value]) -> Value:
        """The value; where it is not kept, made now, outside of the lock, once for all threads.

        `make` gets a function, to be called with the bytes that it is about to take, so that there is room for
        them. An error in that or in `make` is raised in all waiting threads, and nothing is kept.
        """
        with self._budget.lock:
            if (cached := self._lookup(key)) is not None:
                return cached
            awaited, making = self._making.get(key), self._making.setdefault(key, Future())
        if awaited is not None:
            return awaited.result()
        taken = 0.0

        def take(nbytes: float) -> None:
            nonlocal taken
            with self._budget.lock:
                self._shrink(nbytes)
                self._budget.take(self.kind, nbytes)
                taken += nbytes

        try:
            value = make(take)
            size = self._size(value)
        except BaseException as error:
            with self._budget.lock:
                self._budget.give(self.kind, taken)
                del self._making[key]
            making.set_exception(error)
            raise
        with self._budget.lock:
            self._budget.give(self.kind, taken)
            self._keep(key, value, size, needed=True)
            del self._making[key]
        making.set_result(value)
        return value

    # The rest is called with the budget's lock held.

    def spare(self) -> float:
        """The sizes of those that are not in use, added up."""
        in_use = self._in_use
        if in_use is None:
            return self.total
        return sum(entry.size for entry in self._values.values() if not in_use(entry.value))

    def oldest(self) -> int | None:
        """The time of the least recent use of these; None if there are none."""
        key = self._oldest()
        return None if key is None else self._values[key].used

    def drop_oldest(self) -> None:
        """Let that one go; for as long as a reader uses it, it is found here all the same."""
        if (key := self._oldest()) is not None:
            entry = self._values.pop(key)
            self.total -= entry.size
            with suppress(TypeError):  # a number or a tuple can't be followed
                self._leaving[key] = ref(entry.value), entry.size

    def leaving(self) -> float:
        """The sizes of those that were let go, but that a reader still uses, added up."""
        if not self._leaving:
            return 0.0
        self._leaving = {key: left for key, left in self._leaving.items() if left[0]() is not None}
        return sum(size for _, size in self._leaving.values())

    def _oldest(self) -> Hashable | None:
        in_use = self._in_use
        return next((key for key, entry in self._values.items() if in_use is None or not in_use(entry.value)), None)

    def _lookup(self, key: Hashable) -> Value | None:
        entry = self._values.get(key)
        if entry is None:
            left, size = self._leaving.pop(key, (lambda: None, 0.0))
            value: Value | None = left()
            if value is not None:  # somebody uses it: it comes back
                self._values[key] = _Entry(value, size, self._budget.use())
                self.total += size
                self._shrink(0)
            return value
        self._values[key] = entry._replace(used=self._budget.use())
        self._values.move_to_end(key)
        return cast(Value, entry.value)

    def _keep(self, key: Hashable, value: Value, size: float, needed: bool) -> bool:
        self._drop(key)
        if not self._shrink(size) or not self._budget.make_room(size, last=needed):
            return False
        self._values[key] = _Entry(value, size, self._budget.use())
        self.total += size
        return True

    def _shrink(self, size: float) -> bool:
        """Let the least recently used go until so much more is within the own bound; False where it alone is not."""
        if size > self.most:
            return False
        while self.total + size > self.most and self.oldest() is not None:
            self.drop_oldest()
        return True

    def _drop(self, key: Hashable) -> None:
        self._leaving.pop(key, None)
        entry = self._values.pop(key, None)
        if entry is not None:
            self.total -= entry.size


class ObjectNumbers:
    """Objects as parts of a cache's keys: each has a number, which no other has after it. Safe for many threads."""

    def __init__(self) -> None:
        self._numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
        self._next = itertools.count()
        self._lock = threading.Lock()

    def of(self, thing: Any) -> int:
        """The number of this object."""
        with self._lock:
            number = self._numbers.get(thing)
            if number is None:
                number = self._numbers[thing] = next(self._next)
            return number


class OnceCache(Generic[Progress, Result]):
    """Results by key, the latest ones; safe for many threads. A request for a result on its way waits.

    Kept within `most`, their sizes added up; each counts 1 unless `size` is given (called with a tuple of the result).
    `budget` and `kind` are as `Recent` has them.
    """

    def __init__(
        self,
        most: float,
        size: Callable[[tuple[Result]], float] = lambda result: 1,
        budget: Budget | None = None,
        kind: str = "",
    ) -> None:
        self._results: Recent[tuple[Result]] = Recent(most, size, budget, kind)
        self._turns = Turns()

    def __len__(self) -> int:
        return len(self._results)

    def known(self, key: Hashable) -> Result | None:
        """The result of `key` where it is kept; nothing is made."""
        entry = self._results.get(key)
        return None if entry is None else entry[0]

    def steps(
        self, key: Hashable, make: Callable[[], Generator[Progress, None, Result]], waiting: Progress
    ) -> Generator[Progress, None, Result]:
        """The result of `key`: kept, or made now by `make`, whose progress is passed on.

        While another thread makes it, `waiting` is yielded. An error is raised here, and nothing is kept.
        """
        with self._turns.lock(key) as turn:
            while not turn.acquire(timeout=LOOK_SECONDS):
                yield waiting
            try:
                entry = self._results.get(key)  # in a tuple, for a result may be None
                if entry is None:
                    entry = ((yield from make()),)
                    self._results.put(key, entry)
                return entry[0]
            finally:
                turn.release()

    def get(self, key: Hashable, make: Callable[[], Generator[Progress, None, Result]], waiting: Progress) -> Result:
        """`steps` without its progress."""
        return drained(self.steps(key, make, waiting))
