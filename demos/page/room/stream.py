"""A member's stream of server-sent events (HTML standard, section 9.2): the state first, then what changes."""

import asyncio

from starlette.types import Receive, Send

from demos.page.room.channel import Channel
from demos.page.room.room import Member, Room

BEAT_SECONDS = 15.0  # between two signs of life: proxies end what is silent for a minute
BEAT_NAME, BEAT = "beat", b": alive\n\n"
RETRY = b"retry: 1500\n\n"  # milliseconds after which a browser tries again
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),  # nginx, as on Spaces, passes events on at once
]


async def stream(room: Room, member: Member, receive: Receive, send: Send) -> None:
    """Send until the reader leaves, reads no more, or the room is over."""
    channel = room.listen(member)
    works = _written(channel, send), _left(receive), _stuck(room, channel)  # the first to end ends all
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        room.unlisten(member, channel)


async def _written(channel: Channel, send: Send) -> None:
    """Send what comes, to the end of the stream. Nothing here sets a clock: three hundred would at each event."""
    try:
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        events = RETRY
        while True:
            await send({"type": "http.response.body", "body": events, "more_body": True})
            if channel.is_over and not channel.waiting:
                break
            events = await channel.take()
        await send({"type": "http.response.body", "body": b""})
    except OSError:
        pass  # nobody reads: the server closes the connection behind an answer that has no end


async def _left(receive: Receive) -> None:
    """Wait until the reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _stuck(room: Room, channel: Channel) -> None:
    """Give signs of life, until one is not taken before the next is due."""
    while BEAT_NAME not in channel.waiting:
        channel.put(BEAT_NAME, BEAT)
        await asyncio.sleep(BEAT_SECONDS)
        if room.ends <= room.clock():
            room.close()
