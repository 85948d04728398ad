"""SIGTERM ends the real app soon and cleanly, whatever it is at: a container is killed some seconds after it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from tests.conftest import START_SECONDS, answers, runs, start_app
from tests.hostile.wire import SECONDS, send
from tests.systems import needs_sigterm

SOON = 15.0  # seconds
pytestmark = [pytest.mark.slow, needs_sigterm]


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[..., tuple[int, str]]]:
    """started(NAME=value, ...) is (process, address) of an app with these in its environment."""
    processes: list[int] = []

    def start(**environment: str) -> tuple[int, str]:
        pid, port = start_app(tmp_path, **environment)
        processes.append(pid)
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + START_SECONDS
        while "is ready" not in (tmp_path / "app.log").read_text(encoding="utf-8") or not answers(url):
            assert time.monotonic() < deadline, (tmp_path / "app.log").read_text(encoding="utf-8")[-2_000:]
            time.sleep(0.2)
        return pid, url

    yield start
    for pid in processes:
        if runs(pid):
            psutil.Process(pid).kill()


def _ends_soon(pid: int, log: Path) -> None:
    app = psutil.Process(pid)
    app.terminate()
    try:
        code = app.wait(SOON)
    except psutil.TimeoutExpired:
        pytest.fail(log.read_text(encoding="utf-8")[-2_000:])
    assert code == 0
    assert "Traceback" not in log.read_text(encoding="utf-8")


@pytest.fixture
def silent_hub() -> Iterator[tuple[str, threading.Event]]:
    """(the address of a hub that takes connections and says nothing, what is set once it was asked)."""
    held: list[socket.socket] = []
    asked = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as hub:

        def hold() -> None:
            while True:
                try:
                    held.append(hub.accept()[0])
                except OSError:
                    return
                asked.set()

        threading.Thread(target=hold, daemon=True).start()
        yield f"http://127.0.0.1:{hub.getsockname()[1]}", asked
    for connection in held:
        connection.close()


def test_while_the_hub_says_nothing_trainings_run_and_wait_and_clients_neither_read_nor_send(
    started: Callable[..., tuple[int, str]], silent_hub: tuple[str, threading.Event], tmp_path: Path
) -> None:
    endpoint, hub_asked = silent_hub
    pid, url = started(HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="0", TRANSFORMERS_OFFLINE="0")
    place = urlsplit(url)
    config = json.loads(send(url, "/config").body)
    numbers = {one["api_name"]: one["id"] for one in config["dependencies"] if one["api_name"]}
    with ExitStack() as stack:
        for number in range(4):  # one runs, three wait
            trained = {"data": ["emotion", "mean", 10, 1e-4, 16, 0, "", "all", ""]}
            event = json.loads(send(url, "/gradio_api/call/fine_tune", trained).body)["event_id"]
            listener = stack.enter_context(closing(http.client.HTTPConnection(place.netloc, timeout=SECONDS)))
            listener.request("GET", f"/gradio_api/call/fine_tune/{event}")
            answer = listener.getresponse()
            assert answer.status == 200  # who listens is in line; one that waits is sent a line after 15 s only
            if not number:
                assert answer.readline() == b"event: generating\n"
        for model in ("bert-tiny", "bert-base-cased", "distilbert-base-uncased"):
            assert send(url, "/gradio_api/call/attention", {"data": ["a", "", 0, model, 0]}).status == 200
        assert hub_asked.wait(SECONDS)
        for _ in range(30):
            asked = {"data": ["word " * 40, "", 0, "", -1], "fn_index": numbers["attention"], "session_hash": "deaf"}
            assert send(url, "/gradio_api/queue/join", asked).status == 200
        for request in (
            "GET /gradio_api/queue/data?session_hash=deaf HTTP/1.1\r\nHost: a\r\n\r\n",  # whose answer is never read
            "POST /gradio_api/queue/join HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n{",
            "POST /gradio_api/upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n"
            "Content-Length: 900\r\n\r\n--x\r\n",
            "GET / HTTP/1.1\r\nHost:",
        ):
            connection = stack.enter_context(socket.socket())
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            connection.connect((place.hostname, place.port))
            connection.sendall(request.encode())
        time.sleep(3)
        _ends_soon(pid, tmp_path / "app.log")
