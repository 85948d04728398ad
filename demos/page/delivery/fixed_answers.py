"""Answers that are the same for everybody: the glossary, the finder's index, the fonts, the files of programs."""

from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.page.protection.answers import refuse

ASK_EACH_TIME = {"cache-control": "no-cache"}  # browsers check at each visit whether the answer has changed


class FixedAnswers:
    """ASGI middleware: GET and HEAD of an address get its answer; 404 for any other address in `folder`, if given."""

    def __init__(self, app: ASGIApp, answers: Mapping[str, Response], folder: str = "") -> None:
        self.app, self.answers, self.folder = app, answers, folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
        answer = self.answers.get(scope["path"]) if is_read else None
        if answer is None and self.folder and scope["type"] == "http" and scope["path"].startswith(self.folder):
            await refuse(send, 404, "There is no such address here.")
        else:
            await (answer or self.app)(scope, receive, send)
