"""The app as its users run it: what was trained is there after a kill, and a training does not break its end."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest
from gradio_client import Client

from demos.page.past_runs import LOST
from tests.conftest import START_SECONDS, answers, start_app
from tests.systems import needs_sigterm
from tests.visit import Visit, train

pytestmark = pytest.mark.slow

READER, STRANGER = "a-key-that-nobody-guesses", "another-key-that-nobody-guesses"
OF_RUNS = ("finetune-table", "export-told")


@needs_sigterm
def test_a_run_outlives_its_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    pid, url = started(tmp_path)
    readers = Visit(url).others(50)
    try:
        assert tokens_of_all(readers) == list(range(50))
        train(Visit(url), READER)
        before = found(url, READER)
        assert LOST not in before["finetune-lost"]
        assert json.loads(before["finetune-curve"])["status"].startswith("Trained after")
        assert len(left(temporary)) == 1
    finally:
        app = psutil.Process(pid)
        app.kill()
        app.wait()

    pid, url = started(tmp_path, int(url.rsplit(":")[-1]))
    try:
        assert tokens_of_all(readers) == list(range(50))  # in the sessions that they had
        assert found(url, READER) == before
        strangers = found(url, STRANGER)
        assert LOST in strangers["finetune-lost"]
        assert not {strangers[name] for name in OF_RUNS} & {before[name] for name in OF_RUNS}
        assert json.loads(strangers["finetune-curve"])["status"].startswith("Nothing has been trained yet")
        assert len(left(temporary)) == 1  # not the killed one's
        events = Client(url, verbose=False, httpx_kwargs={"timeout": 60}).submit(epochs=10, api_name="/fine_tune")
        next(event for event in events if event["event"] == "step")
        app = psutil.Process(pid)
        app.terminate()
        ended = app.wait()
    except BaseException:
        psutil.Process(pid).kill()
        raise
    assert ended == 0, (tmp_path / "app.log").read_text(encoding="utf-8")[-2_000:]
    assert left(temporary) == []
    assert list((tmp_path / "runs").glob("unfinished-*")) == []


def started(folder: Path, port: int = 0) -> tuple[int, str]:
    """(process, address) of an app that answers."""
    pid, port = start_app(folder, port)
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + START_SECONDS
    while not answers(url):
        if time.monotonic() > deadline:
            psutil.Process(pid).kill()
            pytest.fail((folder / "app.log").read_text(encoding="utf-8")[-2_000:])
        time.sleep(0.1)
    return pid, url


def tokens_of_all(readers: list[Visit]) -> list[int]:
    """The number that each reader, all at one moment, is shown among the tokens of "It costs ... dollars"."""

    def number_of(place: int) -> int:
        reader = readers[place]
        shown = reader.ask(reader.drawing("tokens-picture"), {0: f"It costs {place} dollars."})["tokens-picture"]
        (number,) = re.findall(r"\bcosts\s+\d+\s+(\d+)\s", re.sub(r"<[^>]*>", " ", shown))
        return int(number)

    with ThreadPoolExecutor(len(readers)) as threads:
        return list(threads.map(number_of, range(len(readers))))


def left(temporary: Path) -> list[Path]:
    return [path for path in temporary.glob("fine-tune-*") if path.is_dir()]


def found(url: str, reader: str) -> dict[str | None, Any]:
    """What another tab shows of the reader's runs: their table, the model to take home."""
    visit, reader = Visit(url), f"{reader}/another-tab-of-theirs"
    told = visit.drawing("finetune-lost")
    shown = visit.ask(told, {0: reader})
    for name in OF_RUNS:
        shown |= visit.ask(visit.drawing(name), {})
    returning = told["inputs"][0]  # the box of the reader's key on a page that comes back
    (curve,) = (number for number, name in visit.names.items() if name == "finetune-curve")
    idle = next(one for one in visit.handlers if curve in one["outputs"] and returning in one["inputs"])
    shown |= visit.ask(idle, {idle["inputs"].index(returning): reader})
    return {name: shown[name] for name in ("finetune-lost", "finetune-curve", *OF_RUNS)}
