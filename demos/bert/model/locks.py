"""A lock for each thing that takes a while to make, so that who wants another thing never waits for it."""

import threading
from collections.abc import Hashable, Iterator
from contextlib import contextmanager


class Turns:
    """Locks by key, each there for as long as somebody holds it or waits for it; safe for many threads.

    For a store that reads a thing once for many threads: they take turns at its key, outside of the store's own lock,
    and each thread after the first gets what was read.
    """

    def __init__(self) -> None:
        self._turns: dict[Hashable, tuple[threading.Lock, int]] = {}  # the lock, its holders and waiters
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._turns)

    @contextmanager
    def lock(self, key: Hashable) -> Iterator[threading.Lock]:
        """The key's lock, not taken yet: the same one for all who are in this block at one time."""
        with self._lock:
            turn, users = self._turns.get(key, (threading.Lock(), 0))
            self._turns[key] = turn, users + 1
        try:
            yield turn
        finally:
            with self._lock:
                turn, users = self._turns.pop(key)
                if users > 1:
                    self._turns[key] = turn, users - 1

    @contextmanager
    def of(self, key: Hashable) -> Iterator[None]:
        """The key's lock, taken: blocks while another has it."""
        with self.lock(key) as turn, turn:
            yield
