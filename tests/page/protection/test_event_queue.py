"""The bounded queue, by raw requests to a small app: turns, bounds, and answers that nobody fetches."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from urllib.parse import urlsplit

import gradio as gr
import pytest

from demos.page.protection import MIDDLEWARE, event_queue
from demos.page.protection.event_queue import BoundedQueue
from demos.page.protection.listening import MOST_LISTENERS
from tests.hostile.wire import Answer, join, listen, send
from tests.page.patched import apply_named

QUICK, LARGE, STREAM, SLOW, OWN_STREAM = range(5)


@pytest.fixture
def started() -> list[str]:
    """What the app's functions were given, in the order in which they ran."""
    return []


@pytest.fixture
def gate() -> threading.Event:
    """While it is shut, the slow function does not end."""
    gate = threading.Event()
    gate.set()
    return gate


@pytest.fixture
def demo(monkeypatch: pytest.MonkeyPatch, started: list[str], gate: threading.Event) -> Iterator[gr.Blocks]:
    monkeypatch.setattr(event_queue, "LOOK_SECONDS", 0.1)
    apply_named(monkeypatch, "Queue")

    def quick(value: str) -> str:
        started.append(value)
        return value

    def large(value: str) -> str:
        return "x" * 1_000_000

    def stream(value: str) -> Iterator[str]:
        for step in range(3):
            started.append(f"{value}{step}")
            yield value

    def slow(value: str) -> str:
        started.append(value)
        time.sleep(0.05)
        gate.wait(60)
        return value

    with gr.Blocks(analytics_enabled=False) as demo:
        text = gr.Textbox()
        for function in (quick, large, stream, slow):
            gr.Button().click(function, text, text, api_name=function.__name__, concurrency_limit=1)
        gr.Button().click(stream, text, text, api_visibility="private", concurrency_limit=1)
    demo.queue(max_size=2_000)
    demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, app_kwargs={"middleware": MIDDLEWARE})
    yield demo
    demo.close()


@pytest.fixture
def post(demo: gr.Blocks) -> Callable[..., Answer]:
    return lambda fn_index, value, session: join(demo.local_url, fn_index, [value], session)


@pytest.fixture
def streams(demo: gr.Blocks) -> Iterator[Callable[[str], None]]:
    """streams(session) listens for it and never reads, until the test ends."""
    place = urlsplit(demo.local_url)
    with ExitStack() as stack:

        def opened(session: str) -> None:
            stream = stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=20))
            stream.sendall(f"GET /gradio_api/queue/data?session_hash={session} HTTP/1.1\r\nhost: a\r\n\r\n".encode())

        yield opened


def heard(demo: gr.Blocks, session: str, seconds: float = 600) -> list[str]:
    """What comes for a session until its stream is closed: the last value of each event, or why there is none."""
    said = []
    for line in listen(demo.local_url, f"/gradio_api/queue/data?session_hash={session}", seconds):
        message = json.loads(line.removeprefix("data: "))
        if message["msg"] == "process_completed":
            said.append(message["output"]["data"][0])
        elif message["msg"] == "unexpected_error":
            said.append("gone")
    return said


