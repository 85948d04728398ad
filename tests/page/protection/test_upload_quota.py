"""Uploads beyond the bound: the oldest files go, the newest stay."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import pytest

from demos.page.protection import MIDDLEWARE, upload_quota
from demos.page.protection.upload_quota import forget_oldest
from tests.hostile.wire import send


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Five files of 100 bytes, the oldest first."""
    paths = []
    for age in range(5):
        path = tmp_path / f"{age}" / "file"
        path.parent.mkdir()
        path.write_bytes(b"x" * 100)
        os.utime(path, (age, age))
        paths.append(str(path))
    return paths


@pytest.mark.parametrize(("most_bytes", "most_files", "left"), [(500, 5, 5), (499, 5, 4), (250, 5, 2), (500, 3, 3)])
def test_the_oldest_go(files: list[str], most_bytes: int, most_files: int, left: int) -> None:
    assert forget_oldest(reversed(files), most_bytes, most_files) == set(files[: 5 - left])
    assert [Path(path).exists() for path in files] == [False] * (5 - left) + [True] * left
    assert not Path(files[0]).parent.exists() or left == 5


def test_what_is_gone_already_is_forgotten(files: list[str]) -> None:
    Path(files[4]).unlink()
    assert forget_oldest(files, 10_000, 10) == {files[4]}


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with gr.Blocks(analytics_enabled=False) as demo:
        gr.File()
    demo.launch(prevent_thread_lock=True, quiet=True, _frontend=False, app_kwargs={"middleware": MIDDLEWARE})
    yield demo.local_url
    demo.close()


def _upload(url: str, content: bytes) -> int:
    body = b'--x\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + content + b"\r\n--x--\r\n"
    return send(url, "/gradio_api/upload", body, {"content-type": "multipart/form-data; boundary=x"}).status


def test_uploads_on_the_wire_are_bounded(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upload_quota, "MOST_BYTES", 3_000_000)
    for number in range(12):
        assert _upload(url, b"%d" % number * 1_000_000) == 200
    time.sleep(0.5)  # the last answer comes before the oldest files go
    left = [path.read_bytes() for path in tmp_path.glob("*/a.txt")]
    assert 1_000_000 <= sum(map(len, left)) <= 3_000_000
    assert any(content.startswith(b"1111") for content in left)
