"""Before the model is there, in Chromium: no answer has come, and nothing on the page claims to know the model."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from demos.bert.model.catalogue import BUNDLED, CATALOGUE

OTHERS = {spec.num_layers for spec in CATALOGUE.values()} - {CATALOGUE[BUNDLED].num_layers}
# All that the open lesson shows: its words, and what stands in its boxes.
SHOWN = """() => [...document.querySelectorAll('#lessons *')].filter((one) =>
    one.checkVisibility({ visibilityProperty: true }) && (one.localName === 'input' ||
        [...one.childNodes].some((child) => child.nodeType === Node.TEXT_NODE && child.data.trim())))
    .map((one) => (one.localName === 'input' ? one.value : one.textContent).trim()).filter(Boolean)"""


@pytest.mark.parametrize(
    ("lesson", "part", "boxes", "answered"),
    [
        ("encoder", "self_attention", ["#encoder-layer", "#encoder-head"], "#encoder-token [data-token]"),
        ("embeddings", "frozen_features", [], "#features-mistakes"),
        ("embeddings", "word_senses", ["#word-layer"], "#word-curves .js-plotly-plot"),
    ],
)
def test_nothing_is_claimed_of_a_model_that_is_not_there(
    page: Page, open_lesson: Callable[..., Page], lesson: str, part: str, boxes: list[str], answered: str
) -> None:
    page.route("**/queue/join*", lambda _: None)  # no answer ever comes
    open_lesson(lesson, part=part, text="Rivers have banks.")
    expect(page.locator(f"#{lesson}-{part}-button")).to_have_attribute("aria-selected", "true")
    page.wait_for_timeout(500)
    claims = [said for said in page.evaluate(SHOWN) if re.search(r"\blayer \d+\b", said) or said in map(str, OTHERS)]
    assert claims == []
    before = [page.locator(box).bounding_box() for box in boxes]
    for box in boxes:
        expect(page.locator(f"{box} input").first).to_be_hidden()
    for menu in page.locator("#lessons input[role=combobox]:visible").all():
        menu.click()
        expect(page.get_by_role("listbox")).to_have_count(1)
        expect(page.get_by_role("option", name=re.compile(r"layer \d+"))).to_have_count(0)
        menu.blur()
        expect(page.get_by_role("listbox")).to_have_count(0)

    page.unroute("**/queue/join*")
    page.reload()
    expect(page.locator(answered).first).to_be_attached()
    for box, place in zip(boxes, before, strict=True):
        expect(page.locator(f"{box} input").first).to_be_visible()
        after = page.locator(box).bounding_box()
        assert place is not None
        assert after is not None
        assert (place["x"], place["width"]) == (after["x"], after["width"])  # its place was kept for it
