"""Only our own page may change anything with a reader's browser: requests that other pages make it send are refused.

On a Space a signed-in reader's cookie is sent from every page, and Gradio lets every page read the answers to its
requests there. A browser says with each request which page made it (`Sec-Fetch-Site`, or `Origin` where that is not
sent); a program that calls the API sends neither, and is let in. A page that frames ours sends no request itself.
"""

from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.page.protection.answers import refuse

SAFE = frozenset({"GET", "HEAD"})
SIGN_OUT = "/logout"  # by GET, in Gradio
OWN = frozenset({b"same-origin", b"none"})  # none: typed in, or a bookmark
FOREIGN = "Another web page sent this request. Open the app itself, or call its API from a program."


class OriginGuard:
    """ASGI middleware: 403 for what another page would change."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        changes = scope["type"] == "http" and (scope["method"] not in SAFE or scope["path"].rstrip("/") == SIGN_OUT)
        if changes and is_foreign(scope["headers"]):
            await refuse(send, 403, FOREIGN)
            return
        await self.app(scope, receive, send)


def is_own_page(_: Any, request_headers: Headers) -> bool:
    """`CustomCORSMiddleware.is_valid_origin`: this app's own pages alone may read an answer, on every host."""
    return not is_foreign(request_headers.raw)


def is_foreign(headers: list[tuple[bytes, bytes]]) -> bool:
    """Whether a browser sends this for a page of another origin."""
    header_values = dict(headers)
    if site := header_values.get(b"sec-fetch-site"):
        return site not in OWN
    if (origin := header_values.get(b"origin")) is None:
        return False
    hosts = {header_values.get(b"host"), header_values.get(b"x-forwarded-host")}
    return urlsplit(origin.decode("latin-1")).netloc.encode("latin-1") not in hosts
