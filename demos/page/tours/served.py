"""The addresses of tours: the bundled ones as data, a reader's own file read and checked, the speaker's notes."""

from collections.abc import Mapping, Sequence
from functools import partial

from anyio import to_thread
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.errors import UserError
from demos.figures.palette import css_variables
from demos.files import read_beside
from demos.lecturer_files import decoded
from demos.page.delivery.fonts import font_tags
from demos.page.protection.coming import read_body
from demos.page.tours.checks import Place, check_tour
from demos.page.tours.tour_file import LONGEST, MOST_BYTES, MOST_STOPS, Tour, as_json, parse_tour
from demos.templates import templates

READ, NOTES, EDITOR = "/tours/read", "/tour-notes", "/tour-editor"
LONGEST_NAME = 100  # characters of a file's name that an answer repeats
TEXT = templates(__file__)


class Tours:
    """ASGI middleware: /tours/NAME.json, /tours/read for a POST of a file's text, NOTES and EDITOR."""

    def __init__(self, app: ASGIApp, tours: Sequence[Tour], places: Mapping[str, Place]) -> None:
        self.app = app
        self.places = places
        self.answers: dict[str, Response] = {
            f"/tours/{tour.name}.json": JSONResponse(as_json(tour), headers={"cache-control": "no-cache"})
            for tour in tours
        }
        for address, page in ((NOTES, notes_page()), (EDITOR, editor_page())):
            self.answers[address] = HTMLResponse(page, headers={"cache-control": "no-cache"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: ASGIApp = self.app
        if scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}:
            answer = self.answers.get(scope["path"], self.app)
        elif scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == READ:
            answer = await self._read(Request(scope, receive))
        await answer(scope, receive, send)

    async def _read(self, request: Request) -> Response:
        """{"tour": ...} of a text that is one, else {"fault": its first fault, in one sentence}."""
        file = request.query_params.get("file", "")[:LONGEST_NAME] or "tour.md"
        try:
            body = await read_body(request.receive, MOST_BYTES, f"{file}: a tour has at most {MOST_BYTES // 1000} kB.")
        except UserError as error:
            return JSONResponse({"fault": str(error)})
        return JSONResponse(await to_thread.run_sync(partial(read_text, file, body, self.places)))


def read_text(file: str, body: bytes, places: Mapping[str, Place]) -> dict[str, object]:
    """The tour in a reader's file, checked against the pages; or its fault, with the line."""
    try:
        tour = parse_tour(file, decoded(file, body))
        check_tour(tour, places)
    except UserError as error:
        return {"fault": str(error)}
    return {"tour": as_json(tour)}


def notes_page() -> str:
    """The document of the speaker's second window, in the page's fonts and colours."""
    style = Markup(css_variables() + read_beside(__file__, "notes.css"))
    return TEXT.notes(Markup(font_tags()), style, Markup(read_beside(__file__, "notes.js")))


def editor_page() -> str:
    """The document that holds the editor of a reader's own tour, which the page's script takes over."""
    style, script = (Markup(read_beside(__file__, f"editor.{kind}")) for kind in ("css", "js"))
    return TEXT.editor(style, script, MOST_STOPS, LONGEST, MOST_BYTES)
