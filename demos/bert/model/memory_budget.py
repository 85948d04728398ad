"""One bound in bytes for all that is held in memory: models, heads, copies in training, passes, vectors, drawings."""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, floor
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakSet

import psutil

from demos.errors import UserError

SHARE = 0.6  # of the memory: the rest is for the program, its passes and its readers' sessions
PATIENCE = 30.0  # seconds, for what others are loading to be loaded: from then on it may go
CGROUPS, OF_PROCESS = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def machine_bytes(cgroups: Path = CGROUPS, of_process: Path = OF_PROCESS) -> int:
    """The memory that this process may take: the machine's, or the least limit of the cgroups (v1, v2) that it is in.

    In a container the path of its cgroup may be the one outside, which is not there; then the root has its limit.
    """
    limits = [psutil.virtual_memory().total]
    for line in of_process.read_text().splitlines() if of_process.is_file() else ():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        root, name = (cgroups / "memory", "memory.limit_in_bytes") if controllers else (cgroups, "memory.max")
        folder = root / path.strip("/")
        for at in (folder, *folder.parents):
            file = at / name
            said = file.read_text().strip() if at.is_relative_to(root) and file.is_file() else ""
            if said.isdecimal():  # and not "max"
                limits.append(int(said))
    return min(limits)


class Shelf(Protocol):
    """What a budget needs to know of a cache that holds its values within it. All is called with the budget's lock."""

    kind: str
    lasting: bool  # its values can't be made again

    @property
    def total(self) -> float:
        """The bytes of all values."""

    def spare(self) -> float:
        """The bytes of those that are not in use."""

    def oldest(self) -> int | None:
        """When the least recently used of these was used; None where there is none."""

    def drop_oldest(self) -> Any:
        """Let that one go, and return it."""


class Budget:
    """Bytes for caches and for work under way; the least recently used value of all caches goes first.

    What can't be made again goes last, and only for what is needed: never for a value that is merely kept, nor for work
    that is thrown away. A value that goes lives on for as long as a reader uses it.
    """

    def __init__(self, most: float | None = None) -> None:
        self.most = SHARE * machine_bytes() if most is None else most
        self.lock = threading.Condition()  # of all its caches; told when a claim ends
        self._shelves: WeakSet[Shelf] = WeakSet()
        self._claimed: Counter[str] = Counter()
        self._loading = 0  # bytes of those claims that will be over in a moment
        self._uses = itertools.count()

    def add(self, shelf: Shelf) -> None:
        """A cache more, for as long as it lives."""
        with self.lock:
            self._shelves.add(shelf)

    def held(self) -> dict[str, int]:
        """Bytes by kind, of work under way too; kinds of which there is nothing are left out."""
        with self.lock:
            held = self._claimed.copy()
            for shelf in self._shelves:
                held[shelf.kind] += int(shelf.total)
        return {kind: count for kind, count in sorted(held.items()) if count}

    @contextmanager
    def claim(self, kind: str, nbytes: float, throw_away: bool = False) -> Iterator[None]:
        """Hold so many bytes for work under way. Raises UserError, one sentence, where there is no room for them.

        `throw_away`: nothing of it is kept for anybody, so that what can't be made again stays.
        """
        gone: list[Any] = []
        with self.lock:
            self.take(kind, nbytes, gone, last=not throw_away, loading=False)
        del gone  # freed outside of the lock
        try:
            yield
        finally:
            with self.lock:
                self.give(kind, nbytes, loading=False)

    # The rest is called with the lock held.

    def use(self) -> int:
        """The number of this use: a later one has a higher."""
        return next(self._uses)

    def take(self, kind: str, nbytes: float, gone: list[Any], last: bool = True, loading: bool = True) -> None:
        """As `claim`, until `give`. What went for it is added to `gone`, to be freed when the lock is.

        Waits for what others are loading, where that is what there is no room beside.
        """

        def settled() -> bool:
            return self.make_room(nbytes, gone, last) or nbytes > self._free(last) + self._loading

        self.lock.wait_for(settled, PATIENCE)
        if not self.make_room(nbytes, gone, last):
            raise UserError(
                f"This takes {ceil(nbytes / 1e6):,} MB of memory, and the app has only "
                f"{floor(self._free(last) / 1e6):,} MB left for it; choose a smaller model, or try again later."
            )
        self._claimed[kind] += round(nbytes)
        self._loading += round(nbytes) * loading

    def give(self, kind: str, nbytes: float, loading: bool = True) -> None:
        """These bytes are not claimed any more."""
        self._claimed[kind] -= round(nbytes)
        self._loading -= round(nbytes) * loading
        self.lock.notify_all()

    def make_room(self, nbytes: float, gone: list[Any], last: bool = False) -> bool:
        """Let values go until so many bytes are free; False, and none goes, where all of them would not be enough.

        `last`: those too that can't be made again, after all others.
        """
        if nbytes > self._free(last):
            return False
        while nbytes > self.most - self._total():
            ages = [(shelf.lasting, age, shelf) for shelf in self._going(last) if (age := shelf.oldest()) is not None]
            if not ages:  # somebody began to use one just now
                return False
            gone.append(min(ages, key=lambda aged: aged[:2])[2].drop_oldest())
        return True

    def _going(self, last: bool) -> list[Shelf]:
        return [shelf for shelf in self._shelves if last or not shelf.lasting]

    def _total(self) -> float:
        return sum(self._claimed.values()) + sum(shelf.total for shelf in self._shelves)

    def _free(self, last: bool) -> float:
        """The bytes that are free or may be freed."""
        return max(0.0, self.most - self._total() + sum(shelf.spare() for shelf in self._going(last)))
