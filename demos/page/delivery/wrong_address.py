"""The answer to an address that does not exist: a short page with a link for a browser, JSON for a program."""

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from demos.templates import templates

TEXT = templates(__file__, "wrong_address.html")


class WrongAddress:
    """ASGI middleware: in the place of a 404, the page, for a browser that was sent to the address itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not dict(scope["headers"]).get(b"accept", b"").startswith(b"text/html"):
            await self.app(scope, receive, send)
            return
        is_wrong = False

        async def send_page(message: Message) -> None:
            nonlocal is_wrong
            if message["type"] == "http.response.start" and message["status"] == 404:
                is_wrong = True
                home = "../" * (scope["path"].count("/") - 1) or "./"
                await HTMLResponse(TEXT.page(home), status_code=404)(scope, receive, send)
            elif not is_wrong:
                await send(message)

        await self.app(scope, receive, send_page)
