"""One bound in bytes for all that is held in memory: models, heads, copies in training, passes, vectors, drawings."""

import itertools
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, floor
from pathlib import Path
from typing import Protocol
from weakref import WeakSet

import psutil

from demos.errors import UserError
from demos.system import lacks

SHARE = 0.6  # of the memory: the rest is for the program, its passes and its readers' sessions
PATIENCE = 10.0  # seconds, for what others load or use
LOOK_SECONDS = 0.05
CGROUPS, OF_PROCESS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def machine_bytes(cgroups: Path = CGROUPS, of_process: Path = OF_PROCESS) -> int:
    """The memory that this process may take: the machine's, or the least limit of the cgroups (v1, v2) that it is in.

    In a container the path of its cgroup may be the one outside, which is not there; then the root has its limit.
    """
    limits = [psutil.virtual_memory().total]
    if not of_process.is_file():
        lacks("Here a container's limit of memory can't be read: the app counts on the whole machine's.")
        return limits[0]
    for line in of_process.read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root, name = (cgroups / "memory", "memory.limit_in_bytes") if controllers else (cgroups, "memory.max")
        folder = root / path.strip("/")
        for at in (folder, *folder.parents):
            file = at / name
            limit = file.read_text(encoding="utf-8").strip() if at.is_relative_to(root) and file.is_file() else ""
            if limit.isdecimal():  # and not "max"
                limits.append(int(limit))
    return min(limits)


class Shelf(Protocol):
    """The interface of a cache that holds its values within a budget. All is called with the budget's lock."""

    kind: str
    lasting: bool  # its values can't be made again

    @property
    def total(self) -> float:
        """The bytes of all values."""

    def leaving(self) -> float:
        """The bytes of those that were let go, but that a reader still uses."""

    def spare(self) -> float:
        """The bytes of those that may be let go."""

    def oldest(self) -> int | None:
        """The time of the least recent use of these; None if there are none."""

    def drop_oldest(self) -> None:
        """Let that one go."""


class Budget:
    """Bytes for caches and for work under way; the least recently used value of all caches goes first.

    Values that can't be made again go last, and only for needed work: never for a value that is merely kept, nor for
    work that is thrown away. A value that goes lives on for as long as a reader uses it, and counts.
    """

    def __init__(self, most: float | None = None) -> None:
        self.most = SHARE * machine_bytes() if most is None else most
        self.lock = threading.Condition()  # of all its caches; notified when a claim ends
        self._shelves: WeakSet[Shelf] = WeakSet()
        self._claimed: Counter[str] = Counter()
        self._loading = 0  # bytes of those claims that will be over in a moment
        self._uses = itertools.count()

    def add(self, shelf: Shelf) -> None:
        """A cache more, for as long as it lives."""
        with self.lock:
            self._shelves.add(shelf)

    def usage(self) -> dict[str, int]:
        """Bytes by kind, of work under way too; kinds of which there is nothing are left out."""
        with self.lock:
            by_kind = self._claimed.copy()
            for shelf in self._shelves:
                by_kind[shelf.kind] += int(shelf.total + shelf.leaving())
        return {kind: count for kind, count in sorted(by_kind.items()) if count}

    @contextmanager
    def claim(self, kind: str, nbytes: float, throw_away: bool = False) -> Iterator[None]:
        """Hold so many bytes for work under way. Raises UserError, one sentence, where there is no room for them.

        `throw_away`: nothing of it is kept for anybody, so that what can't be made again stays.
        """
        with self.lock:
            self.take(kind, nbytes, last=not throw_away, loading=False)
        try:
            yield
        finally:
            with self.lock:
                self.give(kind, nbytes, loading=False)

    # The rest is called with the lock held.

    def use(self) -> int:
        """The number of this use: a later one has a higher."""
        return next(self._uses)

    def take(self, kind: str, nbytes: float, last: bool = True, loading: bool = True) -> None:
        """As `claim`, until `give`. Waits for what is being loaded or used, where there is no room beside that."""
        deadline = time.monotonic() + PATIENCE
        while not self.make_room(nbytes, last):
            free = self._free(last)
            soon = self._loading + sum(shelf.leaving() for shelf in self._shelves)
            if nbytes > free + soon or time.monotonic() > deadline:
                raise UserError(
                    f"This needs {ceil(nbytes / 1e6):,} MB of memory, but the server has only {floor(free / 1e6):,} MB "
                    "left; choose a smaller model, or try again later."
                )
            self.lock.wait(LOOK_SECONDS)  # the end of a value's use is not reported
        self._claimed[kind] += round(nbytes)
        self._loading += round(nbytes) * loading

    def give(self, kind: str, nbytes: float, loading: bool = True) -> None:
        """These bytes are not claimed any more."""
        self._claimed[kind] -= round(nbytes)
        self._loading -= round(nbytes) * loading
        self.lock.notify_all()

    def make_room(self, nbytes: float, last: bool = False) -> bool:
        """Let values go until so many bytes are free, and say whether they are; none goes where all are not enough.

        `last`: those too that can't be made again, after all others.
        """
        if nbytes <= self.most - self._total():
            return True
        if nbytes > self._free(last):
            return False
        while nbytes > self.most - self._total():
            ages = [(shelf.lasting, age, shelf) for shelf in self._going(last) if (age := shelf.oldest()) is not None]
            if not ages:  # those that went are in use
                return False
            min(ages, key=lambda aged: aged[:2])[2].drop_oldest()
        return True

    def _going(self, last: bool) -> list[Shelf]:
        return [shelf for shelf in self._shelves if last or not shelf.lasting]

    def _total(self) -> float:
        return sum(self._claimed.values()) + sum(shelf.total + shelf.leaving() for shelf in self._shelves)

    def _free(self, last: bool) -> float:
        """The bytes that are free or may be freed."""
        return max(0.0, self.most - self._total() + sum(shelf.spare() for shelf in self._going(last)))
