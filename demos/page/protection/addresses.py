"""Which host a request is for, and where its body ends: what can be read in two ways is refused.

A proxy in front of the app may read it the other way, and take a part of the body for the next reader's request.
"""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from demos.page.protection.answers import refuse

HOST = re.compile(rb"(?:[\w.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?", re.ASCII)
TWO_ENDS = "The request says in two ways where its body ends."
NO_HOST = "The request is for no host."


class Addresses:
    """ASGI middleware: 400 for what is no host (of several forwarded ones each), and for a body with two ends."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (wrong := _wrong(scope["headers"])):
            await refuse(send, 400, wrong, (b"connection", b"close"))
            return
        await self.app(scope, receive, send)


def _wrong(headers: list[tuple[bytes, bytes]]) -> str:
    """What is wrong with a request's headers, "" where nothing is."""
    names = [name for name, _ in headers]
    if b"content-length" in names and b"transfer-encoding" in names:
        return TWO_ENDS
    hosts = [value for name, value in headers if name == b"host"]
    hosts += [one.strip() for name, value in headers if name == b"x-forwarded-host" for one in value.split(b",")]
    return "" if all(map(HOST.fullmatch, hosts)) else NO_HOST
