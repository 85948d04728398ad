"""Pre-training, part "Prompts": its worked example, solved examples in the input, the link, hostile text."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

TEXT = "The plot is thin, and I looked at my watch."


def test_solved_examples_come_before_the_sentence(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("pretraining", part="cloze", text=TEXT)
    prompt, reading = page.locator("#cloze-prompt"), page.locator("#cloze-reading")
    expect(prompt.locator(".cloze-asked")).to_have_text(re.compile(r"my watch\. It was \[MASK\]\."))
    expect(prompt.locator(".cloze-solved p")).to_have_count(0)
    expect(reading.locator("tbody tr")).to_have_count(2)
    before = reading.inner_text()
    page.locator("#cloze-number").get_by_label("4", exact=True).check()
    expect(prompt.locator(".cloze-solved p")).to_have_count(8)
    expect(prompt.locator(".cloze-solved .positive")).to_have_count(4)
    expect(reading).not_to_have_text(before)
    page.wait_for_url("**examples=4**")
    expect(page.locator("#cloze-accuracy .trace.scatter")).to_have_count(6)


def test_an_example_goes_into_the_bar_and_markup_stays_text(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("pretraining", part="cloze", text="<script>alert(1)</script> fine", cloze_controls="true")
    expect(page.locator(".cloze-asked")).to_contain_text("<script>alert(1)</script> fine. It was")
    page.locator("#cloze-words").get_by_label("good / bad").check()
    expect(page.locator("#cloze-reading tbody th").first).to_have_text("good")
    page.get_by_role("button", name="A stunning film").click()
    expect(page.locator("#bar-text textarea")).to_have_value("a visually stunning rumination on love")
    expect(page.locator(".cloze-asked")).to_contain_text("on love. It was")
