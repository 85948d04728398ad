"""Switch heads off in real Chromium: grid, box and link hold one set, and all that depends on it follows."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

TEXT = "The old miller counted his sacks twice."


def test_heads_go_off_and_on_again(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("attention", part="cause", text=TEXT, off="0.2, 1.4")
    said, box = page.locator("#cause-said"), page.locator("#cause-off :is(textarea, input)")
    expect(said).to_contain_text("2 of 72 heads are off")
    expect(page.locator("#cause-picture .heatmaplayer image")).to_have_count(1)
    off = page.locator("#cause-grid [aria-pressed=true]")
    expect(off).to_have_count(2)

    page.locator("#cause-grid [data-layer='3'][data-head='7']").click()
    expect(said).to_contain_text("3 of 72")
    expect(box).to_have_value("0.2, 1.4, 3.7")
    page.wait_for_url(re.compile(r"off=0\.2%2C\+1\.4%2C\+3\.7"))

    page.locator("#cause-layer-off input").click()
    expect(page.get_by_role("option")).to_have_count(6)  # the model's own layers
    page.get_by_role("option", name="layer 2").click()
    expect(said).to_contain_text("15 of 72")
    expect(off).to_have_count(15)

    box.fill("x")
    expect(page.locator(".notice")).to_contain_text("is no head")
    page.locator("#cause-all-on").click()
    expect(said).to_contain_text("All 72 heads are on")
    expect(off).to_have_count(0)

    page.locator("#cause-compare textarea").fill("One.\nTwo <img src=x onerror=alert(1)>")
    expect(page.locator("#cause-similar tbody tr")).to_have_count(2)
    page.locator("#cause-leans > button").click()
    page.locator("#cause-output input").click()
    page.get_by_role("option").nth(1).click()
    expect(page.locator("#cause-explained caption")).to_contain_text("Two <img")
    expect(page.locator("#cause-explained tbody tr")).to_have_count(10)
    expect(page.locator("#cause-agreed")).to_contain_text("Spearman")
    assert page.locator("#cause-explained img, #cause-similar img").count() == 0
