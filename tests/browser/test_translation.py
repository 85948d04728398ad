"""The lesson before BERT in a real browser: one step of a decoder, and a short training."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_word_is_chosen_a_typed_sentence_translated_and_a_translator_trained(
    open_lesson: Callable[..., Page],
) -> None:
    page = open_lesson("translation", word=5)
    step = page.locator("#translation-one-step")
    expect(step).to_contain_text("the decoder writes “zone”")
    expect(page.locator("#translation-alignment .heatmaplayer image")).to_have_count(1)
    typed = page.locator("#translation-sentence input")
    typed.fill("the zebra sleeps")
    typed.press("Enter")
    expect(page.locator("#lesson-translation .notice", has_text="“zebra” is not among")).to_be_visible()
    expect(step).to_contain_text("“zone”")  # what was drawn stays
    typed.fill("the cat sleeps in the house")
    typed.press("Enter")
    expect(page.locator("#translation-both dd").first).to_contain_text("le chat dort dans la maison")

    page.locator("#translation-training-button").click()
    curve = page.locator("#translation-curve .curve-status")
    expect(curve).to_contain_text("Nothing has been trained yet")
    page.click("#translation-start")
    expect(page.locator("#translation-says")).to_contain_text("After 25 steps")
    page.click("#translation-stop")
    expect(page.locator("#translation-runs")).to_contain_text("of 500")
    expect(page.locator("#translation-start")).to_be_enabled()
