"""A stranger with a script, against the real app: odd events, and answers that nobody fetches."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.hostile.fuzz import fuzz
from tests.hostile.wire import call, send

pytestmark = pytest.mark.slow

EVENTS = 150  # `python tests/benchmarks hostile` sends 20,000


def _answer(url: str, name: str, *arguments: Any) -> Any:
    return json.loads(call(url, name, list(arguments)).removeprefix("data: "))[0]


def test_odd_events_break_nothing(app_url: str, logged: Callable[[], str]) -> None:
    report = fuzz(app_url, EVENTS, seed=16)
    assert (report.failed, report.hung) == (0, [])
    assert report.outcomes["200"] > EVENTS / 2
    assert "Traceback" not in logged()
    assert _answer(app_url, "tokenize", "still here", "", "")["tokens"][1] == "still"


def test_calls_that_nobody_fetches_hold_nobody_up(app_url: str, logged: Callable[[], str]) -> None:
    for _ in range(20):
        assert send(app_url, "/gradio_api/call/attention", {"data": ["word " * 480, "", 0, "", 0]}).status == 200
        trained = ["emotion", "mean", 3, 1e-4, 16, 0, "", "all", ""]
        assert send(app_url, "/gradio_api/call/fine_tune", {"data": trained}).status == 200
    assert "300,000" in call(app_url, "attention", ["word " * 480, "", 0, "", -1])
    assert len(_answer(app_url, "attention", "a b", "", 0, "", -1)["attention"]) == 12
    assert "Traceback" not in logged()
