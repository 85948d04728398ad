"""The lesson beside BERT in a real browser: a word's paths and its sum, inputs for tasks, the table sorted."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_word_in_two_sentences_the_inputs_of_a_task_and_the_family_by_size(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("family", part="elmo")
    cosines = page.locator("#elmo-cosines")
    expect(cosines).to_contain_text("1.000")
    expect(page.locator("#elmo-models .scatterlayer .trace").first).to_be_attached()
    page.locator("#elmo-word textarea, #elmo-word input").first.fill("zebra")
    expect(page.locator("#lesson-family .notice", has_text="must occur in both")).to_be_visible()
    page.locator("#elmo-word textarea, #elmo-word input").first.fill("dog")
    expect(page.locator("#lesson-family .notice", has_text="not in “Let's stick")).to_be_visible()
    page.locator("#elmo-first textarea, #elmo-first input").first.fill("The dog barks.")
    expect(cosines).to_contain_text("“dog” in the two sentences")

    page.locator("#lesson-family button:visible", has_text="All controls").click()
    page.locator("#elmo-learn").click()
    expect(page.locator("#elmo-learned")).to_contain_text("s0 = 0.0")
    expect(page.locator("#elmo-weight-0 input[type=number]")).to_have_value("0")
    expect(cosines).to_contain_text("“dog” in the two sentences")

    page.locator("#family-inputs-button").click()
    forms = page.locator("#inputs-forms")
    expect(forms).to_contain_text("mnli hypothesis:")
    page.locator("#inputs-task label", has_text="Multiple choice").click()
    expect(page.locator("#inputs-third")).to_be_visible()
    expect(forms).to_contain_text("one logit per ending")

    page.locator("#family-models-button").click()
    first = page.locator("#family-models tbody th").first
    expect(first).to_have_text("LSTM")
    page.locator("#family-models thead button", has_text="parameters").click()
    expect(first).to_have_text("Llama 3, largest")
    page.locator("#family-models a", has_text="our small ELMo").click()
    expect(page.locator("#elmo-cosines")).to_contain_text("cosine")
