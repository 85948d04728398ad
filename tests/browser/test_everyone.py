"""Each part for everyone: figures that say in words and tables what they show, and keep up; no need to hover or drag.

And in the colours that a system forces on pages: marks that can be told from their ground, and a focus that is seen.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from demos.lessons import discover
from demos.page.lesson import Lesson

EVERYONE = Path(__file__).with_name("everyone.js").read_text(encoding="utf-8")
LESSONS = discover()
DRAWN = """(id) => [...document.getElementById(id).querySelectorAll('.picture')].some((picture) =>
    picture.checkVisibility() && picture.getBoundingClientRect().height > 20)"""
OTHER = "The thief hid the money under the bridge across the river."
TABS = 14  # stops that are looked at


def asked(page: Page, what: str, of: str = "") -> Any:
    return page.evaluate(f"(id) => ({EVERYONE}).{what}(id)", of)


@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.slug for lesson in LESSONS])
def test_each_part_is_for_everyone(open_lesson: Callable[..., Page], lesson: Lesson) -> None:
    page = open_lesson(lesson.slug)
    faults: dict[str, list[str]] = {}
    figures = 0
    for part in [part.slug for part in lesson.parts] or [""]:
        panel = f"{lesson.slug}-{part}" if part else f"lesson-{lesson.slug}"
        if part:
            page.locator(f"#{panel}-button").click()
        page.wait_for_function(DRAWN, arg=panel)
        page.wait_for_timeout(400)
        found = asked(page, "figures", panel)
        figures += page.locator(f"#{panel} .figure-table[open]").count()
        found += asked(page, "figures", panel)
        asked(page, "find", panel)
        page.emulate_media(forced_colors="active")
        found += asked(page, "marks", panel)
        page.emulate_media(forced_colors="none")
        faults[panel] = found + asked(page, "dragged", panel) + asked(page, "hovered", panel)
    assert {panel: found for panel, found in faults.items() if found} == {}
    assert figures > 0 or lesson.slug in {"overview", "tokens", "pretraining"}


def test_a_figures_table_keeps_up_and_the_focus_is_seen_in_forced_colours(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("attention", part="rollout")
    panel = "attention-rollout"
    table = page.locator(f"#{panel} .figure-table")
    table.locator("summary").click()
    expect(table.locator("th[scope=col]").nth(1)).to_contain_text("[CLS]")
    before = asked(page, "numbers", panel)
    page.locator("#bar-text textarea").fill(OTHER)
    expect(table.locator("tbody th").nth(2)).to_contain_text("thief")
    assert asked(page, "numbers", panel) != before
    assert asked(page, "figures", panel) == []  # which compares it with what Plotly draws

    page.keyboard.press("Escape")  # the box that grew over the lessons' links is one line again
    expect(page.locator("#bar-text textarea")).to_have_css("height", "40px")
    page.emulate_media(forced_colors="active")
    page.evaluate("scrollTo(0, 0)")
    unseen = []
    for _ in range(TABS):
        page.keyboard.press("Tab")
        unseen.append(asked(page, "focus"))
    assert [found for found in unseen if found] == []
