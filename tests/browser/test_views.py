"""Every lesson and part in Chromium: at every size, for every reader, in the light and in the dark; then at rest."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from demos.lessons import discover
from demos.page.lesson import Lesson
from tests.browser.faults import serious_faults

LESSONS = discover()
SIZES = [(1920, 1080), (1280, 800), (390, 844)]
COLOURS = ["color-contrast", "link-in-text-block"]  # axe's rules of colour
# The ids that a name, a label or a description points to and that stand on the page twice, hidden tabs included.
AMBIGUOUS = """() => {
    const uses = ['for', 'aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-owns', 'aria-activedescendant'];
    const named = uses.flatMap((use) => [...document.querySelectorAll(`[${use}]`)]
        .flatMap((one) => one.getAttribute(use).split(/\\s+/)));
    return [...new Set(named)].filter((id) => id && document.querySelectorAll(`[id="${CSS.escape(id)}"]`).length > 1);
}"""


@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.slug for lesson in LESSONS])
def test_every_view_fits_reads_well_for_everyone_and_rests(
    open_lesson: Callable[..., Page], page: Page, lesson: Lesson, subtests: pytest.Subtests
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "queue/join" in request.url else None)
    text = "Antidisestablishmentarianism <img src=x onerror=alert(1)> sounds unbelievable to the bank manager."
    parts = lesson.parts[::-1]  # the link opens the last; the others by their tabs
    open_lesson(lesson.slug, text=text, **({"part": parts[0].slug} if parts else {}))
    for part in parts or [None]:
        with subtests.test(part.slug if part else lesson.slug):
            if part:
                if part is not parts[0]:
                    asked.clear()  # it rests once what it asked for itself is there
                page.locator(f"#{lesson.slug}-{part.slug}-button").click()
                expect(page.locator(f"#{lesson.slug}-{part.slug} .part-heading").first).to_be_visible()
            fits_and_reads_well(page, asked)


def fits_and_reads_well(page: Page, asked: list[str]) -> None:
    rest(page, asked)
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for _ in range(20):  # what is drawn anew at this size takes a moment
            page.wait_for_timeout(150)
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if over <= 1:
                break
        assert over <= 1, f"{over} px wider than {width} px"
    page.set_viewport_size({"width": 1280, "height": 800})
    for theme, rules in (("dark", COLOURS), ("light", [])):  # what is dark differs in its colours alone
        page.evaluate("(dark) => insideBert.dark(dark)", theme == "dark")
        serious = serious_faults(page, rules)
        assert not serious, f"{theme}: {json.dumps(serious, indent=1)}"
    rest(page, asked)
    assert page.evaluate(AMBIGUOUS) == []
    assert page.locator("img[src=x]").count() == 0  # and no dialog, which fails the test by itself


def rest(page: Page, asked: list[str]) -> None:
    """Wait until the page, once drawn, asks the server for nothing more: a handler that wakes itself never ends."""
    for _ in range(130):  # as long as any test here waits
        before = len(asked)
        page.wait_for_timeout(300)
        if asked and len(asked) == before:
            return
    pytest.fail(f"{len(asked)} requests and no end")
