"""Bodies that are on their way: slow ones and too much at once are given up, the one that began first before others."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson  # Gradio requires it
from starlette.types import Message, Receive

from demos.errors import UserError
from demos.files import Json

MOST_AT_ONCE = 512  # bodies, whatever their bytes: each keeps a connection
SMALL_BODY_SECONDS = 10.0  # for one that `read_body` reads


class Coming:
    """The bytes of each body that have come so far, the body that began first at the front."""

    def __init__(self) -> None:
        self.bytes: OrderedDict[asyncio.Timeout, int] = OrderedDict()

    @asynccontextmanager
    async def counted(self, receive: Receive, seconds: float, most: int) -> AsyncIterator[Receive]:
        """`receive`, counted. Raises TimeoutError after so many seconds, or where all have `most` bytes together."""
        try:
            async with asyncio.timeout(seconds) as patience:
                self.bytes[patience] = 0
                if len(self.bytes) > MOST_AT_ONCE:
                    self._give_up_first()

                async def counting() -> Message:
                    message = await receive()
                    self.bytes[patience] = self.bytes.get(patience, 0) + len(message.get("body", b""))
                    while sum(self.bytes.values()) > most:
                        self._give_up_first()
                    return message

                yield counting
        finally:
            self.bytes.pop(patience, None)

    def _give_up_first(self) -> None:
        slowest, _ = self.bytes.popitem(last=False)
        slowest.reschedule(0)


async def read_body(receive: Receive, most_bytes: int, too_large: str) -> bytes:
    """A small body, whole; its first part if the sender hung up. Raises UserError: `too_large`, or for a slow one."""
    body = bytearray()
    try:
        async with asyncio.timeout(SMALL_BODY_SECONDS):
            while True:
                message = await receive()
                body += message.get("body", b"")
                if len(body) > most_bytes:
                    raise UserError(too_large)
                if not message.get("more_body"):
                    return bytes(body)
    except TimeoutError as error:
        raise UserError("The request did not come to its end.") from error


async def read_object(receive: Receive, most_bytes: int) -> Json:
    """The JSON object that was sent. Raises UserError for anything else, or one too large or too slow."""
    body = await read_body(receive, most_bytes, "The request is too large.")
    try:
        request = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise UserError("The body is not JSON.") from error
    if not isinstance(request, dict):
        raise UserError("The body must be a JSON object.")
    return request
