"""The app starts, opens its lessons, trains and forgets as Windows and macOS let it; both are only simulated.

tests/other_system.py says how. What no simulation shows: their own event loops, file systems and wheels of libraries.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from gradio_client import Client

from demos.lessons import discover
from tests.conftest import ROOT, START_SECONDS, answers, free_port
from tests.test_restart import found
from tests.visit import Visit, train

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems are simulated on Linux"),
]
MEMORY = "Here a container's limit of memory can't be read: the app counts on the whole machine's."
FILES = "Here the limit of open files can't be read: connections are bounded by a fixed number."
FREED = "Here freed memory can't be given back on demand: after many readers the app holds more than it uses."
LACKS = {"windows": [MEMORY, FILES, FREED], "macos": [MEMORY, FREED]}
# Not UTF-8: text is ASCII where no encoding is said, which is stricter than a code page, and printed in that of Europe.
CODE_PAGE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "cp1252"}
ENVIRONMENT = {"windows": CODE_PAGE, "macos": {}}
# No ASCII, and none of it in any one code page.
ROWS = "text\tlabel\n" + "".join(f"“Fein → żółw” 😀 {n}\t{('gut', 'źle')[n % 2]}\n" for n in range(60))
READER = "a-key-that-nobody-guesses"


@pytest.fixture(params=LACKS)
def system(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def app(system: str, tmp_path: Path) -> Iterator[tuple[psutil.Process, str]]:
    """(process, address) of the app on that system, where it is ready."""
    port, log = free_port(), tmp_path / "app.log"
    (tmp_path / "temporary").mkdir()
    env = {**os.environ, **ENVIRONMENT[system], "HF_HOME": str(tmp_path / "hub"), "OMP_NUM_THREADS": "1"}
    env |= {"TMPDIR": str(tmp_path / "temporary"), "INSIDE_BERT_RUNS": str(tmp_path / "runs")}
    command = [sys.executable, "-X", "warn_default_encoding", "tests/other_system.py", system]
    with log.open("wb") as output:
        started = subprocess.Popen(
            [*command, "app.py", "--port", str(port)], cwd=ROOT, env=env, stdout=output, stderr=subprocess.STDOUT
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 3 * START_SECONDS
        while "is ready" not in said(log) or not answers(url):
            if started.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the app did not start:\n{said(log)[-4_000:]}")
            time.sleep(0.2)
        yield psutil.Process(started.pid), url
    finally:
        started.kill()
        started.wait()


def said(log: Path) -> str:
    return log.read_text(encoding="cp1252")


def test_it_opens_its_lessons_and_trains(app: tuple[psutil.Process, str], system: str, tmp_path: Path) -> None:
    process, url = app
    visit, log = Visit(url), tmp_path / "app.log"
    for lesson in discover():
        page = visit.http.get(f"/{lesson.slug}", follow_redirects=True)
        assert page.status_code == 200
        assert lesson.question in page.text
    train(visit, READER)
    assert "kept on disk" not in said(log)
    assert list((tmp_path / "runs" / "models").glob("*/model.safetensors"))  # where it outlives the app
    assert "accuracy" in found(url, READER)["export-told"]  # which reads it again

    client = Client(url, verbose=False, httpx_kwargs={"timeout": 600})
    events = list(client.submit(ROWS, epochs=1, batch_size=4, trains="head", api_name="/fine_tune"))
    assert sum(event["event"] == "step" for event in events) >= 10
    assert events[-1]["event"] == "finished"
    (own,) = (path for path in (tmp_path / "temporary").glob("fine-tune-*") if path.is_dir())
    assert list(own.iterdir()) == []  # neither run has left a file

    process.terminate()
    process.wait()
    assert sorted(line for line in said(log).splitlines() if line.startswith("Here ")) == sorted(LACKS[system])
    assert "Traceback" not in said(log)
    assert "Error" not in said(log)
