"""A server whose machine lets it open few files goes on answering among idle connections, and logs little."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from demos.page.protection import connections
from demos.page.protection.connections import MAC_FILES, MOST_FILES, most_connections, raise_file_limit
from tests.conftest import ROOT
from tests.hostile.wire import call, send

resource: Any = pytest.importorskip("resource", reason="this system has no limit of open files")
PROGRAM = """
import sys
import gradio as gr
from demos.page.patches.patch import apply_patches
from demos.page.patches.patches import PATCHES
from demos.page.protection import MIDDLEWARE
from demos.page.protection.error_log import keep_log_small
keep_log_small()
apply_patches(PATCHES)
with gr.Blocks(analytics_enabled=False) as demo:
    text = gr.Textbox()
    gr.Button().click(lambda said: said, text, text, api_name="echo")
demo.queue().launch(
    server_port=int(sys.argv[1]), quiet=True, _frontend=False, app_kwargs={"middleware": MIDDLEWARE})
"""
FILES = 256


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def url(log: Path) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with log.open("w", encoding="utf-8") as output:
        server = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(port)],
            cwd=ROOT,
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES)),
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                send(url, "/config")
                break
            except OSError:
                assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
                time.sleep(0.2)
        yield url
        assert server.poll() is None
    finally:
        server.kill()
        server.wait()


def _open(url: str, said: bytes = b"") -> socket.socket:
    host, port = url.removeprefix("http://").split(":")
    connection = socket.create_connection((host, int(port)), timeout=30)
    connection.sendall(said)
    return connection


def test_idle_connections_make_room(url: str, log: Path) -> None:
    with ExitStack() as stack:
        for _ in range(400):
            stack.enter_context(_open(url))
        for _ in range(3):
            assert call(url, "echo", ["among many"]) == 'data: ["among many"]'
    assert call(url, "echo", ["afterwards"]) == 'data: ["afterwards"]'
    assert log.stat().st_size < 20_000
    assert "Too many open files" not in log.read_text(encoding="utf-8")


def test_where_all_are_busy_one_more_is_told_so(url: str, log: Path) -> None:
    with ExitStack() as stack:
        for number in range(most_connections(FILES)):
            beat = f"GET /gradio_api/heartbeat/reader{number} HTTP/1.1\r\nhost: a\r\n\r\n".encode()
            stack.enter_context(_open(url, beat)).recv(1)
        more = stack.enter_context(_open(url))
        assert more.recv(1_000).startswith(b"HTTP/1.1 503")
    assert call(url, "echo", ["afterwards"]) == 'data: ["afterwards"]'
    assert log.stat().st_size < 20_000


@pytest.mark.parametrize(("files", "most"), [(64, 16), (256, 160), (1_024, 896), (20_000, 8_192), (65_536, 8_192)])
def test_files_are_left_for_others(files: int, most: int) -> None:
    assert most_connections(files) == most


def test_without_a_limit_to_read_the_number_is_fixed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "resource", None)
    assert raise_file_limit() == MOST_FILES


@pytest.mark.parametrize(("most", "expected"), [(10**6, MOST_FILES), (20_000, MAC_FILES), (5_000, 256)])
def test_a_limit_that_is_less_than_the_system_says(most: int, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """macOS says that there is none, and then allows less than was asked for."""
    held = [256]

    def ask(_: int, limits: tuple[int, int]) -> None:
        if limits[0] > most:
            raise ValueError("current limit exceeds maximum limit")
        held[0] = limits[0]

    monkeypatch.setattr(resource, "getrlimit", lambda _: (held[0], resource.RLIM_INFINITY))
    monkeypatch.setattr(resource, "setrlimit", ask)
    assert raise_file_limit() == held[0] == expected
