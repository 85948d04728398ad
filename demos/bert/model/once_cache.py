"""A small cache of what takes a while: each result computed once, however many ask for it at the same time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable
from typing import Generic, TypeVar

from demos.bert.model.locks import Turns
from demos.bert.model.recent import Recent
from demos.bert.model.steps import drained

Progress = TypeVar("Progress")
Result = TypeVar("Result")
LOOK_SECONDS = 0.2  # between two looks at whether another reader's computation is over


class OnceCache(Generic[Progress, Result]):
    """Results by key, the `most` last asked for; safe for many threads. Who asks for what is on its way waits."""

    def __init__(self, most: int) -> None:
        self._kept: Recent[tuple[Result]] = Recent(most)
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
