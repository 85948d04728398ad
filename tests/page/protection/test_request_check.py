"""Bodies as they are handed on: what was checked, written anew; slow ones are given up."""

import json
import socket
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import gradio as gr
import pytest

from demos.page.protection import MIDDLEWARE, coming, request_check
from demos.page.protection.request_check import JOIN, MOST_VALUES, SERVER, RefusedError, checked


@pytest.fixture(scope="module")
def demo() -> gr.Blocks:
    with gr.Blocks(analytics_enabled=False) as demo:
        text, state = gr.Textbox(), gr.State()
        button = gr.Button()
        button.click(lambda said, _: said, [text, state], text, api_name="echo")
        button.click(None, None, None, js="() => {}")
        button.click(lambda: "", None, text, api_visibility="private", api_name="hidden")
    return demo


def _join(**fields: Any) -> bytes:
    return json.dumps({"fn_index": 0, "data": ["a", None], "session_hash": "s"} | fields).encode()


def test_an_event_in_order_is_handed_on(demo: gr.Blocks) -> None:
    assert json.loads(checked(_join(), JOIN, demo)) == json.loads(_join())
    assert json.loads(checked(_join(trigger_id=demo._id, event_data={"x": [1]}), JOIN, demo))["trigger_id"] == demo._id


@pytest.mark.parametrize("depth", [300, 1_000, 2_000, 500_000])
def test_what_is_nested_too_deeply_is_refused(demo: gr.Blocks, depth: int) -> None:
    body = _join().replace(b'"a"', b"[" * depth + b"]" * depth)
    with pytest.raises(RefusedError):
        checked(body, JOIN, demo)


