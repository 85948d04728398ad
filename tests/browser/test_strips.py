"""The keys walk through the rows of lessons and parts, in Chromium. That each is in sight: test_views.py."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from demos.lessons import discover
from tests.browser.events import StillServer
from tests.browser.rows import SET, WIDE

LESSONS = {lesson.slug: [part.slug for part in lesson.parts] for lesson in discover()}


def test_the_arrow_keys_walk_through_a_row_that_wraps(open_lesson: Callable[..., Page], page: Page) -> None:
    StillServer(page, stopped=True)  # the row is there before anything is drawn
    open_lesson("embeddings", text="Rivers have banks.")
    page.evaluate(SET, [False, True, WIDE])
    parts = [f"#embeddings-{part}-button" for part in LESSONS["embeddings"]]
    expect(page.locator(parts[-1])).to_be_visible()
    tops = [page.locator(part).evaluate("(tab) => tab.getBoundingClientRect().top") for part in parts]
    assert len(set(tops)) > 1, "the row was meant to wrap here"
    page.locator(parts[0]).focus()
    for part in parts[1:]:
        page.keyboard.press("ArrowRight")
        expect(page.locator(part)).to_be_focused()
        expect(page.locator(part)).to_have_attribute("aria-selected", "true")
    for key, part in (("ArrowRight", parts[0]), ("ArrowLeft", parts[-1]), ("Home", parts[0]), ("End", parts[-1])):
        page.keyboard.press(key)  # round, and to the ends
        expect(page.locator(part)).to_be_focused()
    page.locator("#lesson-overview-link").focus()
    for key, lesson in (
        ("ArrowRight", "tokens"),
        ("ArrowLeft", "overview"),
        ("End", [*LESSONS][-1]),
        ("Home", "overview"),
    ):
        page.keyboard.press(key)
        expect(page.locator(f"#lesson-{lesson}-link")).to_be_focused()
    expect(page.locator("#lesson-embeddings")).to_be_attached()  # they are links: none is followed


def test_a_radio_group_is_one_stop_for_tab(open_lesson: Callable[..., Page], page: Page) -> None:
    open_lesson("finetune")
    expect(page.locator("#finetune-start")).to_be_visible()
    page.locator("#finetune-train-button").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#finetune-task input:checked")).to_be_focused()
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('#finetune-task input')")
