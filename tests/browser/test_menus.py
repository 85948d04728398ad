"""Menus in Chromium: passing through one changes nothing, and none stays open behind the reader."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.events import Asked

SENTENCE = "#bar-text textarea"
FOCUSED = "document.activeElement.closest('.block')?.id"
LONG = " ".join(["The bank of the river is far from the bank in the town."] * 4)


EXAMPLES, CHIPS = ".examples-button", ".example-chip"
# Which of these is covered at its middle?
COVERED = """() => [...document.querySelectorAll('#lesson-links a, .parts [role="tab"]')].filter((link) => {
    const { left, right, top, bottom } = link.getBoundingClientRect();
    return !link.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
}).map((link) => link.textContent)"""


def test_the_bar(open_lesson: Callable[..., Page], subtests: pytest.Subtests) -> None:
    page = open_lesson("tokens", text="Mine.", pair="Mine too.")
    with subtests.test("no menu stays open when the focus leaves"):
        none_stays_open_when_the_focus_leaves(page)
    with subtests.test("examples are chips that keys reach"):
        examples_are_chips_that_keys_reach(page)
    with subtests.test("a long sentence covers no link, and a press on a link that moved meets it"):
        a_long_sentence_covers_no_link(page)


def examples_are_chips_that_keys_reach(page: Page) -> None:
    button, chips = page.locator(EXAMPLES), page.locator(CHIPS)
    page.locator("#bar-pair textarea").focus()
    page.keyboard.press("Tab")
    expect(button).to_be_focused()
    expect(chips.first).to_be_hidden()  # passing through opens nothing
    page.keyboard.press("Enter")
    expect(chips.first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(chips.nth(1)).to_be_focused()
    page.keyboard.press("ArrowDown")
    below = page.evaluate("document.activeElement.offsetTop") - chips.first.evaluate("(chip) => chip.offsetTop")
    assert below > 0
    page.keyboard.press("End")
    expect(chips.last).to_be_focused()
    assert page.evaluate(f"document.querySelectorAll('{CHIPS}[tabindex=\"0\"]').length") == 1  # one stop for Tab
    page.keyboard.press("Escape")
    expect(button).to_be_focused()
    expect(chips.first).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")  # straight on: the panel shuts behind
    expect(page.locator("#bar-model input")).to_be_focused()
    expect(chips.first).to_be_hidden()
    expect(page.locator(SENTENCE)).to_have_value("Mine.")
    expect(page.locator("#bar-pair textarea")).to_have_value("Mine too.")

    button.click()
    arabic = page.get_by_role("button", name="Arabic", exact=True)
    arabic.click()
    expect(page.locator(SENTENCE)).to_have_value("البحر هادئ هذا الصباح.")
    expect(page.locator("#bar-pair textarea")).to_have_value("")
    assert page.evaluate(RIGHT_TO_LEFT)
    page.locator(SENTENCE).fill("Edited since.")
    assert not page.evaluate(RIGHT_TO_LEFT)
    button.click()
    expect(arabic).to_be_focused()
    page.keyboard.press("Enter")  # the same one, asked for again
    expect(page.locator(SENTENCE)).to_have_value("البحر هادئ هذا الصباح.")


# A text box tells of no letter's place, so the same text is set in a box of the same style: where does it begin?
RIGHT_TO_LEFT = """() => {
    const box = document.querySelector('#bar-text textarea');
    const { unicodeBidi, textAlign, font } = getComputedStyle(box);
    const twin = Object.assign(document.createElement('div'), { textContent: box.value });
    Object.assign(twin.style, { unicodeBidi, textAlign, font, width: '900px', position: 'absolute' });
    document.body.append(twin);
    const first = document.createRange();
    first.setStart(twin.firstChild, 0);
    first.setEnd(twin.firstChild, 1);
    const far = first.getBoundingClientRect().left - twin.getBoundingClientRect().left;
    twin.remove();
    return far > 450;
}"""


def a_long_sentence_covers_no_link(page: Page) -> None:
    page.locator(SENTENCE).fill(LONG)
    page.locator("h1").click()
    expect(page.locator("#bar .grown")).to_have_count(0)
    expect(page.locator("#bar-text.cut")).to_be_visible()  # it fades at its end, and is told in full
    expect(page.locator(SENTENCE)).to_have_attribute("title", LONG)
    low = page.locator("#lesson-attention-link").bounding_box()
    page.locator(SENTENCE).click()
    lower = page.locator("#lesson-attention-link").bounding_box()
    expect(page.locator("#bar .cut")).to_have_count(0)
    assert low is not None
    assert lower is not None
    assert lower["y"] > low["y"] + 20  # the box has grown, and moved the links
    assert page.evaluate(COVERED) == []
    page.mouse.click(lower["x"] + lower["width"] / 2, lower["y"] + lower["height"] / 2)
    expect(page.locator("#lesson-attention")).to_be_visible()


BOXES = [
    ("pooling", "Example list", "#embeddings-texts textarea"),
    ("search", "Example query", "#search-query textarea"),
    ("word_senses", "Example word", "#word-word :is(input, textarea)"),
]


def test_passing_through_a_lessons_examples_loses_nothing(
    page: Page, open_lesson: Callable[..., Page], turn_to: Callable[..., None], subtests: pytest.Subtests
) -> None:
    asked = Asked(page)
    open_lesson("embeddings", text="Rivers have banks.")
    for part, menu, box in BOXES:
        with subtests.test(part):
            turn_to(page, "embeddings", part)
            expect(page.get_by_label(menu)).not_to_have_value("")  # a worked example
            expect(page.get_by_label(menu)).not_to_have_value("your own")
            page.locator(box).fill("bank but not by itself")
            expect(page.get_by_label(menu)).to_have_value("your own")
            page.get_by_label(menu).focus()
            page.keyboard.press("Tab")
            asked.since_last()  # a server's answer would be here
            expect(page.locator(box)).to_have_value("bank but not by itself")
            page.get_by_label(menu).click()
            page.get_by_role("option").nth(1).click()
            expect(page.locator(box)).not_to_have_value("bank but not by itself")
            expect(page.get_by_label(menu)).not_to_have_value("your own")


def none_stays_open_when_the_focus_leaves(page: Page) -> None:
    lists = page.get_by_role("listbox")
    menu = page.locator("#bar-model input")
    menu.focus()
    expect(lists).to_have_count(1)
    page.keyboard.press("Shift+Tab")
    expect(page.locator(EXAMPLES)).to_be_focused()  # straight on, not into the list that closes
    expect(lists).to_have_count(0)
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(FOCUSED) == "bar-pair"

    menu.focus()
    page.keyboard.press("b")  # and on at once, before the list has heard of it
    page.evaluate("document.querySelector('#bar-pair textarea').focus()")
    page.wait_for_timeout(300)
    expect(lists).to_have_count(0)
    expect(menu).to_have_attribute("aria-expanded", "false")
