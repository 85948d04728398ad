"""Every lesson and part in Chromium: drawn once, at every size, for every reader, in light and dark; then at rest."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from demos.lessons import discover
from demos.page.lesson import Lesson
from tests.browser.events import Asked, twice
from tests.browser.faults import serious_faults

LESSONS = discover()
SIZES = [(1280, 800), (1920, 1080), (390, 844), (320, 256)]  # first as a part opens; last 1280 x 1024 at 400 % zoom
COLOURS = ["color-contrast", "link-in-text-block"]  # axe's rules of colour
THEMES = [("light", []), ("dark", COLOURS)]  # what is dark differs in its colours alone
# The ids that a name, a label or a description points to and that stand on the page twice, hidden tabs included.
AMBIGUOUS = """() => {
    const uses = ['for', 'aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-owns', 'aria-activedescendant'];
    const named = uses.flatMap((use) => [...document.querySelectorAll(`[${use}]`)]
        .flatMap((one) => one.getAttribute(use).split(/\\s+/)));
    return [...new Set(named)].filter((id) => id && document.querySelectorAll(`[id="${CSS.escape(id)}"]`).length > 1);
}"""


@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.slug for lesson in LESSONS])
def test_every_view_is_drawn_once_fits_reads_well_for_everyone_and_rests(
    open_lesson: Callable[..., Page], page: Page, lesson: Lesson, subtests: pytest.Subtests
) -> None:
    """A lesson by its link and each of its parts by its tab: no handler is asked the same thing twice."""
    asked = Asked(page)
    text = "Antidisestablishmentarianism <img src=x onerror=alert(1)> sounds unbelievable to the bank manager."
    open_lesson(lesson.slug, text=text)
    first = asked.since_last()
    assert first, "something is drawn"
    assert twice(first) == []
    with subtests.test(lesson.slug):
        fits_and_reads_well(page, asked, THEMES)
    own = {number for number, _ in first}
    for number, part in enumerate(lesson.parts[1:], start=1):
        with subtests.test(part.slug):
            page.locator(f"#{lesson.slug}-{part.slug}-button").click()
            expect(page.locator(f"#{lesson.slug}-{part.slug} .part-heading").first).to_be_visible()
            opened = asked.since_last()
            assert twice(opened) == []
            assert not {number for number, _ in opened} & own, "what was open before is drawn again"
            fits_and_reads_well(page, asked, THEMES[::-1] if number % 2 else THEMES)  # the theme that it is in first


def fits_and_reads_well(page: Page, asked: Asked, themes: list[tuple[str, list[str]]]) -> None:
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for _ in range(20):  # what is drawn anew at this size takes a moment
            page.wait_for_timeout(150)
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if over <= 1:
                break
        assert over <= 1, f"{over} px wider than {width} px"
    page.set_viewport_size({"width": SIZES[0][0], "height": SIZES[0][1]})
    for theme, rules in themes:
        page.evaluate("(dark) => insideBert.dark(dark)", theme == "dark")
        serious = serious_faults(page, rules)
        assert not serious, f"{theme}: {json.dumps(serious, indent=1)}"
    asked.since_last()  # it rests: a handler that wakes itself never ends
    assert page.evaluate(AMBIGUOUS) == []
    assert page.locator("img[src=x]").count() == 0  # and no dialog, which fails the test by itself
