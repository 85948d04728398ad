"""Gradio's heartbeats, one connection for each open page, bounded for each session and for all.

Whether anybody reads one can't be seen from here: its few bytes fit into the network's buffers for days. So where there
are too many, the oldest ends whose page has sent no request yet: it has nothing to lose.
"""

import asyncio
from collections import Counter
from collections.abc import Container

from gradio.route_utils import API_PREFIX
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from demos.page.protection.answers import refuse

HEARTBEAT = f"{API_PREFIX}/heartbeat/"
MOST = 1_000  # of all: a hall of three hundred with three pages each
OF_SESSION = 2
TOO_MANY = "There are too many open pages; this one works without a heartbeat."


class Heartbeats:
    """ASGI middleware: 503 for one heartbeat too many, where no other can go."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.open: dict[asyncio.Event, str] = {}  # the session by what ends its heartbeat, the oldest first
        self.of_session: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith(HEARTBEAT):
            await self.app(scope, receive, send)
            return
        session = scope["path"].rstrip("/").rpartition("/")[2]
        sessions = scope["app"].state_holder
        if hasattr(sessions, "open_pages"):  # it is ours (demos/page/patches/gradio_sessions.py)
            sessions.open_pages = self.of_session
        if self.of_session[session] >= OF_SESSION or not self._make_room(sessions):
            await refuse(send, 503, TOO_MANY)
            return
        over = asyncio.Event()
        self.open[over] = session
        self.of_session[session] += 1
        unended = False

        async def sent(message: Message) -> None:
            nonlocal unended
            unended = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        try:
            await self.app(scope, _until(over, receive), sent)
            if over.is_set() and unended:  # the app thought that the reader had left
                await send({"type": "http.response.body", "body": b""})
        finally:
            self.open.pop(over, None)
            self.of_session[session] -= 1
            if not self.of_session[session]:
                del self.of_session[session]

    def _make_room(self, sessions: Container[str]) -> bool:
        """Whether there is room for one more; the oldest one of a session that has sent no request may end for it."""
        if len(self.open) < MOST:
            return True
        idle = next((over for over, session in self.open.items() if session not in sessions), None)
        if idle is not None:
            del self.open[idle]
            idle.set()
        return idle is not None


def _until(over: asyncio.Event, receive: Receive) -> Receive:
    """`receive`, which says that the reader has left once `over` is set."""

    async def ending() -> Message:
        heard = asyncio.ensure_future(receive())
        ended = asyncio.ensure_future(over.wait())
        try:
            await asyncio.wait((heard, ended), return_when=asyncio.FIRST_COMPLETED)
            return {"type": "http.disconnect"} if over.is_set() else heard.result()
        finally:
            heard.cancel()
            ended.cancel()

    return ending
