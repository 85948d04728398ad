"""Heartbeats of open pages: bounded in number, and whose page is open keeps what it has."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import gradio as gr
import pytest

from demos.page.patches.gradio_sessions import Sessions
from demos.page.protection import MIDDLEWARE, heartbeats
from tests.hostile.wire import join, listen
from tests.page.patched import apply_named


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch) -> Iterator[gr.Blocks]:
    monkeypatch.setattr(heartbeats, "MOST", 4)
    apply_named(monkeypatch, "StateHolder", "SessionState")
    with gr.Blocks(analytics_enabled=False) as demo:
        count, shown = gr.State(0), gr.Number()
        gr.Button().click(lambda value: (value + 1, value + 1), count, [count, shown], api_name="add")
    demo.launch(
        prevent_thread_lock=True, quiet=True, _frontend=False, state_session_capacity=6,
        app_kwargs={"middleware": MIDDLEWARE},
    )  # fmt: skip
    yield demo
    demo.close()


@pytest.fixture
def beat(demo: gr.Blocks) -> Iterator[Callable[[str], HTTPResponse]]:
    """beat(session) is the answer to a page that opens its heartbeat and never closes it."""
    with ExitStack() as stack:

        def opened(session: str) -> HTTPResponse:
            connection = stack.enter_context(closing(HTTPConnection(urlsplit(demo.local_url).netloc, timeout=20)))
            connection.request("GET", f"/gradio_api/heartbeat/{session}", headers={"connection": "close"})
            return stack.enter_context(closing(connection.getresponse()))

        yield opened


def added(demo: gr.Blocks, session: str) -> int:
    """What a session has counted to, by one more event of it."""
    assert join(demo.local_url, 0, [None], session).status == 200
    for line in listen(demo.local_url, f"/gradio_api/queue/data?session_hash={session}"):
        message = json.loads(line.removeprefix("data: "))
        if message["msg"] == "process_completed":
            return int(message["output"]["data"][1])
    raise AssertionError("no answer")


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_oldest_whose_page_asked_for_nothing_makes_room(
    demo: gr.Blocks, beat: Callable[[str], HTTPResponse]
) -> None:
    assert added(demo, "reader") == 1
    first, idle, *_ = beats = [beat(session) for session in ("reader", "idle", "idle2", "idle3", "idle4", "idle5")]
    assert {one.status for one in beats} == {200}
    sessions = demo.app.state_holder
    assert isinstance(sessions, Sessions)
    until(lambda: sessions.open_pages == {"reader": 1, "idle3": 1, "idle4": 1, "idle5": 1})
    assert b"ALIVE" in idle.read()  # to its end
    assert first.readline() == b"data: ALIVE\n"
    assert not sessions.session_data["reader"].is_closed


def test_where_all_are_in_use_one_more_is_refused(demo: gr.Blocks, beat: Callable[[str], HTTPResponse]) -> None:
    for number in range(4):
        added(demo, f"reader{number}")
        assert beat(f"reader{number}").status == 200
    assert beat("one-more").status == 503
    assert added(demo, "one-more") == 1  # and works all the same


def test_a_page_has_two_at_most(beat: Callable[[str], HTTPResponse]) -> None:
    assert [beat("reader").status for _ in range(3)] == [200, 200, 503]


def test_one_that_closes_leaves_nothing(demo: gr.Blocks, beat: Callable[[str], HTTPResponse]) -> None:
    added(demo, "reader")
    answer = beat("reader")
    answer.readline()
    sessions = demo.app.state_holder
    assert sessions.open_pages == {"reader": 1}
    answer.close()
    until(lambda: not sessions.open_pages and sessions.session_data["reader"].is_closed)


def test_no_crowd_takes_away_what_an_open_page_has(demo: gr.Blocks, beat: Callable[[str], HTTPResponse]) -> None:
    assert added(demo, "left") == 1
    assert added(demo, "reader") == 1
    beat("reader")
    for number in range(12):
        assert added(demo, f"stranger{number}") == 1
    assert len(demo.app.state_holder.session_data) == 6
    assert added(demo, "reader") == 2
    assert added(demo, "left") == 1
