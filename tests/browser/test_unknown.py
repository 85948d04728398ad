"""Before the model is there, in Chromium: no answer has come, and nothing on the page claims to know the model."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from tests.browser.conftest import visit
from tests.browser.events import StillServer

OTHERS = {spec.num_layers for spec in CATALOGUE.values()} - {CATALOGUE[BUNDLED].num_layers}
# All that the open lesson shows: its words, and what stands in its boxes.
SHOWN = """() => [...document.querySelectorAll('#lessons *')].filter((one) =>
    one.checkVisibility({ visibilityProperty: true }) && (one.localName === 'input' ||
        [...one.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim())))
    .map((one) => (one.localName === 'input' ? one.value : one.textContent).trim()).filter(Boolean)"""


VIEWS = [
    ("encoder", "self_attention", ["#encoder-layer", "#encoder-head"], "#encoder-token [data-token]"),
    ("embeddings", "frozen_features", [], "#features-mistakes"),
    ("embeddings", "word_senses", ["#word-layer"], "#word-curves .js-plotly-plot"),
]


def test_nothing_is_claimed_of_a_model_that_is_not_there(
    page: Page, open_lesson: Callable[..., Page], turn_to: Callable[..., None], subtests: pytest.Subtests
) -> None:
    StillServer(page, stopped=True)  # no answer ever comes
    open_lesson("encoder", text="Rivers have banks.")
    places = {}
    for lesson, part, boxes, _ in VIEWS:
        with subtests.test(f"{part}, no answer"):
            turn_to(page, lesson, part)
            page.wait_for_timeout(500)
            nothing_is_claimed(page)
            for box in boxes:
                expect(page.locator(f"{box} input").first).to_be_hidden()
                places[box] = page.locator(box).bounding_box()

    other = page.context.new_page()  # which is answered
    visit(other, page.url)
    for lesson, part, boxes, answered in VIEWS:
        with subtests.test(f"{part}, answered"):
            turn_to(other, lesson, part)
            expect(other.locator(answered).first).to_be_attached()
            for box in boxes:
                expect(other.locator(f"{box} input").first).to_be_visible()
                before, after = places[box], other.locator(box).bounding_box()
                assert before is not None
                assert after is not None
                assert (before["x"], before["width"]) == (after["x"], after["width"])  # its place was kept for it


def nothing_is_claimed(page: Page) -> None:
    claims = [said for said in page.evaluate(SHOWN) if re.search(r"\blayer \d+\b", said) or said in map(str, OTHERS)]
    assert claims == []
    for menu in page.locator("#lessons input[role=combobox]:visible").all():
        menu.click()
        expect(page.get_by_role("listbox")).to_have_count(1)
        expect(page.get_by_role("option", name=re.compile(r"layer \d+"))).to_have_count(0)
        menu.blur()
        expect(page.get_by_role("listbox")).to_have_count(0)
