"""The room's addresses, beside Gradio's: small JSON requests, one stream of events a member, and the page's files.

Each names its room in the query, so that a proxy in front of several servers can send it to the room's own. A key goes
in a body; the stream's, which leads nothing, in the query, since a browser's EventSource sends no body.
"""

import hashlib
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

import orjson  # Gradio requires it
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.errors import UserError
from demos.figures.palette import PALETTE
from demos.files import Json, read_beside
from demos.page.protection.answers import refuse
from demos.page.protection.coming import read_object
from demos.page.room.link_and_qr_code import qr_code, reachable
from demos.page.room.room import Room, TooOftenError, WrongKeyError
from demos.page.room.rooms import NoRoomError, Rooms
from demos.page.room.runs import RoomRuns
from demos.page.room.stream import stream
from demos.templates import templates

TEXT = templates(__file__)
PLACE = "/room/"
MOST_BODY = 16_384
STATUS: dict[type[UserError], int] = {NoRoomError: 404, WrongKeyError: 403, TooOftenError: 429}
SCRIPTS = "leader.js", "lists.js", "member.js", "parts.js", "record.js", "report.js"
log = logging.getLogger(__name__)


class RoomRoutes:
    """ASGI middleware: all that begins with /room/. `host` is what the app listens at."""

    def __init__(self, app: ASGIApp, rooms: Rooms, host: str, runs: RoomRuns) -> None:
        self.app, self.rooms, self.host, self.runs = app, rooms, host, runs
        self.files = {name: (b"text/javascript", read_beside(__file__, name).encode()) for name in SCRIPTS}
        self.files["style.css"] = b"text/css", read_beside(__file__, "style.css").encode()
        self.files["parts.html"] = b"text/html; charset=utf-8", str(TEXT.parts(PALETTE["light"])).encode()
        self.posts: dict[str, Callable[[Json, str], Any]] = {
            "open": self._open,
            "join": self._join,
            "leave": self._leave,
            "say": self._say,
            "try": self._try,
            "label": self._label,
            "lead": self._lead,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PLACE):
            await self.app(scope, receive, send)
            return
        name = scope["path"].removeprefix(PLACE)
        try:
            query = _query(scope)
            if scope["method"] == "POST" and name in self.posts:
                answer = self.posts[name](await read_object(receive, MOST_BODY), query.get("room", ""))
                answer = await answer if isinstance(answer, Awaitable) else answer
                await _send(send, b"application/json", orjson.dumps(answer), (b"cache-control", b"no-store"))
            elif scope["method"] == "GET" and name == "stream":
                room = self.rooms.room(query.get("room"))
                await stream(room, room.member(query.get("key")), receive, send)
            elif scope["method"] == "GET" and name == "curve":
                curve = self._curve(query).encode()
                await _send(send, b"application/json", curve, (b"cache-control", b"no-store"))
            elif scope["method"] == "GET" and name in self.files:
                await self._file(name, scope, send)
            else:
                await refuse(send, 404, "There is no such address here.")
        except UserError as error:
            await refuse(send, STATUS.get(type(error), 422), str(error))

    async def _file(self, name: str, scope: Scope, send: Send) -> None:
        kind, body = self.files[name]
        tag = b'"%s"' % hashlib.sha256(body).hexdigest()[:32].encode()
        headers = (b"etag", tag), (b"cache-control", b"no-cache")
        if dict(scope["headers"]).get(b"if-none-match") == tag:
            await send({"type": "http.response.start", "status": 304, "headers": list(headers)})
            await send({"type": "http.response.body", "body": b""})
        else:
            await _send(send, kind, body, *headers)

    def _open(self, request: Json, _: str) -> Json:
        """{base: the page's address in the opener's browser} -> the room, its key, its link."""
        address = reachable(request.get("base"), self.host)
        room = self.rooms.open()
        link = f"{address or request['base']}?room={room.code}"
        reply = {"code": room.code, "key": room.key, "member": room.leader.key, "link": link, "qr": qr_code(link)}
        return reply | {"seconds": room.ends - self.rooms.clock(), "alone": not address}

    def _join(self, request: Json, code: str) -> Json:
        """-> the room and the new member's key."""
        room = self.rooms.room(code)
        return {"code": room.code, "member": room.join().key}

    def _leave(self, request: Json, code: str) -> Json:
        room = self.rooms.room(code)
        if isinstance(key := request.get("member"), str):
            room.leave(key)
        return {}

    def _say(self, request: Json, code: str) -> Json:
        """{member, answer: its place, vote: its number, round} or {member, sentence}."""
        room = self.rooms.room(code)
        member = room.member(request.get("member"))
        if "answer" in request:
            room.answer(member, request.get("vote"), request.get("round"), request["answer"])
        else:
            room.send_sentence(member, request.get("sentence"))
        return {}

    def _label(self, request: Json, code: str) -> Json:
        """{member, label and sentence, or label and number, or none of them} -> the next sentence to label."""
        room = self.rooms.room(code)
        values = (request.get(name) for name in ("sentence", "number", "label"))
        return {"next": room.contribute(room.member(request.get("member")), *values)}

    async def _try(self, request: Json, code: str) -> Json:
        """{member, sentence} -> the likeliest classes by the model of the lecturer's run."""
        room = self.rooms.room(code)
        if not room.member(request.get("member")).questions.take():
            raise TooOftenError("Wait a few seconds before you send the next sentence.")
        return {"classes": await self.runs.ask(room.run, request.get("sentence"))}

    def _curve(self, query: dict[str, str]) -> str:
        """The new points of the lecturer's run after so many `steps` and `looks`; "" if there are none."""
        room = self.rooms.room(query.get("room"))
        if not room.member(query.get("key")).looks.take():
            raise TooOftenError("Too many requests; wait a few seconds.")
        steps, looks = (query.get(name, "") for name in ("steps", "looks"))
        have = [int(count) if re.fullmatch(r"\d{1,6}", count, re.ASCII) else 0 for count in (steps, looks)]
        return self.runs.curve(room.run, *have)

    def _lead(self, request: Json, code: str) -> Json:
        """{key, do: what, and what that takes} from who opened the room."""
        room = self.rooms.room(code)
        room.check_leader(request.get("key"))
        return self._do(room, request.get("do"), request)

    def _do(self, room: Room, what: object, request: Json) -> Json:
        match what:
            case "show":
                room.show(request.get("lesson"), request.get("query"))
                room.show_stop(request.get("stop"))
            case "run":
                room.show_run(self.runs.share(request.get("run")))
            case "ask":
                said = request.get
                return {"vote": room.ask(said("question"), said("answers"), said("right", ()), said("part", ""))}
            case "mark":
                room.mark(request.get("vote"), request.get("right"))
            case "again":
                room.vote_again()
            case "reveal":
                room.reveal()
            case "end vote":
                room.end_vote()
            case "list":
                return {"sentences": list(room.sentences.items())}
            case "drop":
                room.drop_sentence(request.get("sentence"))
            case "clear":
                room.clear_sentences()
            case "collect":
                room.collect(request.get("classes"))
            case "collected":
                data = room.collected()
                return data.summary() | {"classes": data.classes, "listed": data.listed(), "rows": data.rows()}
            case "drop collected":
                room.drop_collected(request.get("sentence"))
            case "end collecting":
                room.end_collecting()
            case "close":
                self.rooms.close(room)
            case _:
                raise UserError("A room has no such action.")
        return {}


def _query(scope: Scope) -> dict[str, str]:
    try:
        fields = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=10)
    except ValueError as error:
        raise UserError("The address is too long.") from error
    return {name: values[0] for name, values in fields.items()}


async def _send(send: Send, kind: bytes, body: bytes, *headers: tuple[bytes, bytes]) -> None:
    response_headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), *headers]
    await send({"type": "http.response.start", "status": 200, "headers": response_headers})
    await send({"type": "http.response.body", "body": body})