@pytest.mark.parametrize(
    "value", [[[]] * MOST_VALUES, [{"a": 0}] * (MOST_VALUES // 2), dict.fromkeys(map(str, range(MOST_VALUES)))]
)
def test_more_values_than_a_page_sends_are_refused(demo: gr.Blocks, value: Any) -> None:
    with pytest.raises(RefusedError, match="more than 20,000 values"):
        checked(_join(data=[value, None]), JOIN, demo)
    assert checked(_join(data=["," * 100_000, [0] * (MOST_VALUES // 2)]), JOIN, demo)


@pytest.mark.parametrize("many", ["[],", "{},", '"a",', "1,", '{"a":1},', "[[[0]]],", '"\\"",', '"\ud800",'])
def test_they_are_refused_before_they_are_made(demo: gr.Blocks, many: str) -> None:
    """Of 3 MB that are no JSON, which is told only at their end, a hundred would be made."""
    body = b'{"data": [' + (many * (2_900_000 // len(many))).encode("utf-8", "surrogatepass") + b"nonsense"
    tracemalloc.start()
    try:
        with pytest.raises(RefusedError, match="more than 20,000 values"):
            checked(body, JOIN, demo)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("text", ["," * 2_000_000, '\\",[{' * 400_000, '"' * 1_000_000, "\ud83d\ude42[" * 200_000])
def test_what_stands_in_a_text_is_one_value(demo: gr.Blocks, text: str) -> None:
    for body in (_join(data=[text, None]), json.dumps({"data": [text]}, ensure_ascii=False).encode("utf-8", "replace")):
        assert checked(body, JOIN if b"fn_index" in body else "/gradio_api/call/echo", demo)


@pytest.mark.parametrize("name", ["x", "preprocess", "__class__", "", 7, None])
def test_only_a_components_own_functions_are_asked(demo: gr.Blocks, name: Any) -> None:
    """For any other Gradio would begin a session, and forget those of 500 readers."""
    body = {"component_id": next(iter(demo.blocks)), "session_hash": "s", "fn_name": name, "data": 1}
    with pytest.raises(RefusedError, match="no component's function"):
        checked(json.dumps(body).encode(), SERVER, demo)


def test_half_a_pair_becomes_the_replacement_character(demo: gr.Blocks) -> None:
    handed = json.loads(checked(_join(data=["a\ud800b \U0001f642", None]), JOIN, demo))
    assert handed["data"] == ["a\ufffdb \U0001f642", None]


def test_of_two_fields_of_one_name_the_one_that_was_checked_is_handed_on(demo: gr.Blocks) -> None:
    twice = _join()[:-1] + b', "session_hash": "other"}'
    assert checked(twice, JOIN, demo).count(b"session_hash") == 1


@pytest.mark.parametrize("number", [1, 7, -1])
def test_what_runs_in_the_browser_alone_is_no_function(demo: gr.Blocks, number: int) -> None:
    with pytest.raises(RefusedError, match="names no function"):
        checked(_join(fn_index=number), JOIN, demo)


def test_a_call_needs_no_states_and_reaches_no_private_function(demo: gr.Blocks) -> None:
    assert checked(b'{"data": ["a"]}', "/gradio_api/call/echo", demo)
    for name, data in (("echo", "[]"), ("hidden", "[]"), ("nothing", "[]")):
        with pytest.raises(RefusedError):
            checked(f'{{"data": {data}}}'.encode(), f"/gradio_api/call/{name}", demo)


@pytest.fixture
def port(demo: gr.Blocks, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(request_check, "BODY_SECONDS", 0.5)
    demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, app_kwargs={"middleware": MIDDLEWARE})
    yield demo.server_port
    demo.close()


def test_a_body_that_does_not_end_is_given_up(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=20) as slow:
        slow.sendall(b"POST /gradio_api/queue/join HTTP/1.1\r\nhost: a\r\ncontent-length: 900\r\n\r\n{")
        assert slow.recv(100).startswith(b"HTTP/1.1 408")


@pytest.fixture
def begin(monkeypatch: pytest.MonkeyPatch) -> Callable[[socket.socket, bytes], None]:
    """begin(connection, bytes) sends a request's first bytes and waits until the app has begun with its body."""
    begun: list[coming.Coming] = []
    counted = coming.Coming.counted

    def noted(bodies: coming.Coming, *arguments: Any) -> Any:
        begun.append(bodies)
        return counted(bodies, *arguments)

    def send(connection: socket.socket, first: bytes) -> None:
        count, deadline = len(begun), time.monotonic() + 60
        connection.sendall(first)
        while len(begun) == count:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    monkeypatch.setattr(coming.Coming, "counted", noted)
    return send


def test_bodies_that_are_kept_from_their_end_are_few(
    port: int, begin: Callable[[socket.socket, bytes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_check, "BODY_SECONDS", 60)
    monkeypatch.setattr(coming, "MOST_AT_ONCE", 2)
    head = b"POST /gradio_api/queue/join HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{"
    with ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)) for _ in range(3)]
        for one in slow:
            begin(one, head)
        assert slow[0].recv(100).startswith(b"HTTP/1.1 408")
        slow[2].sendall(b" " * 8)
        assert slow[2].recv(100).startswith(b"HTTP/1.1 422")


def test_bodies_that_are_kept_from_their_end_are_bounded_together(
    port: int, begin: Callable[[socket.socket, bytes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_check, "BODY_SECONDS", 60)
    monkeypatch.setattr(request_check, "MOST_COMING", 1_000_000)
    head = b"POST /gradio_api/queue/join HTTP/1.1\r\nhost: a\r\ncontent-length: 900000\r\n\r\n"
    with (
        socket.create_connection(("127.0.0.1", port), timeout=20) as first,
        socket.create_connection(("127.0.0.1", port), timeout=20) as second,
    ):
        for slow in (first, second):
            begin(slow, head + b" " * 600_000)
        assert first.recv(100).startswith(b"HTTP/1.1 408")
        second.sendall(b" " * 300_000)
        assert second.recv(100).startswith(b"HTTP/1.1 422")
