"""The host of a request and the length of its body: a request whose headers can be read in two ways is refused.

A proxy in front of the app may read it the other way, and take a part of the body for the next reader's request. Gradio
believes one more header, of a server that this app is without, and keeps the host of the first request.
"""

import re
from contextvars import ContextVar
from typing import Any

from starlette._utils import get_route_path
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.page.protection.answers import refuse

API_INFO: ContextVar[Any] = ContextVar("API_INFO", default=None)  # of the request under way
HOST = re.compile(rb"(?:[\w.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?", re.ASCII)
TWO_ENDS = "The request gives the length of its body in two ways."
NO_HOST = "The request names no valid host."
UNHEARD = b"x-gradio-server"  # the page's whole address, as Gradio's own Node server says it


class Addresses:
    """ASGI middleware: 400 for what is no host (of several forwarded ones each), and for a body with two ends.

    Handed on is no other header that names a host, and the path without `--root-path`: by that all guards know it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            if wrong := _wrong(scope["headers"]):
                await refuse(send, 400, wrong, (b"connection", b"close"))
                return
            while (path := get_route_path(scope)) and path != scope["path"]:  # Starlette's router does so again
                scope = {**scope, "path": path}
            scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != UNHEARD]}
        await self.app(scope, receive, send)


def _wrong(headers: list[tuple[bytes, bytes]]) -> str:
    """The fault in a request's headers; "" if there is none."""
    names = [name for name, _ in headers]
    if b"content-length" in names and b"transfer-encoding" in names:
        return TWO_ENDS
    hosts = [value for name, value in headers if name == b"host"]
    hosts += [host.strip() for name, value in headers if name == b"x-forwarded-host" for host in value.split(b",")]
    return "" if all(map(HOST.fullmatch, hosts)) else NO_HOST


def _note_info(_: Any, info: Any) -> None:
    API_INFO.set(info)


# `App.api_info`, so that Gradio describes the API with each request's own host, not the first one's for all.
API_INFO_OF_REQUEST = property(lambda _: API_INFO.get(), _note_info)
