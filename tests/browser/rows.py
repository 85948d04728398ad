"""The rows of lessons and parts: which of their buttons are out of sight, at every width, whatever fonts there are."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.sync_api import Page

from demos.page.lesson import Lesson
from tests.browser.events import settle

# Far wider than any text font: nearly twice what DejaVu Sans takes.
WIDE = '* { font-family: "DejaVu Sans Mono", monospace !important; letter-spacing: 0.2em !important; }'
# How a page may be set: width and height of the window, large type, the wide font.
SETTINGS = [
    (1280, 800, False, True),
    (1280, 800, False, False),
    (1920, 1080, True, False),
    (1920, 1080, True, True),
    (390, 844, False, True),
    (390, 844, False, False),
]
SET = """([large, wide, rules]) => {
    insideBert.looks.largeType(large);
    document.getElementById("wide")?.remove();
    if (wide) document.body.append(Object.assign(document.createElement("style"), { id: "wide", textContent: rules }));
    dispatchEvent(new Event("resize"));
}"""
# Which of these buttons is not there, lies past the page's edge, or is covered at its middle?
HIDDEN = """(ids) => ids.filter((id) => {
    const button = document.getElementById(id);
    if (!button?.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return true;
    button.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, right, top, height } = button.getBoundingClientRect();
    const met = document.elementFromPoint((left + right) / 2, top + height / 2);
    return left < 0 || right > document.documentElement.clientWidth || !button.contains(met);
})"""


def hidden_in_rows(page: Page, lesson: Lesson, lessons: Sequence[Lesson]) -> list[str]:
    """The buttons of this open lesson's rows that are out of sight, and the windows that the page is too wide for."""
    ids = [f"lesson-{other.slug}-link" for other in lessons]
    ids += [f"{lesson.slug}-{part.slug}-button" for part in lesson.parts]
    found = []
    for width, height, large, wide in SETTINGS:
        page.set_viewport_size({"width": width, "height": height})
        page.evaluate(SET, [large, wide, WIDE])
        settle(page, 150)  # what measures the row has measured
        setting = f"at {width}, large {large}, wide {wide}"
        found += [f"{button} {setting}" for button in page.evaluate(HIDDEN, ids)]
        if not wide and page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"the page {setting}")
    return found
