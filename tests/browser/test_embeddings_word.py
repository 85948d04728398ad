"""The part "A word in its context" in a real browser: drawn, moved by its slider, another word, and its notice."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_word_in_its_context(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("embeddings", part="word", text="The otter left the bank of the river.", word_layer=3)
    told = page.locator("#word-told")
    expect(told).to_contain_text("At layer 3 two uses of one sense")
    expect(told).to_contain_text("is nearest to river")
    expect(page.locator("#word-matrix .heatmaplayer image")).to_have_count(1)
    expect(page.locator("#word-ranks li")).to_have_count(25)
    page.locator("#word-layer input[type=number]").fill("5")
    page.locator("#word-layer input[type=number]").press("Enter")
    expect(told).to_contain_text("At layer 5")
    page.wait_for_url("**word_layer=5**")
    page.get_by_label("Pick a word").click()
    page.get_by_role("option", name="pupil").click()
    expect(told).to_contain_text("“pupil”")
    expect(page.locator("#word-curves")).to_contain_text("different senses")
    page.locator("#word-word textarea, #word-word input").fill("<b>")
    expect(page.locator("#embeddings-word .notice")).to_contain_text("does not have the word “<b>” in it")
    expect(told).to_contain_text("“pupil”")
