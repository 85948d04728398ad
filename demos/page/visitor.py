"""The sender of a request, by the signed cookie of a page with sign-in: the browser, and the account that is signed in.

Any program can send a request's other values if it knows them. Only this cookie comes from the browser itself.
"""

import secrets

from gradio import oauth
from gradio.context import LocalContext
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.training.export.publisher import Publisher

BROWSER = "browser"  # in the cookie: a key, drawn once


class NamedBrowsers:
    """ASGI middleware: a browser that opens a page gets its key, where the page has a cookie to keep it in.

    That is where readers can sign in: Gradio's own session, signed, and out of reach for scripts.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if "session" in scope and dict(scope["headers"]).get(b"accept", b"").startswith(b"text/html"):
            session = scope["session"]
            if BROWSER not in session:
                session[BROWSER] = secrets.token_urlsafe(18)
        await self.app(scope, receive, send)


def visitor() -> Publisher:
    """The sender of the request of the current event; nobody if the page has no such cookie."""
    request = getattr(LocalContext.request.get(None), "request", None)
    session = getattr(request, "scope", {}).get("session") or {}
    signed_in = oauth._get_valid_oauth_info_from_session(dict(session)) or {}
    return Publisher(session.get(BROWSER, ""), signed_in.get("userinfo", {}).get("preferred_username", ""))
