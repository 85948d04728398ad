"""The decoder in a real browser: it writes, stops, goes on, starts over with another sentence, and searches."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_it_writes_stops_and_starts_over(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("family", part="decoder", text="He opened the door and")
    written = page.locator("#decoder-text .decoder-written")
    chosen = page.locator("#decoder-next .chosen .word")
    expect(chosen).to_have_count(1)
    first = chosen.inner_text()
    page.click("#decoder-one")
    expect(written).to_have_count(1)
    expect(written.first).to_contain_text(first)
    page.click("#decoder-many")
    expect(written.nth(1)).to_be_visible()
    page.click("#decoder-stop")
    page.get_by_label("a random piece").check()
    expect(page.locator("#decoder-next .decoder-legend")).to_be_visible()
    assert written.count() >= 2
    page.click("#decoder-again")
    expect(written).to_have_count(0)
    page.click("#decoder-one")
    expect(written).to_have_count(1)
    page.locator("#bar-text textarea").fill("She was a")
    expect(written).to_have_count(0)
    expect(page.locator("#decoder-text")).to_contain_text("she")
    page.get_by_label("beam search").check()
    beams = page.locator("#decoder-beams dd")
    expect(beams).to_have_count(5)  # greedy, a beam of three, one drawn at random
    expect(page.locator("#decoder-tree .js-plotly-plot")).to_be_visible()
    expect(page.locator("#decoder-one")).to_be_hidden()
    page.locator("#decoder-width input[type=number]").fill("2")
    expect(beams).to_have_count(4)
    page.get_by_label("a random piece").check()
    expect(page.locator("#decoder-one")).to_be_visible()
    expect(page.locator("#decoder-next .decoder-legend")).to_be_visible()
