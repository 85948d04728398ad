"""Answers on their way to a session, counted in bytes, with who listens for them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from gradio.utils import LRUCache

NUMBER_BYTES = 32  # of a float in a list
MESSAGE_BYTES = 500  # of a message by itself


def size(value: Any) -> int:
    """About how many bytes a JSON value takes in memory; a list of numbers by its length alone."""
    if isinstance(value, str | bytes):
        return len(value)
    if isinstance(value, Mapping):
        return sum(map(size, value.values())) + NUMBER_BYTES * len(value)
    if isinstance(value, list | tuple):
        if value and isinstance(value[0], int | float):
            return NUMBER_BYTES * len(value)
        return sum(map(size, value)) + NUMBER_BYTES * len(value)
    return NUMBER_BYTES


class Mailbox(asyncio.Queue):
    """One session's messages. `listeners` are the streams open for it, `left` when the last of them closed."""

    def __init__(self, owner: Mailboxes) -> None:
        super().__init__()
        self.owner: Mailboxes | None = owner
        self.bytes = 0
        self.listeners = 0
        self.heard = False  # whether anybody ever listened
        self.left = time.monotonic()
        self.turn = 0  # the last that its events were given (event_queue.py)

    def _put(self, item: Any) -> None:
        taken = MESSAGE_BYTES + size(getattr(item, "output", None))
        super()._put((item, taken))
        self._count(taken)

    def _get(self) -> Any:
        item, taken = super()._get()
        self._count(-taken)
        return item

    def _count(self, more: int) -> None:
        self.bytes += more
        if self.owner is not None:
            self.owner.bytes += more


class Mailboxes(LRUCache):
    """The mailboxes by session, in place of Gradio's: whatever queue it puts in becomes a `Mailbox`."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.bytes = 0

    def __setitem__(self, session: str, _: Any) -> None:
        while len(self) >= self.max_size:
            del self[self.longest_left() or next(iter(self))]
        super().__setitem__(session, Mailbox(self))

    def __delitem__(self, session: str) -> None:
        """Without an error where it is gone: two streams of one session both put it away."""
        if (box := self.pop(session, None)) is not None:
            self.bytes -= box.bytes
            box.owner = None

    def largest(self) -> str:
        """The session with the most to fetch, among those that nobody listens to where there are any such."""
        alone = {session: box.bytes for session, box in self.items() if box.bytes and not box.listeners}
        sizes = alone or {session: box.bytes for session, box in self.items()}
        return max(sizes, key=sizes.__getitem__)

    def longest_left(self) -> str | None:
        """The session that nobody has listened to for longest."""
        alone = [(box.left, session) for session, box in self.items() if not box.listeners]
        return min(alone)[1] if alone else None
