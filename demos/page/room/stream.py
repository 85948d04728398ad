"""A member's stream of server-sent events (HTML standard, section 9.2): the state first, then what changes."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import Receive, Send

from demos.page.room.channel import Channel
from demos.page.room.room import Member, Room

BEAT_SECONDS = 15.0  # between two signs of life: proxies end what is silent for a minute
STUCK_SECONDS = 20.0  # that a reader may take to receive what was sent
BEAT = b": alive\n\n"
RETRY = b"retry: 1500\n\n"  # milliseconds after which a browser asks again
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx, as on Spaces, hands on what comes
]


async def stream(room: Room, member: Member, receive: Receive, send: Send) -> None:
    """Send until the reader leaves, reads no more, or the room is over."""
    channel = room.listen(member)
    leaving = asyncio.create_task(_left(channel, receive))
    try:
        async with asyncio.timeout(STUCK_SECONDS):
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        events = RETRY
        while True:
            async with asyncio.timeout(STUCK_SECONDS):
                await send({"type": "http.response.body", "body": events, "more_body": True})
            if channel.is_over and not channel.waiting:
                break
            events = await channel.take(BEAT_SECONDS) or BEAT
            if room.ends <= room.clock():
                room.close()
        await send({"type": "http.response.body", "body": b""})
    except (TimeoutError, OSError):
        pass  # nobody reads: the server closes the connection behind an answer that has no end
    finally:
        leaving.cancel()
        with suppress(asyncio.CancelledError):
            await leaving
        room.unlisten(member, channel)


async def _left(channel: Channel, receive: Receive) -> None:
    """End the stream once its reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    channel.waiting.clear()
    channel.end()
