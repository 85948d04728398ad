"""What tests/benchmarks/hall.py counts, on a tiny server that refuses, is late, breaks off or fails as it is told."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from tests.benchmarks._hall_loads import Load, Pace, Row, at_most, leaving, opening, reading
from tests.benchmarks._hall_replay import API, Student, Tally, quantile
from tests.benchmarks._hall_visit import TYPED, Event, Recording, Visit, drawn_anew
from tests.run_coroutine import run

pytestmark = pytest.mark.slow

LATE = 0.4


class Server:
    """Gradio's way of answering, each event as its body's `data` says."""

    def __init__(self) -> None:
        self.waiting: dict[str, asyncio.Queue[dict[str, object]]] = {}
        self.asked: list[tuple[str, str]] = []  # path, the tag that came along
        self.beats: list[str] = []
        self.order: list[str] = []
        self.url = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[Server]:
        app = web.Application()
        app.router.add_get("/", self.file)
        app.router.add_get("/{name}", self.file)
        app.router.add_get(f"{API}/heartbeat/{{session}}", self.beat)
        app.router.add_post(f"{API}/queue/join", self.join)
        app.router.add_get(f"{API}/queue/data", self.stream)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, shutdown_timeout=0.1).start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self
        finally:
            await runner.cleanup()

    async def file(self, request: web.Request) -> web.Response:
        self.asked.append((request.path, request.headers.get("If-None-Match", "")))
        if request.path == "/missing":
            return web.Response(status=404)
        known = request.headers.get("If-None-Match") == '"1"'
        return web.Response(status=304 if known else 200, headers={"ETag": '"1"'})

    async def beat(self, request: web.Request) -> web.StreamResponse:
        self.beats.append(request.match_info["session"])
        await asyncio.sleep(60)
        return web.Response()

    async def join(self, request: web.Request) -> web.Response:
        body = await request.json()
        what = body["data"]
        self.order.append(what)
        if what == "break" and self.order.count(what) == 1:
            assert request.transport is not None
            request.transport.abort()
        if what == "refuse":
            return web.json_response({"detail": "Queue is full"}, status=503)
        if what == "bad":
            return web.json_response({}, status=500)
        name = f"event{len(self.order)}"
        queue = self.waiting.setdefault(body["session_hash"], asyncio.Queue())
        await queue.put({"event_id": name, "what": what})
        return web.json_response({"event_id": name})

    async def stream(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        queue = self.waiting[request.query["session_hash"]]
        while True:
            event = await queue.get()
            if event["what"] == "drop":
                assert request.transport is not None
                request.transport.abort()
                return response
            if event["what"] == "silent":
                continue
            await asyncio.sleep(LATE if event["what"] == "late" else 0)
            notice = '<p class="notice">Too long.</p>' if event["what"] == "notice" else ""
            ended = {"msg": "process_completed", "event_id": event["event_id"], "output": {"data": [notice]}}
            written = json.dumps(ended | {"success": event["what"] != "fail"})
            await response.write(f"data: {written}\n".encode())
            await response.write(b"\n")  # the end of a message in a chunk of its own
            if queue.empty():
                await response.write(b'data: {"msg": "close_stream"}\n\n')
                return response


def posted(what: str, gap: float = 0.0, after: int | None = None, has_notice: bool = False) -> Event:
    return Event(json.dumps({"data": what, "session_hash": "recorded"}), gap, after, has_notice)


def visit(*events: Event, files: tuple[str, ...] = ("/one.js",)) -> Visit:
    return Visit("lesson", "/", files, events, "recorded")


def seen(*visits: Visit, patience: float = 5) -> tuple[Tally, Server]:
    """What one student was given in these visits, and the server that gave it."""

    async def see() -> tuple[Tally, Server]:
        tally = Tally()
        async with Server().serving() as server:
            student = Student(server.url, tally, patience=patience)
            for one in visits:
                await student.visit(one)
            await student.leave()
            return tally, server

    return run(see())


def test_a_calm_visit_is_complete() -> None:
    tally, server = seen(visit(posted("at once"), posted("at once")))
    assert (tally.refused, tally.faults, tally.incomplete, len(tally.answers)) == (0, 0, 0, 2)
    assert [path for path, _ in server.asked] == ["/", "/one.js"]
    assert len(server.beats) == 1


def test_refused_events_make_a_page_incomplete() -> None:
    tally, _ = seen(visit(posted("refuse"), posted("at once"), posted("refuse")), visit(posted("at once")))
    assert (tally.refused, tally.faults, tally.incomplete, len(tally.visits), len(tally.answers)) == (2, 0, 1, 2, 2)


def test_a_late_answer_counts_with_its_seconds() -> None:
    tally, _ = seen(visit(posted("at once"), posted("late", gap=0.05)))
    quick, late = tally.answers
    assert late >= LATE
    assert quick < late
    assert tally.visits[0][1] >= LATE + 0.05
    assert tally.incomplete == 0


def test_what_waits_on_a_broken_stream_is_lost_and_the_next_visit_is_not() -> None:
    tally, _ = seen(visit(posted("drop"), posted("silent")), visit(posted("at once")))
    assert (tally.lost, tally.refused, tally.incomplete, len(tally.answers)) == (2, 0, 1, 1)
    assert tally.errors.total() == 0


def test_no_answer_in_time_is_lost() -> None:
    tally, _ = seen(visit(posted("silent")), patience=0.2)
    assert (tally.lost, tally.incomplete) == (1, 1)


@pytest.mark.parametrize(
    ("what", "kind"),
    [("bad", "join 500"), ("fail", "an event failed"), ("notice", "an answer with a notice")],
)
def test_errors_are_counted_by_their_kind(what: str, kind: str) -> None:
    tally, _ = seen(visit(posted(what)))
    assert dict(tally.errors) == {kind: 1}
    assert (tally.refused, tally.incomplete) == (0, 1)


def test_a_notice_that_the_recording_has_is_an_answer() -> None:
    tally, _ = seen(visit(posted("notice", has_notice=True)))
    assert (tally.faults, tally.incomplete) == (0, 0)


def test_a_connection_that_breaks_before_the_answer_is_asked_once_more() -> None:
    tally, server = seen(visit(posted("break")))
    assert server.order == ["break", "break"]
    assert (tally.faults, tally.incomplete, len(tally.answers)) == (0, 0, 1)


def test_a_missing_file_makes_a_page_incomplete() -> None:
    tally, _ = seen(visit(files=("/one.js", "/missing")))
    assert dict(tally.errors) == {"GET 404": 1}
    assert tally.incomplete == 1


def test_a_second_visit_asks_whether_a_file_has_changed() -> None:
    _, server = seen(visit(), visit())
    assert server.asked[2:] == [("/", '"1"'), ("/one.js", '"1"')]
    assert len(set(server.beats)) == 2  # a page, a session


def test_an_event_waits_for_the_answer_that_it_came_after() -> None:
    _, server = seen(visit(posted("late"), posted("second", after=0), posted("first")))
    assert server.order == ["late", "first", "second"]


def test_a_posted_body_has_the_readers_own_keys_and_sentence() -> None:
    own = drawn_anew("Seven green teachers.".ljust(len(TYPED), "."))
    key = "A" * 24
    text, begin, short, keys, other = json.loads(own(json.dumps([TYPED, TYPED[:9], TYPED[:1], f"{key}/{key}", 3])))
    assert text.startswith("Seven green teachers.")
    assert begin == "Seven gre"
    assert (short, other) == (TYPED[:1], 3)
    assert len(set(keys.split("/"))) == 1
    assert key not in keys
    assert keys in own(json.dumps(f"{key}/{key}"))  # the same at each event


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([3.0, 1.0, 2.0], 0.5, 2.0), (list(range(1, 101)), 0.95, 95), (list(range(1, 11)), 0.95, 10), ([7.0], 0.95, 7.0)],
)
def test_quantiles_by_nearest_rank(values: list[float], share: float, expected: float) -> None:
    assert quantile(values, share) == expected


def test_a_quantile_of_nothing_is_no_figure() -> None:
    nothing = quantile([], 0.95)
    assert nothing != nothing


@pytest.mark.parametrize(
    ("measured", "most", "shown", "met"),
    [(9.996, 10, "10.00 s", True), (10.01, 10, "10.01 s", False), (float("nan"), 10, "none", False)],
)
def test_a_figure_that_was_not_measured_is_missed(measured: float, most: float, shown: str, met: bool) -> None:
    row = at_most("p95", measured, most, " s", 2)
    assert (row.measured, row.met) == (shown, met)


def figures(load: Load, part: Callable[[Load, str], Awaitable[list[Row]]]) -> dict[str, Row]:
    async def measured() -> list[Row]:
        async with Server().serving() as server:
            return await part(load, server.url)

    return {row.what.strip().split(" (")[0]: row for row in run(measured())}


def a_load(*events: Event, students: int = 10, vanish: float = 0.0) -> Load:
    opened, typing = visit(*events), Visit("typing", None, (), events, "recorded")
    recording = Recording((opened,), opened, typing, (opened, opened))
    return Load(recording, students, 0.6, 0, vanish, sentences=True)


def test_an_opening_that_is_partly_refused() -> None:
    rows = figures(a_load(posted("refuse"), posted("late")), opening)
    assert (rows["events refused"].measured, rows["events refused"].met) == ("10", False)
    assert rows["pages incomplete"].measured == "10"
    p95 = float(rows["first picture without the browser's own work, p95"].measured.removesuffix(" s"))
    assert p95 >= LATE
    assert rows["errors and lost answers"].met


def test_students_who_vanish_are_no_incomplete_pages() -> None:
    rows = figures(a_load(posted("late", gap=4), students=4, vanish=0.5), opening)
    assert rows["4 students open the link at one moment, 2 of them vanish"].measured == "2 pages"
    assert rows["pages incomplete"].measured == "0"
    assert rows["errors and lost answers"].measured == "0"


@pytest.mark.parametrize("part", [reading, leaving])
def test_failures_are_counted_in_all_loads(part: Callable[[Load, str], Awaitable[list[Row]]]) -> None:
    rows = figures(a_load(posted("fail"), posted("at once"), students=3), part)
    assert int(rows["errors and lost answers"].measured) >= 3
    assert rows["errors and lost answers"].met is False
    assert rows["events refused"].met


def test_turns_keep_the_pace() -> None:
    async def take() -> list[float]:
        began = time.monotonic()
        pace = Pace(100, began + 10)
        turns = []

        async def one(events: int) -> None:
            await pace.turn(events)
            turns.append(time.monotonic() - began)

        await asyncio.gather(one(20), one(5), one(0), one(1))
        return turns

    _, second, third, fourth = run(take())
    assert second >= 0.2
    assert third >= 0.25
    assert fourth >= 0.26


def test_no_turn_is_waited_for_past_the_end() -> None:
    async def take() -> tuple[list[bool], float]:
        began = time.monotonic()
        pace = Pace(100, began + 1)
        taken = [await pace.turn(6_000), *await asyncio.gather(pace.turn(1), pace.turn(1))]
        return taken, time.monotonic() - began

    taken, seconds = run(take())
    assert taken == [True, False, False]
    assert 0.99 <= seconds < 30  # the turn itself is after 60


def test_many_students_of_many_events_end_in_time() -> None:
    load = a_load(*[posted("at once")] * 20, students=20)  # whose turns together take 80 s
    began = time.monotonic()
    rows = figures(load, reading)
    assert time.monotonic() - began < load.seconds + 20
    assert rows["errors and lost answers"].met
