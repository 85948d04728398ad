"""Fill the mask in real Chromium: words are hidden and shown by clicks, and the link and all pictures follow."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

TEXT = "The old miller <b>counted</b> his sacks."


def test_words_are_hidden_by_clicks(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("pretraining", part="fill_mask", text=TEXT, fill_mask_controls="true")
    said, hidden = page.locator("#fill-said"), page.locator("#fill-sentence [aria-pressed=true]")
    expect(said).to_contain_text("was counted")  # picked
    page.get_by_role("button", name="miller, token 3").click()
    expect(said).to_contain_text("Token 3 was miller")
    expect(hidden).to_have_count(1)
    page.get_by_role("button", name="his, token").press("Enter")
    expect(said).to_contain_text("was his")
    expect(hidden).to_have_count(2)
    expect(page.get_by_role("button", name="his, token")).to_be_focused()
    page.wait_for_url(re.compile(r"mask=\d+\.2010%2C\+3\.\d+"))
    page.get_by_role("button", name="miller, token 3").click()  # looked at again, not shown
    expect(said).to_contain_text("Token 3 was miller")
    expect(hidden).to_have_count(2)

    page.locator("#fill-remove").click()
    expect(page.locator("#fill-removed tbody tr")).to_have_count(14)
    page.get_by_role("button", name="miller, token 3").click()
    expect(hidden).to_have_count(1)
    expect(page.locator("#fill-removed")).to_be_empty()  # it was about another place

    page.get_by_role("button", name="The capital of France").click()
    expect(page.locator("#bar-text textarea")).to_have_value("We spent a week in [MASK], the capital of France.")
    expect(said).to_contain_text("Token 6: best guess")
    other = page.locator("#fill-other textarea")
    expect(other).to_have_value(re.compile("the capital of Italy"))
    page.locator("#fill-copy").click()
    expect(other).to_have_value("We spent a week in [MASK], the capital of France.")
