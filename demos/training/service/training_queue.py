"""The line for the one machine: first come, first served, with a visible place, and bounded."""

from __future__ import annotations

import threading
from types import TracebackType

from demos.errors import UserError

MAX_WAITING = 8


class TrainingQueue:
    """`slots` runs go at once; at most `waiting` more may stand in line."""

    def __init__(self, slots: int = 1, waiting: int = MAX_WAITING) -> None:
        self.slots = slots
        self.waiting = waiting
        self._tickets: list[Ticket] = []
        self._lock = threading.Lock()

    def join(self) -> Ticket:
        """Take the last place. Raises UserError where the line is full."""
        with self._lock:
            if len(self._tickets) >= self.slots + self.waiting:
                raise UserError(f"{len(self._tickets):,} trainings run or wait already; try again in a minute.")
            ticket = Ticket(self)
            self._tickets.append(ticket)
            return ticket

    def place(self, ticket: Ticket) -> int:
        """0: it may run. 1: next, and so on. Raises ValueError for a ticket that has left."""
        with self._lock:
            return max(0, self._tickets.index(ticket) - self.slots + 1)

    def leave(self, ticket: Ticket) -> None:
        """Give the place up, whether it ran or not."""
        with self._lock:
            if ticket in self._tickets:
                self._tickets.remove(ticket)

    def __len__(self) -> int:
        return len(self._tickets)


class Ticket:
    """A place in a line, given up when its `with` block ends, however it ends."""

    def __init__(self, queue: TrainingQueue) -> None:
        self.queue = queue

    @property
    def place(self) -> int:
        return self.queue.place(self)

    def __enter__(self) -> Ticket:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.queue.leave(self)
