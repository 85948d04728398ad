"""All rooms, by their codes: at most 20, each for four hours."""

import asyncio
import secrets
import threading
import time
from collections.abc import Callable, Collection

from demos.errors import UserError
from demos.page.room.limits import Allowance
from demos.page.room.room import Room, TooOftenError

MOST_ROOMS = 20
ROOM_SECONDS = 4 * 3_600.0
LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ"  # none that looks like another or like a digit
CODE_LENGTH = 4


class NoRoomError(UserError):
    """No room has this code."""


class Rooms:
    """See above. For the event loop alone, but for `end`, and for a look at `rooms`.

    `first` is the letter that all codes begin with, if any. Raises UserError for another letter.
    """

    def __init__(self, lessons: Collection[str], first: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        if not (first == "" or (len(first) == 1 and first in LETTERS)):
            raise UserError(f"The first letter of rooms is one of {LETTERS}.")
        self.lessons, self.first, self.clock = frozenset(lessons), first, clock
        self.rooms: dict[str, Room] = {}
        self.opening = Allowance(MOST_ROOMS, 0.2, clock)
        self.loop: asyncio.AbstractEventLoop | None = None  # where there is a room

    def open(self) -> Room:
        """A new room. Raises UserError where there are too many; one that nobody is in gives way."""
        if not self.opening.take():
            raise TooOftenError("Many rooms are being opened; try again in a minute.")
        self._sweep()
        if len(self.rooms) >= MOST_ROOMS:
            empty = next((room for room in self.rooms.values() if room.is_empty), None)
            if empty is None:
                raise UserError(f"There are {MOST_ROOMS} rooms already, and people are in all of them.")
            self.close(empty)
        room = Room(self._code(), self.lessons, self.clock() + ROOM_SECONDS, self.clock)
        self.rooms[room.code] = room
        self.loop = asyncio.get_running_loop()
        return room

    def _code(self) -> str:
        while True:
            drawn = (secrets.choice(LETTERS) for _ in range(CODE_LENGTH - len(self.first)))
            code = self.first + "".join(drawn)
            if code not in self.rooms:
                return code

    def room(self, code: object) -> Room:
        """By its code, in small letters too. Raises NoRoomError."""
        self._sweep()
        room = self.rooms.get(code.strip().upper()) if isinstance(code, str) and len(code) < 20 else None
        if room is None:
            raise NoRoomError("There is no room with this code; it may be over.")
        return room

    def close(self, room: Room) -> None:
        """The room is over, and nothing of it is kept."""
        room.close()
        self.rooms.pop(room.code, None)

    def _sweep(self) -> None:
        for room in [room for room in self.rooms.values() if room.ends <= self.clock()]:
            self.close(room)

    def end(self, seconds: float) -> None:
        """Close all rooms from another thread, as the program ends; waits at most so long until their streams have the
        news.
        """
        if self.loop is None or not self.loop.is_running():
            return
        finished = threading.Event()

        def close_all() -> None:
            for room in list(self.rooms.values()):
                self.close(room)
            assert self.loop is not None
            self.loop.call_later(0.1, finished.set)  # a few turns of the loop, in which the streams send it

        self.loop.call_soon_threadsafe(close_all)
        finished.wait(seconds)
