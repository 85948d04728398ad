"""Uploads while they come: slow ones and too much at once are given up, and the rest of a broken one is deleted.

Gradio writes a file while it comes in, and leaves it where the reader hangs up or the form is not Gradio's. A file
that arrived whole counts in `Uploads`, for the sessions whose events then name it.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import orjson  # Gradio requires it
from gradio.route_utils import API_PREFIX
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from demos.page.protection import upload_quota
from demos.page.protection.answers import Answer, refuse
from demos.page.protection.coming import Coming
from demos.page.protection.request_check import JOIN
from demos.page.protection.upload_quota import Uploads

UPLOAD = f"{API_PREFIX}/upload"
UPLOAD_SECONDS = 300.0  # in which a file is sent: 5 MB at 17 kB a second
MOST_PROGRESSES = 1_000  # uploads of which Gradio notes how far they are
GIVEN_UP = "The upload took too long, or too many uploads were in progress; try again."
WRITTEN: ContextVar[list[Any]] = ContextVar("WRITTEN")  # the files that a request has had Gradio write


class Uploading:
    """ASGI middleware around uploads, and around the events that may name one."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.uploads = Uploads()
        self.coming = Coming()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].rstrip("/") if scope["type"] == "http" and scope["method"] == "POST" else ""
        if path == UPLOAD:
            await self._upload(scope, receive, send)
        else:
            await self.app(scope, self._noted(scope, receive) if path == JOIN else receive, send)

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = Answer(send)
        written: list[Any] = []
        WRITTEN.set(written)
        try:
            async with self.coming.counted(receive, UPLOAD_SECONDS, upload_quota.MOST_BYTES) as counted:
                await self.app(scope, counted, answer.send)
        except TimeoutError:
            if not answer.begun:
                await refuse(send, 408, GIVEN_UP, (b"connection", b"close"))
        finally:
            for file in written:
                file.close()
                Path(file.name).unlink(missing_ok=True)  # a file that arrived whole has another name by now
        uploaded = scope["app"].get_blocks().upload_file_set
        uploaded -= self.uploads.add(uploaded - self.uploads.sizes.keys())

    def _noted(self, scope: Scope, receive: Receive) -> Receive:
        """`receive`, with the files noted that the event names; `RequestCheck` hands its body on in one message."""

        async def noted() -> Message:
            message = await receive()
            if b'"path"' in message.get("body", b""):
                values = orjson.loads(message["body"])
                gone = self.uploads.use(str(values.get("session_hash")), set(_paths(values.get("data"))))
                uploaded = scope["app"].get_blocks().upload_file_set
                uploaded -= gone
            return message

        return noted


def _paths(value: Any) -> Iterator[str]:
    """The paths of the files in an event's values."""
    if isinstance(value, list):
        for item in value:
            yield from _paths(item)
    elif isinstance(value, dict):
        if isinstance(path := value.get("path"), str):
            yield path
        for item in value.values():
            yield from _paths(item)


def named_file(*arguments: Any, **options: Any) -> Any:
    """`NamedTemporaryFile` as Gradio calls it, noted for the request that it is written for."""
    file = NamedTemporaryFile(*arguments, **options)  # noqa: SIM115  # Gradio closes it
    WRITTEN.get([]).append(file)
    return file


class Newest(OrderedDict[str, Any]):
    """Values by upload, of the newest alone; of an unknown one an event that waits for it, as Gradio makes them."""

    def __setitem__(self, upload: str, value: Any) -> None:
        super().__setitem__(upload, value)
        if len(self) > MOST_PROGRESSES:
            self.popitem(last=False)

    def __missing__(self, upload: str) -> asyncio.Event:
        self[upload] = event = asyncio.Event()
        return event


STATUSES, SIGNALS = Newest(), Newest()  # of the uploads by their ids, in the place of Gradio's own


def path_alone(_: Any, file: Any) -> str:
    """`gr.File._process_single_file`, without the empty file that it makes for each event and never deletes."""
    return str(file.path)
