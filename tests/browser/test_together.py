"""Many heads as one in real Chromium: the worked example, the controls that count, the sums, and the link."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

TEXT, PAIR = "The unflappable banker smiled.", "Nobody noticed it."


def test_many_heads_as_one(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("attention", part="together", text=TEXT, pair=PAIR, of=6)
    said, one = page.locator("#together-said"), page.locator("#together-one")
    expect(said).to_contain_text("Attention rollout through layers 0 to 1")
    expect(said).to_contain_text("every row sums to 1")
    expect(page.locator("#together-heatmap .heatmaplayer image")).to_have_count(1)
    expect(page.locator("#together-heatmap .barlayer .bartext")).to_have_count(12)  # 7 words of A, 5 of B
    expect(one).to_contain_text("What banker (token 6) is made of after layer 1")
    expect(page.locator("#together-head")).to_have_count(0)

    page.locator("#together-specials").get_by_text("hidden", exact=True).click()
    expect(said).to_contain_text(re.compile(r"\[CLS\] and \[SEP\] hidden, not renormalised: rows sum to 0\.\d\d on"))
    expect(page.locator("#together-heatmap .barlayer .bartext")).to_have_count(9)
    page.locator("#together-quarter").get_by_text("A → B").click()
    expect(said).to_contain_text("only from sentence A to sentence B")
    page.locator("#together-what input").click()
    page.get_by_role("option", name="maximum over the layers").click()
    expect(said).to_contain_text("The largest weight among the 6 layers' head 2")
    expect(said).to_contain_text("no distribution")
    expect(page.locator("#together-head")).to_be_visible()
    expect(page.locator("#together-layer")).to_have_count(0)
    expect(one).to_contain_text("Where banker (token 6) looks")
    page.wait_for_url(re.compile("part=together.*join=layers-max.*specials=hide.*quarter=A-B"))
    dark = page.evaluate("insideBert.dark(true)")
    assert dark
    ink = page.locator("#together-heatmap .bartext").first.evaluate("text => getComputedStyle(text).fill")
    assert ink == "rgb(236, 234, 228)"  # the dark page's ink
