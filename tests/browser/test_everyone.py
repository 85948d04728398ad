"""A figure's table keeps up with it; and in the colours that a system forces on pages, a focus is seen.

What each part has for everyone: test_views.py.
"""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.everyone import everyone

OTHER = "The thief hid the money under the bridge across the river."
TABS = 14  # stops that are looked at


def test_a_figures_table_keeps_up_and_the_focus_is_seen_in_forced_colours(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("attention", part="rollout")
    panel = "attention-rollout"
    table = page.locator(f"#{panel} .figure-table")
    table.locator("summary").click()
    expect(table.locator("th[scope=col]").nth(1)).to_contain_text("[CLS]")
    before = everyone(page, "numbers", panel)
    page.locator("#bar-text textarea").fill(OTHER)
    expect(table.locator("tbody th").nth(2)).to_contain_text("thief")
    assert everyone(page, "numbers", panel) != before
    assert everyone(page, "figures", panel) == []  # which compares it with what Plotly draws

    page.keyboard.press("Escape")  # the box that grew over the lessons' links is one line again
    expect(page.locator("#bar-text textarea")).to_have_css("height", "40px")
    page.emulate_media(forced_colors="active")
    page.evaluate("scrollTo(0, 0)")
    unseen = []
    for _ in range(TABS):
        page.keyboard.press("Tab")
        unseen.append(everyone(page, "focus"))
    assert [found for found in unseen if found] == []
