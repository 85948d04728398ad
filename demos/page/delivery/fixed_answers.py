"""Answers that are the same for everybody: the glossary, the finder's index, the fonts, the files of programs."""

from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.page.protection.answers import refuse

ASK_EACH_TIME = {"cache-control": "no-cache"}  # browsers check at each visit whether the answer has changed


class FixedAnswers:
    """ASGI middleware: GET and HEAD of an address get its answer; 404 for any other address in `folders`."""

    def __init__(self, app: ASGIApp, answers: Mapping[str, Response], folders: tuple[str, ...] = ()) -> None:
        self.app, self.answers, self.folders = app, answers, folders

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_read = scope["type"] == "http" and scope["method"] in {"GET", "HEAD"}
        answer = self.answers.get(scope["path"]) if is_read else None
        if answer is None and scope["type"] == "http" and scope["path"].startswith(self.folders):
            await refuse(send, 404, "There is no such address here.")
        else:
            await (answer or self.app)(scope, receive, send)
