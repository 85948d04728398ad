"""Script payloads in every input, every output looked at, in a real browser: nothing runs, and the text is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.hostile.payloads import FEW, MADE, PAYLOADS
from tests.hostile.scripted_reader import ScriptedReader


@pytest.mark.parametrize("lesson", ["overview", "attention"])
def test_a_payload_stays_text(context: BrowserContext, app_url: str, tmp_path: Path, lesson: str) -> None:
    """`python tests/benchmarks hostile` puts in all of them, in all lessons, and takes every file home.

    In the lesson on tokens its shortest form does, in tests/test_benchmarks.py.
    """
    reader = ScriptedReader(context, app_url, FEW, tmp_path)
    reader.visit(lesson, downloads=lesson == "attention")
    assert reader.seen.faults == []
    assert reader.seen.shown.total() > 0, reader.seen.shown


def test_a_payload_that_runs_is_seen(context: BrowserContext, app_url: str) -> None:
    """What the other tests rely on."""
    page = context.new_page()
    page.goto(f"{app_url}/robots.txt")
    unseen = []
    for payload in PAYLOADS:
        page.goto(f"{app_url}/robots.txt")
        page.evaluate("html => document.body.append(document.createRange().createContextualFragment(html))", payload)
        if not page.evaluate(MADE):
            unseen.append(payload)
    assert len(unseen) < len(PAYLOADS) / 2, unseen
