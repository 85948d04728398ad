"""What another page of the same address has left in the browser's storage: the page stands all the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

LISTS = "inside-bert-long", "inside-bert-lessons", "inside-bert-begun", "inside-bert-files"
HUGE = "w " * 2_000_000


def _poison(local: Any, lists: Any, tab: str) -> str:
    """The script that leaves these, before any of the page's own."""
    session = dict.fromkeys(LISTS, json.dumps(lists)) | {"inside-bert-tab": tab}
    return f"""
        localStorage.setItem("inside-bert", {json.dumps(json.dumps(local))});
        for (const [name, value] of Object.entries({json.dumps(session)})) sessionStorage.setItem(name, value);
    """


@pytest.mark.parametrize(
    "script",
    [
        _poison(
            {"text": {"a": 1}, "pair": 7, "model": ["x"], "reader": {}, "dark": "yes", "__proto__": {"text": "x"}},
            {"__proto__": {"x": 1}},
            "../../x",
        ),
        _poison(
            {"text": HUGE, "model": "<img src=x onerror=alert(1)>"},
            [1, None, ["tokens", 5], ["tokens", {"at": 1e15, "values": 5}], [["a"]]],
            "x" * 100_000,
        ),
        _poison(["text", "a"], [["finetune", {"at": 1e15, "values": [{"path": 5}, "x", {"url": "x"}]}]], ""),
    ],
    ids=["wrong types", "huge", "files"],
)  # fmt: skip
def test_the_page_stands(
    page: Page, open_lesson: Callable[..., Page], turn_to: Callable[..., None], script: str
) -> None:
    page.add_init_script(
        f'if (!sessionStorage.getItem("poisoned")) {{ sessionStorage.setItem("poisoned", "1"); {script} }}'
    )
    open_lesson("tokens")
    chips = page.locator("#tokens-picture li")
    expect(chips.first).to_be_visible()
    page.locator("#bar-text textarea").fill("A quiet river")
    expect(chips).to_have_count(5)  # with [CLS] and [SEP]
    turn_to(page, "finetune")
    expect(page.locator("#finetune-data tbody tr").first).to_be_visible()
    expect(page.locator("#bar-text textarea")).to_have_value("A quiet river")
    assert page.evaluate("({}).text") is None
