"""A guided tour in Chromium: begun from the first page, turned by keys and buttons, left and come back to."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.faults import serious_faults

TITLE = "#tour h2"
Open = Callable[..., Page]


def test_a_tour_leads_through_the_lessons(open_lesson: Open) -> None:
    page = open_lesson("overview")
    page.locator("[data-tours] a").first.click()
    expect(page.locator(TITLE)).to_have_text("The whole way")
    expect(page.locator(TITLE)).to_be_focused()
    expect(page.locator("#overview-picture.toured")).to_be_visible()
    page.keyboard.press("PageDown")  # as a presenter's clicker sends it
    expect(page.locator(TITLE)).to_have_text("Words become pieces")
    expect(page.locator("#tokens-picture.toured .chip").first).to_be_visible()
    assert serious_faults(page, [], "#tour") == {}
    page.locator("#bar-text textarea").fill("Arrow keys move in a text")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(TITLE)).to_have_text("Words become pieces")
    page.get_by_role("link", name="Next").click()
    expect(page.locator(TITLE)).to_have_text("Pieces become vectors")
    expect(page.locator("#bar-text textarea")).to_have_value("Arrow keys move in a text")  # the reader's own sentence
    expect(page.locator("#encoder-input-sum.toured")).to_be_visible()
    the_reader_wanders_off_and_comes_back(page)
    page.keyboard.press("Escape")
    expect(page.locator("#tour")).to_have_count(0)
    assert "tour=" not in page.url
    page.keyboard.press("PageDown")
    expect(page.locator("#lesson-encoder")).to_be_visible()


def the_reader_wanders_off_and_comes_back(page: Page) -> None:
    page.locator("#encoder-size-button").click()
    page.wait_for_function("new URLSearchParams(location.search).get('part') === 'size'")
    assert "stop=3" in page.url
    page.locator("#lesson-tokens-link").click()
    expect(page.locator("#tokens-picture .chip").first).to_be_visible()
    expect(page.locator(TITLE)).to_have_text("Pieces become vectors")
    page.locator("#tour .again").click()
    expect(page.locator("#encoder-input-sum.toured")).to_be_visible()


def test_an_unknown_tour_or_stop_is_no_harm(open_lesson: Open) -> None:
    page = open_lesson("tokens", tour="constructor", stop="1")
    expect(page.locator("#tokens-picture .chip").first).to_be_visible()
    expect(page.locator("#tour")).to_have_count(0)
    page = open_lesson("tokens", tour="ten-minutes", stop="99")
    expect(page.locator(TITLE)).to_have_text("Learning a new task")
