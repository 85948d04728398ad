"""The page with all terms and letters, at /glossary."""

from __future__ import annotations

from markupsafe import Markup
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.figures.palette import css_variables
from demos.files import read_beside
from demos.page.delivery.fonts import font_tags
from demos.page.glossary.glossary import TEXT, glossary, letters

ADDRESS = "/glossary"


def glossary_html() -> Markup:
    """The whole document, in the page's fonts and colours."""
    style = Markup(css_variables() + read_beside(__file__, "page.css"))
    return TEXT.page(glossary(), letters(), Markup(font_tags()), style)


class GlossaryPage:
    """ASGI middleware: the document for its address."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.answer = HTMLResponse(glossary_html(), headers={"cache-control": "no-cache"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_requested = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"} and scope["path"] == ADDRESS
        await (self.answer if is_requested else self.app)(scope, receive, send)
