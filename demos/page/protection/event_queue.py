"""Gradio's queue of events, bounded for each session and fair among them; a session that does not listen loses its
place.

Gradio keeps every answer until it is fetched and lets any session fill the queue. Here answers that nobody fetches are
bounded in bytes and time, a session has so many events at once, sessions take turns (start-time fair queueing: Goyal,
Vin and Cheng, 1996), and what streams, a training, starts once somebody listens. All on the event loop.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradio import queueing, skip
from gradio.server_messages import (
    EstimationMessage,
    EventMessage,
    LogMessage,
    ProcessCompletedMessage,
    ProgressMessage,
)
from gradio.utils import run_coro_in_background

from demos.page.protection.mailboxes import Mailbox, Mailboxes

MEGABYTE = 2**20
MOST_EVENTS = 64  # of a session, waiting or running: a page that is opened posts eight
MOST_STREAMS = 512  # of all sessions, in line: a hall of three hundred that trains at once
MOST_PARKED = 256  # of all sessions: streams that wait for somebody to listen
MOST_UNHEARD = 256  # sessions that posted and have not listened yet: each has states, and pushes others' out
MOST_SESSIONS = 2_000  # with something to fetch, as Gradio has it
SESSION_BYTES = 24 * MEGABYTE  # of answers that wait for one session
ALL_BYTES = 96 * MEGABYTE  # and for all
UNFETCHED_SECONDS = 60.0  # that an answer is kept, or an event waits, without a listener
LOOK_SECONDS = 5.0  # between two looks for such
PLACES_SECONDS = 0.5  # between two tellings of the places in line
FEW = 8  # messages about the place in line for a session that does not listen
TOO_MANY = f"This page has {MOST_EVENTS} requests in progress; wait until they are finished."
TOO_LONG = "Too many are waiting for this already; try again in a minute."
SMALL_TALK = EstimationMessage, ProgressMessage, LogMessage


class Events(dict[str, queueing.Event]):
    """Gradio's events by id, waiting and running; and how many each session has."""

    def __init__(self) -> None:
        super().__init__()
        self.of_session: Counter[str] = Counter()

    def __setitem__(self, event_id: str, event: queueing.Event) -> None:
        super().__setitem__(event_id, event)
        self.of_session[event.session_hash] += 1

    def pop(self, event_id: str, *default: Any) -> Any:
        event = super().pop(event_id, None)
        if event is not None:
            self.of_session[event.session_hash] -= 1
            if not self.of_session[event.session_hash]:
                del self.of_session[event.session_hash]
        return event


class EventIds(dict[str, set[str]]):
    """Gradio's ids of events that are not answered yet, by session; none for one that has left."""

    def __missing__(self, session: str) -> set[str]:
        return set()


