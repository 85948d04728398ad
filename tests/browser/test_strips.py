"""The rows of lessons and parts, in Chromium: each in sight at every width, whatever fonts the machine has."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from demos.lessons import discover

LESSONS = {lesson.slug: [part.slug for part in lesson.parts] for lesson in discover()}
# Far wider than any text font: nearly twice what DejaVu Sans takes.
WIDE = '* { font-family: "DejaVu Sans Mono", monospace !important; letter-spacing: 0.2em !important; }'
# How a page may be set: width and height of the window, large type, the wide font.
SETTINGS = [
    (1280, 800, False, False),
    (1280, 800, False, True),
    (1920, 1080, True, False),
    (1920, 1080, True, True),
    (390, 844, False, False),
    (390, 844, False, True),
]
SET = """([large, wide, rules]) => {
    insideBert.largeType(large);
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


def test_no_lesson_and_no_part_is_hidden(open_lesson: Callable[..., Page], turn_to: Callable[..., None]) -> None:
    page = open_lesson("tokens", text="Rivers have banks.")
    hidden: dict[str, list[str]] = {}
    for lesson, parts in LESSONS.items():
        page.evaluate("scrollTo(0, 0)")
        turn_to(page, lesson)
        if parts:
            expect(page.locator(f"#{lesson}-{parts[0]}-button")).to_be_visible()
        ids = [f"lesson-{slug}-link" for slug in LESSONS] + [f"{lesson}-{part}-button" for part in parts]
        for width, height, large, wide in SETTINGS:
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(SET, [large, wide, WIDE])
            page.wait_for_timeout(150)  # what measures the row has measured
            if found := page.evaluate(HIDDEN, ids):
                hidden[f"{lesson} at {width}, large {large}, wide {wide}"] = found
            if not wide:
                assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.set_viewport_size({"width": 1280, "height": 800})
        page.evaluate(SET, [False, False, WIDE])
    assert hidden == {}


def test_the_arrow_keys_walk_through_a_row_that_wraps(open_lesson: Callable[..., Page], page: Page) -> None:
    page.route("**/queue/join*", lambda _: None)  # the row is there before anything is drawn
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
