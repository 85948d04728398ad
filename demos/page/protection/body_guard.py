"""A bound on what a request's body may hold."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from demos.page.protection.answers import Answer, refuse
from demos.training.data.upload_limit import MAX_UPLOAD

MEGABYTE = 2**20
MAX_BODY = 3 * MEGABYTE
UPLOAD_OVERHEAD = 64 * 2**10  # multipart's own boundary lines and headers
TOO_LARGE = (
    f"The request is too large: at most {MAX_BODY // MEGABYTE} MB of data, or {MAX_UPLOAD // MEGABYTE} MB for a file."
)


class _TooLargeError(Exception):
    """The body has run past its bound while it was being read."""


class BodyGuard:
    """ASGI middleware: 413 for a body over MAX_BODY, an upload over MAX_UPLOAD, by its header or as it streams in."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        limit = MAX_UPLOAD + UPLOAD_OVERHEAD if is_upload(scope) else MAX_BODY
        content_length = dict(scope["headers"]).get(b"content-length", b"0")
        if not content_length.isdigit() or int(content_length) > limit:
            await refuse(send, 413, TOO_LARGE, (b"connection", b"close"))
            return
        seen = 0
        answer = Answer(send)

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise _TooLargeError
            return message

        try:
            await self.app(scope, counted, answer.send)
        except _TooLargeError:
            if not answer.begun:
                await refuse(send, 413, TOO_LARGE, (b"connection", b"close"))


def is_upload(scope: Scope) -> bool:
    """Whether a request is to Gradio's route for files."""
    return bool(scope["path"].rstrip("/").endswith("/upload"))
