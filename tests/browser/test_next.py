"""Next sentence in real Chromium: boxes, the bar's pair, buttons and link hold one and the same pair."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from demos.bert.pretraining.next_documents import our_documents
from demos.lessons.pretraining.next_sentence.answers import SECOND

BAR = {"text": "It rained <img src=x onerror=alert(1)> all day.", "pair": "We stayed in."}


def test_boxes_buttons_and_link(open_lesson: Callable[..., Page]) -> None:
    part = {"part": "next_sentence", "next_sentence_controls": "true"}
    page = open_lesson("pretraining", **part, **BAR)
    second, shown = page.locator("#next-b textarea"), page.locator("#next-cases tr.shown")
    expect(second).to_have_value(BAR["pair"])  # the bar's own pair
    expect(shown).to_contain_text("We stayed in.")
    assert page.locator("#next-cases img").count() == 0

    for link, filled in ({}, SECOND), (BAR, BAR["pair"]):  # again: the same answer, once more
        page.evaluate("(query) => insideBert.link.goTo('pretraining', query)", urlencode(part | link))
        expect(second).to_have_value(filled)

    second.fill("Nobody minded.")
    expect(shown).to_contain_text("Nobody minded.")
    page.locator("#next-put").get_by_text("swapped").click()
    expect(shown.locator(".a")).to_have_text("Nobody minded.")
    page.locator("#next-another").click()
    expect(shown.locator("th")).to_have_text("a random sentence")
    page.wait_for_url(re.compile("(?=.*next_put=random)(?=.*next_draw=1)(?=.*next_b=Nobody)"))

    link = page.url
    page = page.context.new_page()
    page.goto("about:blank")
    page.goto(link)  # the link has all of it
    second, shown = page.locator("#next-b textarea"), page.locator("#next-cases tr.shown")
    expect(second).to_have_value("Nobody minded.")
    expect(shown.locator("th")).to_have_text("a random sentence")
    for document in (*our_documents(), our_documents()[0]):  # each one's first pair, and round again
        page.locator("#next-ours").click()
        expect(second).to_have_value(document.sentences[1])
    expect(page.locator("#next-cases tbody tr").first).to_contain_text("radio playing")
    page.locator("#next-toss").click()
    expect(page.locator("#next-made .next-instance")).to_have_count(2)
    page.locator("#next-ask").click()
    expect(page.locator("#next-status")).to_contain_text("of 240 pairs done")  # it stops when its reader leaves
