"""The lesson before BERT in a real browser: one step of a decoder, and a short training."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_word_is_chosen_a_typed_sentence_translated_and_a_translator_trained(
    open_lesson: Callable[..., Page],
) -> None:
    page = open_lesson("translation", english="the cat sleeps in the house", word=3, attention="none")
    step = page.locator("#translation-one-step")
    expect(step).to_contain_text("Step 3: the decoder writes “dort”")  # as the link says
    expect(step).to_contain_text("no scores and no weights")
    page.locator("#translation-attention label", has_text="additive").click()
    expect(step).to_contain_text("softmax turns the scores into weights")
    typed = page.locator("#translation-sentence input")
    typed.fill("the agreement on the european economic area was signed in august 1992")
    typed.press("Enter")
    expect(step).to_contain_text("Step 3: the decoder writes “sur”")
    page.locator("#translation-step input[type=number]").fill("5")
    page.locator("#translation-step input[type=number]").press("Enter")
    expect(step).to_contain_text("the decoder writes “zone”")
    expect(page.locator("#translation-alignment .heatmaplayer image")).to_have_count(1)
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


def test_a_box_of_the_transformer_is_pressed(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("translation", part="transformer", transformer_english="she is a student", transformer_word=2)
    said = page.locator("#transformer-said")
    expect(page.locator("#translation-stacks .fed")).to_contain_text("she is a student")
    page.locator("#transformer-sentence input").fill("the agreement on the european economic area was signed")
    page.locator("#transformer-sentence input").press("Enter")
    expect(page.locator("#translation-stacks .fed")).to_contain_text("the european economic area")
    page.locator("#transformer-step input[type=number]").fill("5")
    page.locator("#transformer-step input[type=number]").press("Enter")
    expect(said).to_contain_text("Cross-attention, decoder layer 2")
    page.locator('#translation-stacks [data-token="2"]').click()
    expect(said).to_contain_text("Masked self-attention, decoder layer 1")
    expect(said).to_contain_text("masked")
    page.locator('#translation-stacks [data-token="17"]').click()
    expect(said).to_contain_text("Feed-forward, decoder layer 1")
    expect(said).to_contain_text("of the 192 components are positive")
    page.keyboard.press("ArrowRight")
    expect(said).to_contain_text("Add & norm after feed-forward, decoder layer 1")
    page.keyboard.press("End")
    expect(said).to_contain_text("The likeliest word, “zone”, is written")


def test_a_beam_finds_what_greedy_misses(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("translation", part="search")
    found = page.locator("#search-found")
    expect(found).to_contain_text("The beam's translation is likelier")
    page.locator("#search-width input[type=number]").fill("1")
    page.locator("#search-width input[type=number]").press("Enter")
    expect(found).to_contain_text("Both find the same translation here")
    expect(page.locator("#search-drawn li")).to_have_count(5)


def test_both_are_timed_on_the_server(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("translation", part="training")
    page.click("#translation-time")
    expect(page.locator("#translation-times-told tbody tr")).to_have_count(4)
    page.locator("#translation-times").scroll_into_view_if_needed()
    expect(page.locator("#translation-times .js-plotly-plot")).to_be_visible()
