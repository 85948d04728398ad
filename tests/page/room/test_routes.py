"""The room's addresses on the wire, behind the app's own guards."""

import asyncio
import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import gradio as gr
import pytest
from starlette.middleware import Middleware

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.page.protection import INNERMOST, MIDDLEWARE
from demos.page.room import link_and_qr_code, stream
from demos.page.room.room import Room
from demos.page.room.rooms import Rooms
from demos.page.room.routes import MOST_BODY, RoomRoutes
from demos.page.room.runs import NOT_YET, RoomRuns
from demos.page.services import Services
from demos.training.events import Started, Step
from demos.widgets.live_curve.feeds import Feeds
from demos.widgets.live_curve.live_curve import CurveFeed
from tests.hostile.wire import OURS, Answer, send
from tests.run_coroutine import run

BASE = "http://lab.example/bert/"


class App:
    """A page of nothing, with rooms."""

    def __init__(self, demo: gr.Blocks, rooms: Rooms, runs: RoomRuns) -> None:
        self.url, self.rooms, self.runs = demo.local_url.rstrip("/"), rooms, runs

    def post(self, name: str, room: str = "", **said: Any) -> Answer:
        return send(self.url, f"/room/{name}?room={room}", said)

    def told(self, name: str, room: str = "", **said: Any) -> dict[str, Any]:
        answer = self.post(name, room, **said)
        assert answer.status == 200, answer.body
        return json.loads(answer.body)

    def opened(self) -> dict[str, Any]:
        return self.told("open", base=BASE)

    def lead(self, room: dict[str, Any], do: str, **said: Any) -> Answer:
        return self.post("lead", room["code"], key=room["key"], do=do, **said)


class Listener:
    """A member's stream, read in a thread: the last of each name."""

    def __init__(self, app: App, code: str, member: str) -> None:
        self.connection = http.client.HTTPConnection(urlsplit(app.url).netloc, timeout=30)
        self.connection.request("GET", f"/room/stream?room={code}&key={member}")
        self.answer = self.connection.getresponse()
        self.state: dict[str, Any] = {}
        self.events: list[dict[str, Any]] = []
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        with suppress(AttributeError, ValueError, OSError):  # what http.client raises where the listener has left
            while line := self.answer.readline():
                if line.startswith(b"data: "):
                    self.events.append(json.loads(line[6:]))
                    self.state |= self.events[-1]
        self.ended.set()

    def waits_for(self, name: str, value: Any) -> None:
        deadline = time.monotonic() + 20
        while self.state.get(name) != value:
            assert time.monotonic() < deadline, (name, self.state)
            time.sleep(0.01)

    def leave(self) -> None:
        assert self.connection.sock is not None
        self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.connection.close()


@pytest.fixture(scope="module")
def app() -> Iterator[App]:
    rooms = Rooms({"tokens", "encoder"})
    rooms.opening.most = rooms.opening.left = 1_000
    with gr.Blocks(analytics_enabled=False) as demo:
        gr.Markdown("page")
    runs = RoomRuns(Services(ModelStore(), BUNDLED), rooms)
    guards = [*MIDDLEWARE, Middleware(RoomRoutes, rooms=rooms, host="0.0.0.0", runs=runs), INNERMOST]
    demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, app_kwargs={"middleware": guards})
    yield App(demo, rooms, runs)
    rooms.end(1.0)
    demo.close()


