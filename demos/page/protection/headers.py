"""The headers on every answer: the sites that may show it in a frame, and the sources that it may load from."""

from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# 'unsafe-inline' and 'unsafe-eval': Gradio's page begins with scripts in its HTML, and it makes functions of our
# components' templates and of events' JavaScript. One font of its formulas, that of large brackets, is a data: address.
LOADS = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
    )
)
HEADERS = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"same-origin")]
PAGES = (b"text/html", b"image/svg+xml", b"application/xhtml+xml", b"application/xml", b"text/xml")
FRAMED_BY = "frame-ancestors 'self' https://huggingface.co https://*.hf.space"


class SecurityHeaders:
    """ASGI middleware: HEADERS on every answer, the policy on each that a browser may show as a page.

    `frames` are further origins whose pages may show the app in a frame (`--frame`).
    """

    def __init__(self, app: ASGIApp, frames: Sequence[str] = ()) -> None:
        self.app = app
        self.policy = (b"content-security-policy", "; ".join((LOADS, " ".join((FRAMED_BY, *frames)))).encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *HEADERS, *self._policy(message["headers"])]}
            await send(message)

        await self.app(scope, receive, headed)

    def _policy(self, headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
        kind = next((value for name, value in headers if name == b"content-type"), b"")
        return [self.policy] if kind.startswith(PAGES) else []
