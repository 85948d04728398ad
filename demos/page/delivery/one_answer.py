"""One answer that is the same for everybody, at its address: the glossary, the finder's index."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send


class OneAnswer:
    """ASGI middleware: `answer` for GET and HEAD of `address`; browsers check each time whether it has changed."""

    def __init__(self, app: ASGIApp, address: str, answer: Response) -> None:
        self.app, self.address, self.answer = app, address, answer
        answer.headers["cache-control"] = "no-cache"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_requested = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"} and scope["path"] == self.address
        await (self.answer if is_requested else self.app)(scope, receive, send)
