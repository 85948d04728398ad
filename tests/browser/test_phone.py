"""Pictures that are arranged otherwise on a phone: all of each is in sight, and none of its words cover each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

PHONE, LAPTOP = {"width": 390, "height": 844}, {"width": 1280, "height": 800}
# Whether a picture is drawn, and as wide as the phone.
WHOLE = """(block) => {
    const box = document.querySelector(block);
    const drawn = box?.querySelector(".js-plotly-plot .main-svg");
    return drawn && drawn.getBoundingClientRect().width <= innerWidth && box.scrollWidth <= box.clientWidth + 1;
}"""
# The pairs of words that cover each other, and the words beyond the picture's edge.
COVERED = """(words) => {
    const all = [...document.querySelectorAll(words)].filter((one) => one.textContent.trim());
    const boxes = new Map(all.map((one) => [one, one.getBoundingClientRect()]));
    const meet = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3; // a line has room above and below its letters
    const covered = all.flatMap((one, at) => all.slice(at + 1)
        .filter((other) => meet(boxes.get(one), boxes.get(other)))
        .map((other) => `${one.textContent}, ${other.textContent}`));
    const beyond = all.filter((one) => boxes.get(one).left < 0 || boxes.get(one).right > innerWidth);
    return [...covered, ...beyond.map((one) => one.textContent)];
}"""
WORDS = ":is(.textpoint, .annotation, .xtick, .ytick) text"


@pytest.mark.parametrize(
    ("lesson", "choices", "block", "words"),
    [
        ("encoder", {"part": "residual_stream"}, "#encoder-residual_stream-path", ".textpoint text"),
        ("encoder", {"part": "input"}, "#encoder-input-row", WORDS),
        ("embeddings", {"part": "agreement"}, "#embeddings-agreement-bars", WORDS),
        ("family", {"part": "elmo"}, "#elmo-models", WORDS),
        ("translation", {"part": "search", "width": 6}, "#search-tree", WORDS),
    ],
    ids=["stack", "input", "agreement", "elmo", "tree"],
)
def test_a_picture_is_whole_on_a_phone(
    open_lesson: Callable[..., Page], page: Page, lesson: str, choices: dict[str, str], block: str, words: str
) -> None:
    page.set_viewport_size(PHONE)
    open_lesson(lesson, **choices)
    page.wait_for_function(WHOLE, arg=block)
    assert page.evaluate(COVERED, f"{block} {words}") == []


def test_a_page_that_becomes_narrow_or_wide_arranges_its_pictures_anew(
    open_lesson: Callable[..., Page], page: Page
) -> None:
    """The names of the strips: beside them on a laptop, above them on a phone."""
    open_lesson("encoder", part="input")
    beside, above = page.locator("#encoder-input-row .ytick"), page.locator("#encoder-input-row .annotation")
    expect(beside).to_have_count(4)
    expect(above).to_have_count(4)  # the norms
    page.set_viewport_size(PHONE)
    expect(beside).to_have_count(0)
    expect(above).to_have_count(8)
    page.set_viewport_size(LAPTOP)
    expect(beside).to_have_count(4)
    expect(above).to_have_count(4)