def test_a_lecture(app: App) -> None:
    room = app.opened()
    code = room["code"]
    assert room["link"] == f"{BASE}?room={code}"
    assert room["qr"].startswith("data:image/svg+xml")
    lecturer = Listener(app, code, room["member"])
    keys = [app.told("join", code.lower())["member"] for _ in range(3)]
    members = [Listener(app, code, key) for key in keys]
    lecturer.waits_for("here", 3)
    view = {"lesson": "encoder", "query": "text=A+bank&part=block&model=minilm"}
    assert app.lead(room, "show", **view).status == 200
    for member in members:
        member.waits_for("view", view)
    assert (
        app.lead(room, "ask", question="Which?", answers=["one", "two"], right=[0], part="encoder/block").status == 200
    )
    asked = {"number": 1, "question": "Which?", "answers": ["one", "two"], "part": "encoder/block"}
    members[0].waits_for("vote", asked | {"round": 1, "revealed": False})
    for key, place in zip(keys, (0, 1, 1), strict=True):
        app.told("say", code, member=key, answer=place, vote=1, round=1)
    lecturer.waits_for("tally", {"number": 1, "tallies": [[1, 2]], "moves": [[0, 0], [0, 0]], "right": [0]})
    assert "tally" not in members[0].state
    app.lead(room, "reveal")
    deadline = time.monotonic() + 20
    while not members[0].state["vote"]["revealed"]:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert (members[0].state["vote"]["tallies"], members[0].state["vote"]["right"]) == ([[1, 2]], [0])
    app.told("say", code, member=keys[0], sentence="A sentence from the hall.")
    lecturer.waits_for("sentences", 1)
    assert "sentences" not in members[1].state
    assert json.loads(app.lead(room, "list").body) == {"sentences": [[1, "A sentence from the hall."]]}
    members[2].leave()
    lecturer.waits_for("here", 2)
    again = Listener(app, code, keys[2])
    again.waits_for("view", view)
    app.told("leave", code, member=keys[0])
    assert members[0].ended.wait(20)
    assert app.lead(room, "close").status == 200
    for one in (lecturer, members[1], again):
        assert one.ended.wait(20)
        assert one.state["over"] is True
    assert app.post("join", code).status == 404
    assert all(len(json.dumps(event)) < 400 for event in (*lecturer.events, *again.events))  # a few hundred bytes


def test_a_member_can_t_lead(app: App) -> None:
    room = app.opened()
    member = app.told("join", room["code"])["member"]
    for do in ("show", "ask", "mark", "again", "reveal", "end vote", "list", "drop", "clear", "close", "own"):
        for key in (member, room["member"], "", None, room["key"][:-1]):
            answer = app.post("lead", room["code"], key=key, do=do, lesson="tokens", query="")
            assert (answer.status, answer.detail) == (403, "Only the person who opened the room can do this.")
    assert "view" not in app.rooms.rooms[room["code"]].state
    other = app.opened()
    assert app.post("lead", room["code"], key=other["key"], do="close").status == 403
    assert room["key"].encode() not in b"".join(app.rooms.rooms[room["code"]].state.values())


def test_who_is_in_no_room_hears_and_says_nothing(app: App) -> None:
    code = app.opened()["code"]
    stranger = app.told("join", app.opened()["code"])["member"]
    for key in (stranger, "", "x" * 24):
        assert send(app.url, f"/room/stream?room={code}&key={key}").status == 403
        assert app.post("say", code, member=key, sentence="Hello.").status == 403
    assert send(app.url, f"/room/stream?room=ZZZZ&key={stranger}").status == 404
    assert send(app.url, "/room/stream").status == 404


@pytest.mark.parametrize(
    "body",
    [
        *[b"", b"[]", b"null", b"{", b"[" * 9_000, b'{"base": 7}', b'{"base": "javascript:alert(1)"}'],
        *[b'{"base": "http://a b/"}', b'{"base": "http://a/?x=1"}', b'{"base": "http://a/#x"}', b'{"base": "\\ud800"}'],
        b'{"base": "http://%s/"}' % (b"a" * 999),
    ],
)
def test_what_opens_no_room(app: App, body: bytes) -> None:
    before = len(app.rooms.rooms)
    answer = send(app.url, "/room/open", body)
    assert answer.status == 422
    assert answer.detail
    assert len(app.rooms.rooms) == before


def test_a_body_has_a_bound_and_is_no_foreign_page_s(app: App) -> None:
    room = app.opened()
    assert (
        app.post("say", room["code"], member=room["member"], sentence="x" * MOST_BODY).detail
        == "The request is too large."
    )
    foreign = OURS | {"sec-fetch-site": "cross-site"}
    assert send(app.url, f"/room/join?room={room['code']}", {}, foreign).status == 403
    assert send(app.url, "/room/open?" + "a=1&" * 50, {"base": BASE}).status == 422


