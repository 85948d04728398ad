"""The app with none of its changes to Gradio and others: the page opens in Chromium, and is drawn anew."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from demos.page.patches.patches import MENDS, PATCHES
from tests.browser.conftest import stands
from tests.conftest import ROOT, START_SECONDS, answers, end_app, free_port

PROGRAM = """
import re, sys
from dataclasses import replace
import app
app.PATCHES = [replace(patch, fits=(lambda _: False,)) for patch in app.PATCHES]
app.MENDS = [replace(mend, old=re.compile(b"no script has this")) for mend in app.MENDS]
sys.exit(app.main(["--port", sys.argv[1]]))
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "app.log"


@pytest.fixture
def url(log: Path) -> Iterator[str]:
    port = free_port()
    env = {**os.environ, "INSIDE_BERT_RUNS": str(log.parent / "runs"), "HF_HOME": str(log.parent / "hub")}
    command = [sys.executable, "-c", PROGRAM, str(port)]
    with log.open("w", encoding="utf-8") as output:
        process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=subprocess.STDOUT)
    url, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
    try:
        while "is ready" not in log.read_text(encoding="utf-8") or not answers(url):
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")[-4_000:]
            time.sleep(0.2)
        yield url
    finally:
        end_app(process.pid, url)
        process.wait()


def test_the_page_works_with_nothing_changed(url: str, log: Path, browser: Browser) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(40_000)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.goto(f"{url}/tokens?text=Rivers+have+banks.")
    stands(page, "tokens")
    chips = page.locator("#tokens-picture ol").first
    expect(chips).to_contain_text("banks")
    page.locator("#bar-text textarea").fill("Lakes have shores.")
    expect(chips).to_contain_text("shores")
    page.goto(f"{url}/attention")  # with a figure of Plotly's
    stands(page, "attention")
    page.locator("#attention-heatmap").scroll_into_view_if_needed()
    expect(page.locator("#attention-heatmap .js-plotly-plot .main-svg").first).to_be_visible()
    context.close()
    assert faults == []
    lines = [line for line in log.read_text(encoding="utf-8").splitlines() if "does without this" in line]
    assert len(set(lines)) == len(lines) == len(PATCHES) + len(MENDS)
    assert "Traceback" not in log.read_text(encoding="utf-8")