class BoundedQueue(queueing.Queue):
    """One for the app; see above."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pending_messages_per_session: Mailboxes = Mailboxes(MOST_SESSIONS)
        self.event_ids_to_events: Events = Events()
        self.pending_event_ids_session: EventIds = EventIds()
        self.parked: dict[str, list[queueing.Event]] = {}  # by session, the oldest first
        self.unheard: dict[str, None] = {}  # sessions that have not listened yet, the oldest first
        self.turn = 0  # of the event that was started last
        self.places_sent_at: dict[str, float] = {}  # when, by line

    def start(self) -> None:
        super().start()
        run_coro_in_background(self._look_for_left)

    async def push(self, body: Any, request: Any, username: str | None) -> tuple[bool, Any, Any]:
        if self.event_ids_to_events.of_session[body.session_hash] >= MOST_EVENTS:
            return False, TOO_MANY, "queue_full"
        if self.blocks.fns[body.fn_index].types_generator and self._streams_in_line() >= MOST_STREAMS:
            return False, TOO_LONG, "queue_full"
        if self.max_size is not None and len(self) >= self.max_size:
            await self._drop(self._longest_waiting() or self._with_most_in_line(body.session_hash))
        pushed = await super().push(body, request, username)
        event = self.event_ids_to_events.get(pushed[1]) if pushed[0] else None
        if event is not None:
            box = self.pending_messages_per_session[event.session_hash]
            box.left = time.monotonic()
            box.turn = event.turn = max(self.turn, box.turn) + 1
            if event.fn.types_generator and not box.listeners:
                await self._park(event)
            if not box.heard:
                self.unheard[event.session_hash] = None
                if len(self.unheard) > MOST_UNHEARD:
                    await self._drop(next(iter(self.unheard)))
        return pushed

    def get_events(self) -> tuple[list[queueing.Event], bool, str] | None:
        """The event whose turn it is, of a line that has a free place; those that are listened for go first."""
        lines = list(self.event_queue_per_concurrency_id.values())
        random.shuffle(lines)
        for line in lines:
            if line.queue and (line.concurrency_limit is None or line.current_concurrency < line.concurrency_limit):
                event = min(line.queue, key=self._order)  # of equals the first, which came first
                line.queue.remove(event)
                self.turn = max(self.turn, getattr(event, "turn", 0))
                return [event], False, line.concurrency_id
        return None

    def broadcast_estimations(self, concurrency_id: str, after: int | None = None) -> None:
        """Everyone's place in a line, a few times a second: Gradio sends it to all at each event that begins."""
        now = time.monotonic()
        if after is None:
            if now - self.places_sent_at.get(concurrency_id, 0.0) < PLACES_SECONDS:
                return
            self.places_sent_at[concurrency_id] = now
        super().broadcast_estimations(concurrency_id, after)

    def send_message(self, event: queueing.Event, event_message: EventMessage) -> None:
        box = self.pending_messages_per_session.get(event.session_hash)
        if box is None:  # it has lost its place; a generator ends at its next yield
            event.alive = False
            return
        if not box.listeners and isinstance(event_message, SMALL_TALK) and box.qsize() >= FEW:
            return
        super().send_message(event, _without_repetition(event, event_message))
        if isinstance(event_message, SMALL_TALK):
            return
        if box.bytes > SESSION_BYTES:
            self._drop_soon(event.session_hash)
        while self.pending_messages_per_session.bytes > ALL_BYTES:
            self._drop_soon(self.pending_messages_per_session.largest())

    async def process_events(self, events: list[queueing.Event], *arguments: Any) -> None:
        await super().process_events(events, *arguments)
        for event in events:
            if event.session_hash == event._id:  # a call without a session: its states belong to no session
                self._forget_states(event._id)

    @contextmanager
    def listened(self, box: Mailbox, session: str) -> Iterator[None]:
        """While somebody listens for what this mailbox holds: what waits for that may start."""
        box.listeners += 1
        box.heard = True
        self.unheard.pop(session, None)
        for event in self.parked.pop(session, []):
            self.event_queue_per_concurrency_id[event.concurrency_id].queue.append(event)
        try:
            yield
        finally:
            box.listeners -= 1
            box.left = time.monotonic()

    def session_of(self, event_id: str) -> str:
        """The session that an event is of, answered or not; its own id where a caller gave none."""
        if (event := self.event_ids_to_events.get(event_id)) is not None:
            return event.session_hash
        named = (session for session, ids in self.pending_event_ids_session.items() if event_id in ids)
        return next(named, event_id)

    async def remove_from_queue(self, event_id: str) -> None:
        event = self.event_ids_to_events.get(event_id)
        if event is not None and event in self.parked.get(event.session_hash, []):
            self.parked[event.session_hash].remove(event)
            self.event_ids_to_events.pop(event_id)
        await super().remove_from_queue(event_id)

    async def clean_events(self, *, session_hash: str | None = None, event_id: str | None = None) -> None:
        for event in self.parked.pop(session_hash or "", []):
            self.event_ids_to_events.pop(event._id)
        await super().clean_events(session_hash=session_hash, event_id=event_id)

    async def _park(self, event: queueing.Event) -> None:
        self.event_queue_per_concurrency_id[event.concurrency_id].queue.remove(event)
        self.parked.setdefault(event.session_hash, []).append(event)
        if sum(map(len, self.parked.values())) > MOST_PARKED:
            await self._drop(next(iter(self.parked)))

    def _order(self, event: queueing.Event) -> tuple[bool, int]:
        box = self.pending_messages_per_session.get(event.session_hash)
        return box is None or not box.listeners, getattr(event, "turn", 0)

    def _in_line(self) -> Iterator[queueing.Event]:
        for line in self.event_queue_per_concurrency_id.values():
            yield from line.queue

    def _streams_in_line(self) -> int:
        return sum(event.fn.types_generator for event in self._in_line())

    def _with_most_in_line(self, session: str) -> str | None:
        """The session with the most events in line; None where that is not more than `session` has with one more."""
        counts = Counter(event.session_hash for event in self._in_line())
        name, most = counts.most_common(1)[0]
        return name if most > counts[session] + 1 else None

    def _longest_waiting(self) -> str | None:
        """The session with an event in line that nobody has listened to for longest."""
        boxes = self.pending_messages_per_session
        waiting = {event.session_hash for event in self._in_line()}
        alone = [(boxes[name].left, name) for name in waiting if name in boxes and not boxes[name].listeners]
        return min(alone)[1] if alone else None

    def _drop_soon(self, session: str) -> None:
        del self.pending_messages_per_session[session]
        run_coro_in_background(self._drop, session)

    async def _drop(self, session: str | None) -> None:
        """This session's answers and events are forgotten."""
        if session is not None:
            del self.pending_messages_per_session[session]
            await self.clean_events(session_hash=session)
            self.pending_event_ids_session.pop(session, None)
            if session in self.unheard:
                del self.unheard[session]
                self._forget_states(session)

    def _forget_states(self, session: str) -> None:
        self.blocks.state_holder.session_data.pop(session, None)
        self.blocks.state_holder.time_last_used.pop(session, None)

    async def _look_for_left(self) -> None:
        while not self.stopped:
            await asyncio.sleep(LOOK_SECONDS)
            before = time.monotonic() - UNFETCHED_SECONDS
            for session, box in list(self.pending_messages_per_session.items()):
                if not box.listeners and box.left < before:
                    await self._drop(session)


def _without_repetition(event: queueing.Event, message: EventMessage) -> EventMessage:
    """Gradio ends what streams by its last values once more; the page has them, and would draw them again.

    A program, which may read the end alone, gets them.
    """
    ends = isinstance(message, ProcessCompletedMessage) and "data" in message.output
    if not ends or not event.fn.types_generator or event.fn.api_visibility != "private":
        return message
    output = {**message.output, "data": [skip()] * len(message.output["data"])}
    return message.model_copy(update={"output": output})
