"""The addresses of "Your questions": its panel, and the link and the QR code of a set that a lecturer composes."""

from collections.abc import Sequence

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.errors import UserError
from demos.files import Json, read_beside
from demos.page.lesson import Lesson
from demos.page.protection.coming import read_object
from demos.page.questions.question_file import questions
from demos.page.room.link_and_qr_code import qr_code, reachable
from demos.page.your_questions.catalogue import questions_of
from demos.templates import templates

PANEL, LINK = "/your-questions", "/your-questions/link"
MOST_BODY = 8_192
MOST_IN_CODE = 40  # questions: a QR code of more is too fine for a camera at the back of a hall
TEXT = templates(__file__)


class YourQuestions:
    """ASGI middleware: PANEL, and LINK for a POST of {base, names}. `host` is what the app listens at."""

    def __init__(self, app: ASGIApp, lessons: Sequence[Lesson], host: str) -> None:
        self.app, self.host = app, host
        self.panel = HTMLResponse(panel(lessons), headers={"cache-control": "no-cache"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = self.app
        if scope["type"] == "http" and scope["method"] in {"GET", "HEAD"} and scope["path"] == PANEL:
            answer = self.panel
        elif scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == LINK:
            answer = await self._link(Request(scope, receive))
        await answer(scope, receive, send)

    async def _link(self, request: Request) -> Response:
        """{base: the page's address in a browser, names: of questions} -> their link for others, and its QR code."""
        try:
            said = await read_object(request.receive, MOST_BODY)
            return JSONResponse(link_of(said.get("base"), said.get("names"), self.host))
        except UserError as error:
            return JSONResponse({"detail": str(error)}, status_code=422)


def panel(lessons: Sequence[Lesson]) -> str:
    """The document that holds the panel, which the page's script takes over."""
    style, script = (Markup(read_beside(__file__, f"panel.{kind}")) for kind in ("css", "js"))
    offered = [(lesson.tab, [(question.name, tab) for tab, question in questions_of(lesson)]) for lesson in lessons]
    return TEXT.panel(style, script, [(tab, parts) for tab, parts in offered if parts])


def link_of(base: object, names: object, host: str) -> Json:
    """{link, qr: "" for many questions, alone: whether nobody else reaches it}. Raises UserError for unknown names."""
    known = {question.name for question in questions().values()}
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name in known for name in names):
        raise UserError("There is no such question.")
    address = reachable(base, host)
    chosen = list(dict.fromkeys(names))
    link = f"{address or base}?review={','.join(chosen)}"
    return {"link": link, "qr": qr_code(link) if len(chosen) <= MOST_IN_CODE else "", "alone": not address}
