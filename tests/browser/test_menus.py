"""Menus in Chromium: passing through one changes nothing, and none stays open behind the reader."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

SENTENCE = "#bar-text textarea"
FOCUSED = "document.activeElement.closest('.block')?.id"


def test_the_bars_menus(open_lesson: Callable[..., Page], subtests: pytest.Subtests) -> None:
    page = open_lesson("tokens", text="Mine.", pair="Mine too.")
    with subtests.test("no menu stays open when the focus leaves"):
        none_stays_open_when_the_focus_leaves(page)
    with subtests.test("passing through the examples loses nothing"):
        passing_through_the_examples_loses_nothing(page)


def passing_through_the_examples_loses_nothing(page: Page) -> None:
    page.locator("#bar-examples input").click()
    expect(page.get_by_role("option").first).to_be_visible()
    page.locator("h1").click()  # elsewhere: nothing was picked
    expect(page.get_by_role("option")).to_have_count(0)
    page.locator("#bar-pair textarea").focus()
    for _ in range(2):
        page.keyboard.press("Tab")
    page.wait_for_timeout(300)
    expect(page.locator(SENTENCE)).to_have_value("Mine.")
    expect(page.locator("#bar-pair textarea")).to_have_value("Mine too.")
    expect(page.locator("#bar .error")).to_have_count(0)

    page.locator("#bar-examples input").click()
    page.get_by_role("option").nth(2).click()
    expect(page.locator(SENTENCE)).not_to_have_value("Mine.")
    picked = page.locator(SENTENCE).input_value()
    page.locator(SENTENCE).fill("Edited since.")
    page.locator("#bar-examples input").focus()
    page.keyboard.press("Tab")
    page.wait_for_timeout(300)
    expect(page.locator(SENTENCE)).to_have_value("Edited since.")
    page.locator("#bar-examples input").click()
    page.get_by_role("option").nth(2).click()  # the same one, asked for again
    expect(page.locator(SENTENCE)).to_have_value(picked)
    page.locator("#bar-examples input").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator(SENTENCE)).not_to_have_value(picked)


BOXES = [
    ("pooling", "Choose an example list", "#embeddings-texts textarea"),
    ("search", "Choose a query", "#search-query textarea"),
    ("word_senses", "Choose a word", "#word-word :is(input, textarea)"),
]


def test_passing_through_a_lessons_examples_loses_nothing(
    open_lesson: Callable[..., Page], turn_to: Callable[..., None], subtests: pytest.Subtests
) -> None:
    page = open_lesson("embeddings", text="Rivers have banks.")
    for part, menu, box in BOXES:
        with subtests.test(part):
            turn_to(page, "embeddings", part)
            page.locator(box).fill("bank")
            page.get_by_label(menu).focus()
            page.keyboard.press("Tab")
            page.wait_for_timeout(1_000)  # a server's answer would be here
            expect(page.locator(box)).to_have_value("bank")
            page.get_by_label(menu).click()
            page.get_by_role("option").nth(1).click()
            expect(page.locator(box)).not_to_have_value("bank")


def none_stays_open_when_the_focus_leaves(page: Page) -> None:
    lists = page.get_by_role("listbox")
    page.locator("#bar-examples input").focus()
    expect(lists).to_have_count(1)
    page.keyboard.press("Tab")
    expect(page.locator("#bar-model input")).to_be_focused()  # straight on, not into the list that closes
    page.wait_for_timeout(300)
    expect(lists).to_have_count(1)  # this menu's own
    page.keyboard.press("Shift+Tab")
    expect(page.locator("#bar-examples input")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(FOCUSED) == "bar-pair"
    page.wait_for_timeout(300)
    expect(lists).to_have_count(0)

    page.locator("#bar-examples input").focus()
    page.keyboard.press("b")  # and on at once, before the list has heard of it
    page.evaluate("document.querySelector('#bar-pair textarea').focus()")
    page.wait_for_timeout(300)
    expect(lists).to_have_count(0)
    expect(page.locator("#bar-examples input")).to_have_attribute("aria-expanded", "false")
