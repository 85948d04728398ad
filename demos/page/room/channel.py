"""The events that a stream still has to send: the newest value under each name, so that a slow reader costs no more."""

import asyncio
from typing import Any

import orjson  # Gradio requires it


def encoded(name: str, value: Any) -> bytes:
    """One event on the wire: JSON with one name."""
    return b"data: " + orjson.dumps({name: value}) + b"\n\n"


class Channel:
    """One stream's events, in the order in which their names first came. For the event loop alone."""

    def __init__(self) -> None:
        self.waiting: dict[str, bytes] = {}
        self.news = asyncio.Event()
        self.is_over = False  # after what waits, nothing more

    def put(self, name: str, event: bytes) -> None:
        """Send this `encoded` event, in the place of one of the same name that still waits."""
        self.waiting[name] = event
        self.news.set()

    def end(self) -> None:
        """Send what waits, then end the stream."""
        self.is_over = True
        self.news.set()

    async def take(self) -> bytes:
        """All that waits, once there is something; b"" at the end."""
        await self.news.wait()
        self.news.clear()
        events = b"".join(self.waiting.values())
        self.waiting.clear()
        return events
