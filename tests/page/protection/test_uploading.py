"""Uploads on the wire: bounded for each session, and nothing is left of one that breaks off."""

import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import gradio as gr
import pytest
from gradio import routes

from demos.page.protection import INNERMOST, MIDDLEWARE, upload_quota, uploading
from demos.page.protection.uploading import MOST_PROGRESSES, Newest
from tests.hostile.wire import Answer, call, join, send
from tests.page.patched import apply_named

FORM = {"content-type": "multipart/form-data; boundary=x"}
HEAD = b'--x\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
END = b"\r\n--x--\r\n"


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    apply_named(monkeypatch, "NamedTemporaryFile", "_process_single_file", "_statuses", "_signals")
    with gr.Blocks(analytics_enabled=False) as demo:
        picked = gr.File()
        picked.change(lambda path: Path(path).read_text(encoding="utf-8"), picked, gr.Textbox(), api_name="pick")
    guards = [*MIDDLEWARE, INNERMOST]
    demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, app_kwargs={"middleware": guards})
    yield demo.local_url
    demo.close()


def _upload(url: str, content: bytes) -> Answer:
    return send(url, "/gradio_api/upload", HEAD + content + END, FORM)


def _is_soon(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.05)
    return condition()


def _files(folder: Path) -> list[Path]:
    """What lies there; a folder that is removed meanwhile is passed over."""
    return [Path(place, name) for place, _, names in os.walk(folder) for name in names]


def _bytes(folder: Path) -> int:
    sizes = 0
    for path in _files(folder):
        with suppress(FileNotFoundError):  # removed meanwhile
            sizes += path.stat().st_size
    return sizes


def test_uploads_are_bounded(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_quota, "MOST_BYTES", 3_000_000)
    for number in range(12):
        assert _upload(url, b"%d" % number * 1_000_000).status == 200
    assert _is_soon(lambda: _bytes(tmp_path) <= 3_000_000)
    assert any(path.read_bytes().startswith(b"1111") for path in _files(tmp_path))


def test_what_a_session_uses_outlasts_a_strangers_uploads(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_quota, "MOST_BYTES", 3_000_000)
    (own,) = json.loads(_upload(url, b"own" * 100_000).body)
    value = {"path": own, "meta": {"_type": "gradio.FileData"}}
    assert join(url, 0, [value], "honest").status == 200
    for number in range(9):
        assert _upload(url, b"%d" % number * 1_000_000).status == 200
    assert _is_soon(lambda: _bytes(tmp_path) <= 3_000_000)
    assert Path(own).exists()


def test_an_event_leaves_no_file(url: str, tmp_path: Path) -> None:
    (own,) = json.loads(_upload(url, b"own").body)
    assert "own" in call(url, "pick", [{"path": own, "meta": {"_type": "gradio.FileData"}}])
    assert _files(tmp_path) == [Path(own)]


@pytest.mark.parametrize(
    ("sent", "length"), [(HEAD + b"x" * 100_000, 200_000), (HEAD + b"x" * 100_000, 0)], ids=["hangs up", "has no end"]
)
def test_nothing_is_left_of_a_broken_upload(
    url: str, tmp_path: Path, sent: bytes, length: int, capfd: pytest.CaptureFixture[str]
) -> None:
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port)) as connection:
        asked = "POST /gradio_api/upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        connection.sendall(f"{asked}Content-Length: {length or len(sent)}\r\n\r\n".encode() + sent)
        if length:
            assert _is_soon(lambda: bool(_files(tmp_path)))
        else:
            connection.recv(1_000)
    assert _is_soon(lambda: not _files(tmp_path))
    assert "Traceback" not in "".join(capfd.readouterr())


def test_a_form_without_a_file_is_refused(url: str) -> None:
    assert send(url, "/gradio_api/upload", HEAD.replace(b'; filename="a.txt"', b"") + b"x" + END, FORM).status == 400


def _begun(url: str, sent: int) -> socket.socket:
    place = urlsplit(url)
    connection = socket.create_connection((place.hostname, place.port), timeout=20)
    asked = "POST /gradio_api/upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    connection.sendall(f"{asked}Content-Length: 3000000\r\n\r\n".encode() + HEAD + b"x" * sent)
    return connection


def test_a_slow_upload_is_given_up(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploading, "UPLOAD_SECONDS", 0.5)
    with _begun(url, 1_000) as connection:
        assert b" 408 " in connection.recv(1_000)
    assert _is_soon(lambda: not _files(tmp_path))


def test_of_too_much_on_its_way_the_first_is_given_up(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload_quota, "MOST_BYTES", 2_500_000)
    with _begun(url, 1_000_000) as first:
        assert _is_soon(lambda: len(_files(tmp_path)) == 1)  # the server has it before the second
        with _begun(url, 1_000_000) as second:
            assert _is_soon(lambda: len(_files(tmp_path)) == 2)
            assert _upload(url, b"x" * 1_000_000).status == 200
            assert b" 408 " in first.recv(1_000)
            second.setblocking(False)
            with pytest.raises(BlockingIOError):
                second.recv(1)


def test_gradio_notes_how_far_uploads_are_for_the_newest(url: str) -> None:
    uploads = routes.file_upload_statuses
    for number in range(MOST_PROGRESSES + 10):
        uploads.track(f"upload{number}")
    assert len(uploads._statuses) == len(uploads._signals) == MOST_PROGRESSES
    assert not uploads.is_done(f"upload{MOST_PROGRESSES + 9}")


def test_how_far_uploads_are_is_noted_for_the_newest() -> None:
    newest = Newest()
    events = [newest[f"{number}"] for number in range(MOST_PROGRESSES + 10)]
    assert len(newest) == MOST_PROGRESSES
    assert newest[f"{MOST_PROGRESSES}"] is events[MOST_PROGRESSES]