def until(true: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_streams_starts_once_somebody_listens(
    demo: gr.Blocks, post: Callable[..., Answer], started: list[str]
) -> None:
    for number in range(14):
        assert post(STREAM, f"left{number}", f"left{number}").status == 200
    assert post(STREAM, "own", "own").status == 200
    assert heard(demo, "own") == ["own"]
    assert started == ["own0", "own1", "own2"]
    assert heard(demo, "left3") == ["left3"]


def test_the_page_gets_what_streams_once_and_a_program_its_last_value_again(
    demo: gr.Blocks, post: Callable[..., Answer]
) -> None:
    changing = {"process_generating", "process_completed"}
    for number, last in ((STREAM, "own"), (OWN_STREAM, {"__type__": "update"})):
        post(number, "own", "own")
        lines = list(listen(demo.local_url, "/gradio_api/queue/data?session_hash=own", 120))
        messages = [json.loads(line.removeprefix("data: ")) for line in lines]
        values = [message["output"]["data"][0] for message in messages if message["msg"] in changing]
        assert values == ["own", [], [], last]  # what changes from one to the next


def test_what_was_cancelled_before_anybody_listened_never_starts(
    demo: gr.Blocks, post: Callable[..., Answer], started: list[str]
) -> None:
    event = json.loads(post(STREAM, "gone", "own").body)["event_id"]
    assert "own" in demo._queue.parked
    cancelled = {"session_hash": "own", "event_id": event, "fn_index": STREAM}
    assert send(demo.local_url, "/gradio_api/cancel", cancelled).status == 200
    post(QUICK, "next", "own")
    assert list(listen(demo.local_url, "/gradio_api/queue/data?session_hash=own", 20))  # until all is answered
    assert started == ["next"]
    until(lambda: not demo._queue.event_ids_to_events)


def test_answers_that_nobody_fetches_are_dropped_in_time(
    demo: gr.Blocks, post: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_queue, "UNFETCHED_SECONDS", 0.5)
    queue = demo._queue
    assert isinstance(queue, BoundedQueue)
    post(LARGE, "a", "left")
    post(STREAM, "a", "parked")
    until(lambda: queue.pending_messages_per_session.bytes > 1_000_000)
    until(lambda: not queue.pending_messages_per_session)
    assert queue.pending_messages_per_session.bytes == 0
    assert (queue.parked, dict(queue.event_ids_to_events), dict(queue.pending_event_ids_session)) == ({}, {}, {})
    assert heard(demo, "left") == ["gone"]


def test_answers_that_nobody_fetches_are_bounded_in_bytes(
    demo: gr.Blocks, post: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_queue, "SESSION_BYTES", 3_500_000)
    monkeypatch.setattr(event_queue, "ALL_BYTES", 6_500_000)
    boxes = demo._queue.pending_messages_per_session
    most = 0
    for number in range(30):
        post(LARGE, "a", f"left{number // 10}")
        most = max(most, boxes.bytes)
    until(lambda: len(demo._queue) == 0 and not demo._queue.event_ids_to_events)
    assert most <= 7_600_000
    assert boxes.bytes <= 6_500_000
    post(LARGE, "a", "honest")
    assert heard(demo, "honest") == ["x" * 1_000_000]
    assert boxes.bytes == sum(box.bytes for box in boxes.values())


def test_a_session_has_so_many_events_at_once(
    demo: gr.Blocks, post: Callable[..., Answer], gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_queue, "MOST_EVENTS", 5)
    gate.clear()
    answers = [post(SLOW, str(number), "eager") for number in range(9)]
    refused = [answer.detail for answer in answers if answer.status == 503]
    assert len(refused) == 4
    assert all("requests in progress" in told for told in refused)
    gate.set()
    assert post(QUICK, "a", "other").status == 200
    heard(demo, "eager")
    assert post(SLOW, "again", "eager").status == 200


def test_sessions_take_turns(
    demo: gr.Blocks, post: Callable[..., Answer], started: list[str], gate: threading.Event
) -> None:
    gate.clear()
    for number in range(20):
        post(SLOW, f"eager{number}", "eager")
    post(SLOW, "other", "other")
    until(lambda: started == ["eager0"])
    boxes = demo._queue.pending_messages_per_session
    with ThreadPoolExecutor(2) as listening:
        said = [listening.submit(heard, demo, session) for session in ("eager", "other")]
        until(lambda: all(boxes[session].listeners for session in ("eager", "other")))
        gate.set()
    assert said[1].result() == ["other"]
    assert started.index("other") <= 2
    assert started[-1] == "eager19"


def test_who_listens_goes_before_who_does_not(
    demo: gr.Blocks, post: Callable[..., Answer], started: list[str], gate: threading.Event
) -> None:
    gate.clear()
    for number in range(60):
        post(SLOW, "left", f"left{number}")
    post(SLOW, "own", "own")
    with ThreadPoolExecutor(1) as listening:
        said = listening.submit(heard, demo, "own")
        until(lambda: bool(demo._queue.pending_messages_per_session["own"].listeners))
        gate.set()
    assert said.result() == ["own"]
    assert started.index("own") <= 2


@pytest.mark.slow
def test_a_hundred_who_open_the_page_at_once_are_all_served(demo: gr.Blocks, post: Callable[..., Answer]) -> None:
    def student(name: str) -> tuple[list[int], list[str]]:
        statuses = [post(QUICK, f"{number}", name).status for number in range(8)]
        said: list[str] = []
        while len(said) < 8:  # a stream is closed when all that was posted is answered; a page opens another
            came = heard(demo, name)
            assert came
            said += came
        return statuses, said

    with ThreadPoolExecutor(100) as hall:
        for statuses, said in hall.map(student, [f"student-{number}" for number in range(100)]):
            assert statuses == [200] * 8
            assert said == [str(number) for number in range(8)]


def test_sessions_that_never_listen_push_nobody_s_states_out(
    demo: gr.Blocks, post: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_queue, "MOST_UNHEARD", 10)
    demo.state_holder.capacity = 15
    post(QUICK, "a", "honest")
    assert heard(demo, "honest") == ["a"]
    for number in range(40):
        post(QUICK, "a", f"left{number}")
    until(lambda: not demo._queue.event_ids_to_events)
    assert "honest" in demo.state_holder
    assert len(demo.state_holder.session_data) <= 12


def test_sessions_that_fill_the_queue_and_listen_make_room_too(
    demo: gr.Blocks, post: Callable[..., Answer], streams: Callable[[str], None], started: list[str]
) -> None:
    demo._queue.max_size = 40
    for number in range(40):
        assert post(SLOW, "eager", f"eager{number % 2}").status == 200
    for session in ("eager0", "eager1"):
        streams(session)
    until(lambda: all(box.listeners for box in demo._queue.pending_messages_per_session.values()))
    while len(demo._queue) < 40:
        post(SLOW, "eager", "eager0")
    assert post(SLOW, "own", "own").status == 200
    assert heard(demo, "own") == ["own"]
    assert len(started) < 60


def test_streams_that_wait_leave_room_for_others(
    demo: gr.Blocks, post: Callable[..., Answer], streams: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_queue, "MOST_STREAMS", 3)
    demo._queue.create_event_queue_for_fn(demo.fns[STREAM])
    line = demo._queue.event_queue_per_concurrency_id[demo.fns[STREAM].concurrency_id]
    line.concurrency_limit = 0  # none of them begins
    for number in range(3):
        assert post(STREAM, "a", f"many{number}").status == 200
        streams(f"many{number}")
    until(lambda: len(line.queue) == 3)
    refused = post(STREAM, "a", "one-more")
    assert (refused.status, refused.detail) == (503, event_queue.TOO_LONG)
    assert post(QUICK, "own", "own").status == 200
    assert heard(demo, "own") == ["own"]


def test_a_session_is_listened_for_a_few_times(
    demo: gr.Blocks, post: Callable[..., Answer], streams: Callable[[str], None]
) -> None:
    demo._queue.create_event_queue_for_fn(demo.fns[SLOW])
    line = demo._queue.event_queue_per_concurrency_id[demo.fns[SLOW].concurrency_id]
    line.concurrency_limit = 0  # nothing is answered
    post(SLOW, "a", "own")
    box = demo._queue.pending_messages_per_session["own"]
    for _ in range(MOST_LISTENERS):
        streams("own")
    until(lambda: box.listeners == MOST_LISTENERS)
    assert send(demo.local_url, "/gradio_api/queue/data?session_hash=own").status == 503


def test_a_call_without_a_session_leaves_nothing(demo: gr.Blocks) -> None:
    called = json.loads(send(demo.local_url, "/gradio_api/call/quick", {"data": ["a"]}).body)["event_id"]
    lines = list(listen(demo.local_url, f"/gradio_api/call/quick/{called}"))
    assert lines[-2:] == ["event: complete", 'data: ["a"]']
    until(lambda: not demo.state_holder.session_data)
    assert send(demo.local_url, "/gradio_api/call/quick/unknown").status == 404
