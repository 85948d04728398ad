"""Requests that Gradio can't make sense of: 400 and one sentence, and no traceback in the log.

Outside its queue Gradio reads what was sent and no more: an unknown page, a name longer than a file's may be, a form
without a file, and a reader who leaves in the middle of an upload are errors in Gradio there.
"""

import logging

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.page.protection.answers import Answer, refuse

UNREAD = "This request could not be read."
log = logging.getLogger(__name__)


class OddRequests:
    """ASGI middleware, the innermost: an answer that has begun goes on as Gradio has it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = Answer(send)
        try:
            await self.app(scope, receive, answer.send)
        except ClientDisconnect:
            log.debug("a reader left before the end of %s", scope["path"])
        except Exception as error:
            if answer.begun or scope["type"] != "http":
                raise
            log.warning("refused %s %.100r: %.200r", scope["method"], scope["path"], error)
            await refuse(send, 400, UNREAD)
