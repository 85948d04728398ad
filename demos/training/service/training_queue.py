"""A line for one machine: first come, first served, with a visible place, about how long it is, and bounded."""

from __future__ import annotations

import heapq
import math
import threading
import time

from demos.errors import UserError

MAX_WAITING = 120  # a lecture's hundred readers, and some who press twice
USUAL_SECONDS = 60.0  # of a training of which nothing is known


class TrainingQueue:
    """`slots` runs go at once; at most `waiting` more may wait in line."""

    def __init__(self, slots: int = 1, waiting: int = MAX_WAITING) -> None:
        self.slots = slots
        self.waiting = waiting
        self._tickets: list[Ticket] = []
        self._lock = threading.Lock()

    def join(self, seconds: float = USUAL_SECONDS) -> Ticket:
        """Take the last place, for a run of about so many seconds. Raises UserError where the line is full."""
        with self._lock:
            if len(self._tickets) >= self.slots + self.waiting:
                minutes = math.ceil(self._seconds_before(len(self._tickets)) / 60)
                raise UserError(
                    f"{len(self._tickets):,} training runs are running or waiting, for about {minutes} min; try "
                    "again later."
                )
            ticket = Ticket(self, seconds)
            self._tickets.append(ticket)
            self._begin()
            return ticket

    def place(self, ticket: Ticket) -> int:
        """0: it may run. 1: next, and so on. Raises ValueError for a ticket that has left."""
        with self._lock:
            return max(0, self._tickets.index(ticket) - self.slots + 1)

    def seconds_before(self, ticket: Ticket) -> float:
        """About how long until it may run. Raises ValueError for a ticket that has left."""
        with self._lock:
            return self._seconds_before(self._tickets.index(ticket))

    def _seconds_before(self, place: int) -> float:
        if place < self.slots:
            return 0.0
        now = time.monotonic()
        free = [max(0.0, ticket.ends - now) for ticket in self._tickets[: self.slots]]  # when each slot is
        heapq.heapify(free)
        for ticket in self._tickets[self.slots : place]:
            heapq.heapreplace(free, free[0] + ticket.seconds)
        return free[0]

    def leave(self, ticket: Ticket) -> None:
        """Give the place up, whether it ran or not."""
        with self._lock:
            if ticket in self._tickets:
                self._tickets.remove(ticket)
                self._begin()

    def _begin(self) -> None:
        """Note when those who may run by now will have ended."""
        for ticket in self._tickets[: self.slots]:
            if ticket.ends == math.inf:
                ticket.ends = time.monotonic() + ticket.seconds

    def __len__(self) -> int:
        return len(self._tickets)


class Ticket:
    """A place in a line, given up when its `with` block ends, however it ends."""

    def __init__(self, queue: TrainingQueue, seconds: float) -> None:
        self.queue = queue
        self.seconds = seconds
        self.ends = math.inf  # by time.monotonic, about; known once it may run

    @property
    def place(self) -> int:
        return self.queue.place(self)

    @property
    def seconds_before(self) -> float:
        return self.queue.seconds_before(self)

    def ends_in(self, seconds: float) -> None:
        """Its run knows better by now."""
        self.ends = time.monotonic() + seconds

    def __enter__(self) -> Ticket:
        return self

    def __exit__(self, *_: object) -> None:
        self.queue.leave(self)