@pytest.mark.parametrize(
    "path", ["/room/", "/room/none", "/room/lead", "/room/../app.py", "/room/routes.py", "/room/parts"]
)
def test_there_is_nothing_else(app: App, path: str) -> None:
    assert send(app.url, path).status == 404


def test_its_files_are_asked_for_once(app: App) -> None:
    for name, kind in (("leader.js", "text/javascript"), ("style.css", "text/css"), ("parts.html", "text/html")):
        first = send(app.url, f"/room/{name}")
        assert (first.status, first.headers["content-type"].split(";")[0]) == (200, kind)
        again = send(app.url, f"/room/{name}", headers={"if-none-match": first.headers["etag"]})
        assert (again.status, again.body) == (304, b"")


def test_one_run_for_all(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    trainings, feeds = app.runs.services.trainings, Feeds()
    monkeypatch.setattr(trainings.shared, "curve", feeds.shown)
    room, run, over = app.opened(), trainings.runs.new(), threading.Event()
    member = app.told("join", room["code"])["member"]

    def curve(steps: int = 0) -> dict[str, Any]:
        answer = send(app.url, f"/room/curve?room={room['code']}&key={member}&steps={steps}&looks=0")
        assert answer.status == 200
        assert run.encode() not in answer.body  # who has a run's own id may stop it
        return json.loads(answer.body or b"{}")

    def work() -> Iterator[dict[str, Any]]:
        yield {}
        over.wait(20)

    assert curve() == {}
    assert app.lead(room, "run", run=run).status == 422  # nothing is under way
    trainings.background.start(run, "reader" * 4, "train", work(), lambda: None)
    feed = CurveFeed(run, "Emotion", recipe="all layers")
    with feeds.showing(run, feed):
        assert app.post("lead", room["code"], key=member, do="run", run=run).status == 403
        assert app.lead(room, "run", run=run).status == 200
        feed.take(Started(("a", "b"), 1, 1, 1, 0, 10, 10, 1, 1, "accuracy", "always a", 0.5, 0.5, "CPU", "float32", 1))
        for step in (1, 2, 3):
            feed.take(Step(step, 10, 0.1, 1.0 / step, 0.5, 1e-4, 1.0, 9.0, 1.0))
        assert [point[0] for point in curve()["steps"]] == [1, 2, 3]
        assert [point[0] for point in curve(2)["steps"]] == [3]
        refused = app.post("try", room["code"], member=member, sentence="I am glad.")
        assert (refused.status, refused.detail) == (422, NOT_YET)
    over.set()
    assert [point[0] for point in curve()["steps"]] == [1, 2, 3]  # who comes later sees how it ended
    deadline = time.monotonic() + 20
    while trainings.background.is_under_way(run):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    answers = SimpleNamespace(
        task=SimpleNamespace(labels=("sad", "<b>glad</b>")),
        answers=lambda examples: [(0.25, 0.75)] if examples[0].text == "I am glad." else [],
    )
    monkeypatch.setattr(app.runs.services, "classifier", lambda asked: answers if asked == run else None)
    told = app.told("try", room["code"], member=member, sentence=" I am\nglad. ")
    assert told == {"classes": [["<b>glad</b>", 0.75], ["sad", 0.25]]}
    assert app.post("try", room["code"], member="x" * 24, sentence="I am glad.").status == 403
    statuses = [app.post("try", room["code"], member=member, sentence="I am glad.").status for _ in range(6)]
    assert 429 in statuses
    other = app.opened()
    assert app.post("try", other["code"], member=other["member"], sentence="I am glad.").status == 422


def test_a_data_set_from_the_hall(app: App) -> None:
    room = app.opened()
    code = room["code"]
    lecturer = Listener(app, code, room["member"])
    ann, bob = (app.told("join", code)["member"] for _ in range(2))
    hears = Listener(app, code, bob)
    assert app.post("label", code, member=ann, sentence="Fine.", label=0).status == 422  # nothing is asked for
    assert app.post("lead", code, key=ann, do="collect", classes=["good", "bad"]).status == 403
    assert app.lead(room, "collect", classes=["good", "bad"]).status == 200
    hears.waits_for("data", {"classes": ["good", "bad"]})
    assert app.told("label", code, member=ann, sentence="A fine film.", label=0) == {"next": None}
    assert app.told("label", code, member=bob) == {"next": [1, "A fine film."]}
    assert app.told("label", code, member=bob, number=1, label=1) == {"next": None}
    assert app.post("label", code, member=bob, sentence="a  FINE film.", label=1).status == 422
    lecturer.waits_for("collected", 1)
    assert "collected" not in hears.state
    told = json.loads(app.lead(room, "collected").body)
    assert told["listed"] == [{"number": 1, "text": "A fine film.", "counts": [1, 1]}]
    assert (told["agreement"], told["several"], told["rows"]) == (0.0, 1, [{"text": "A fine film.", "label": "good"}])
    assert ann not in json.dumps(told)  # never who
    app.lead(room, "drop collected", sentence=1)
    lecturer.waits_for("collected", 0)
    app.lead(room, "end collecting")
    hears.waits_for("data", None)
    assert app.lead(room, "collected").status == 422


def test_a_stream_shows_that_it_lives(app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "BEAT_SECONDS", 0.05)
    room = app.opened()
    with socket.create_connection((urlsplit(app.url).hostname, urlsplit(app.url).port), timeout=20) as reader:
        reader.sendall(
            f"GET /room/stream?room={room['code']}&key={room['member']} HTTP/1.1\r\nhost: a\r\n\r\n".encode()
        )
        seen = b""
        while seen.count(b": alive") < 3:
            seen += reader.recv(1_000)
    assert b"x-accel-buffering: no" in seen
    deadline = time.monotonic() + 20
    while app.rooms.rooms[room["code"]].leader.channels:  # the reader has gone, and so has the stream
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_stream_that_nobody_reads_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who stays connected and takes nothing: the server's `send` waits for ever."""
    monkeypatch.setattr(stream, "BEAT_SECONDS", 0.05)
    room = Room("ABCD", {"tokens"}, time.monotonic() + 60, time.monotonic)
    member = room.join()

    async def never(*_: Any) -> Any:
        await asyncio.Event().wait()

    async def listen() -> None:
        await asyncio.wait_for(stream.stream(room, member, never, never), 20)

    run(listen())
    assert member.channels == []


def test_the_end_of_the_program_is_told(app: App) -> None:
    rooms = [app.opened() for _ in range(2)]
    readers = [Listener(app, room["code"], room["member"]) for room in rooms]
    for reader, room in zip(readers, rooms, strict=True):
        reader.waits_for("room", {"code": room["code"]})
    app.rooms.end(5.0)
    for reader in readers:
        assert reader.ended.wait(20)
        assert reader.state["over"] is True
    assert app.rooms.rooms == {}


@pytest.mark.parametrize(
    ("base", "host", "expected"),
    [
        ("https://ann-lab.hf.space/", "0.0.0.0", "https://ann-lab.hf.space/"),
        ("http://192.168.1.4:7860/", "0.0.0.0", "http://192.168.1.4:7860/"),
        ("http://127.0.0.1:7860/x/", "0.0.0.0", "http://10.1.2.3:7860/x/"),
        ("http://localhost:7860/", "::", "http://10.1.2.3:7860/"),
        ("http://[::1]:7860/", "0.0.0.0", "http://10.1.2.3:7860/"),
        ("http://127.0.0.1:7860/", "127.0.0.1", ""),
        ("http://localhost:7860/", "localhost", ""),
        ("http://127.0.0.1:8000/", "10.1.2.3", "http://10.1.2.3:8000/"),
    ],
)
def test_the_address_for_others(base: str, host: str, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_and_qr_code, "network_address", lambda: "10.1.2.3")
    assert link_and_qr_code.reachable(base, host) == expected


def test_this_machine_s_address_is_not_its_own_name() -> None:
    found = link_and_qr_code.network_address()
    assert found == "" or not link_and_qr_code.is_own(found)


def test_without_a_network_nobody_else_reaches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_and_qr_code, "network_address", lambda: "")
    assert link_and_qr_code.reachable("http://127.0.0.1:7860/", "0.0.0.0") == ""
