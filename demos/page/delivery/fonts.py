"""Answers with the page's font files, each named by its content and so kept by browsers for ever."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from demos.figures.fonts.fonts import font_files
from demos.page.protection.answers import refuse
from demos.templates import templates

TEXT = templates(__file__, "fonts.html")
HEADERS = [
    (b"content-type", b"font/woff2"),
    (b"cache-control", b"public, max-age=31536000, immutable"),
]


def font_tags() -> str:
    """HTML for the page's `<head>`: what is fetched first, and a rule for each file."""
    return str(TEXT.tags(font_files()))


class Fonts:
    """ASGI middleware: a font file for its address, from memory; 404 for any other address in that folder."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.files = {f"/{file.address}": file.data for file in font_files()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/fonts/"):
            await self.app(scope, receive, send)
            return
        data = self.files.get(scope["path"])
        if data is None or scope["method"] not in {"GET", "HEAD"}:
            await refuse(send, 404, "There is no such address here.")
            return
        headers = [*HEADERS, (b"content-length", str(len(data)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": data if scope["method"] == "GET" else b""})
