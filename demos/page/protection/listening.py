"""Streams of answers: who listens is known to the queue, and one that ends early is no fault of the app's."""

import logging
from urllib.parse import parse_qs

import orjson  # Gradio requires it
from gradio.route_utils import API_PREFIX
from gradio.server_messages import UnexpectedErrorMessage
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.page.protection.answers import Answer, refuse

DATA, CALL = f"{API_PREFIX}/queue/data", f"{API_PREFIX}/call/"
MOST_LISTENERS = 3  # of a session: a page has one, and for a moment two
TOO_MANY = f"This session already has {MOST_LISTENERS} open streams."
GONE = "There is nothing to fetch under this id: it was fetched already, or waited for longer than a minute."
log = logging.getLogger(__name__)


class Listening:
    """ASGI middleware around the two addresses at which answers are fetched."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith((DATA, CALL)):
            await self.app(scope, receive, send)
            return
        queue = scope["app"].get_blocks()._queue
        if not hasattr(queue, "listened"):  # Gradio's own (demos/page/protection/event_queue.py)
            await self.app(scope, receive, send)
            return
        of_page = scope["path"].startswith(DATA)
        session = _session_hash(scope) if of_page else queue.session_of(scope["path"].rstrip("/").rpartition("/")[2])
        box = queue.pending_messages_per_session.get(session)
        if box is None:
            await (_tell_gone(send) if of_page else refuse(send, 404, GONE))
            return
        if box.listeners >= MOST_LISTENERS:
            await refuse(send, 503, TOO_MANY)
            return
        answer = Answer(send)
        with queue.listened(box, session):
            try:
                await self.app(scope, receive, answer.send)
            except Exception:
                if not answer.begun:
                    raise
                log.debug("a stream of answers ended early", exc_info=True)
                await send({"type": "http.response.body", "body": b""})


def _session_hash(scope: Scope) -> str:
    return parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]


async def _tell_gone(send: Send) -> None:
    """As Gradio says it, so that its page begins a new session."""
    gone = UnexpectedErrorMessage(message=GONE, session_not_found=True).model_dump()
    headers = [(b"content-type", b"text/event-stream"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"data: " + orjson.dumps(gone) + b"\n\n"})
