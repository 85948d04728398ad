"""Under a notice, in Chromium: what still shows the sentence before is dimmed and said to be; a good answer ends it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from demos.bert.model.text import MAX_CHARACTERS

SENTENCE = "#bar-text textarea"
TOO_LONG = "a" * (MAX_CHARACTERS + 1)
# Is everything that a reader sees in this block at full strength?
FULL = """(selector) => {
    let strength = 1;
    for (let at = document.querySelector(selector); at; at = at.parentElement) {
        const style = getComputedStyle(at);
        strength *= +style.opacity * +(/opacity\\(([\\d.]+)\\)/.exec(style.filter)?.[1] ?? 1);
    }
    return strength === 1;
}"""


VIEWS = [
    ("tokens", "", "#tokens-picture ol", TOO_LONG),
    ("attention", "heads", "#lesson-attention iframe", TOO_LONG),
    ("encoder", "residual_stream", "#encoder-residual_stream .js-plotly-plot", TOO_LONG),
    ("pretraining", "fill_mask", "#fill-sentence .html-container > div > *", ""),
    ("embeddings", "pooling", "#embeddings-pooling .js-plotly-plot", TOO_LONG),
]


def test_what_a_refused_sentence_leaves_is_dimmed(
    open_lesson: Callable[..., Page], turn_to: Callable[..., None], subtests: pytest.Subtests
) -> None:
    page = open_lesson("tokens", text="Rivers have banks.")
    for lesson, part, picture, refused in VIEWS:
        with subtests.test(lesson):
            turn_to(page, lesson, part)
            is_dimmed_under_the_notice(page, f"#lesson-{lesson}", picture, refused)


def is_dimmed_under_the_notice(page: Page, inside: str, picture: str, refused: str) -> None:
    expect(page.locator(picture).first).to_be_visible()
    page.wait_for_function(FULL, arg=picture)
    expect(page.locator(f"{inside} .before")).to_have_count(0)

    page.locator(SENTENCE).fill(refused)
    expect(page.locator(f"{inside} .notice:visible")).to_have_count(1)
    expect(page.locator(f"{inside} .before:visible")).to_have_count(1)
    page.wait_for_function(f"(selector) => !({FULL})(selector)", arg=picture)
    assert page.evaluate(FULL, SENTENCE)

    page.locator(SENTENCE).fill("Banks have money.")
    expect(page.locator(f"{inside} .notice:visible")).to_have_count(0)
    page.wait_for_function(FULL, arg=picture)
    expect(page.locator(f"{inside} .before")).to_have_count(0)


def test_where_nothing_is_drawn_nothing_is_said_to_be_old(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("pretraining", part="fill_mask", text="", pair=" ")
    expect(page.locator("#lesson-pretraining .notice:visible")).to_have_count(1)
    expect(page.locator("#lesson-pretraining .before:visible")).to_have_count(0)
