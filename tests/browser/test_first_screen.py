"""What a visitor has before their eyes, in each part: on a laptop, on a projector, on a phone.

Each part's picture begins high, no text is cut off or too small, and all Latin text is in our fonts.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page

from demos.lessons import discover
from tests.browser.conftest import stands, visit
from tests.browser.fonts import foreign_fonts


class Screen(NamedTuple):
    """A screen, and what must be seen on it."""

    width: int
    height: int
    large: bool
    lowest: int  # pixels from the top, where a picture may begin at most
    least: float  # pixels of the screen that a text has at least


SCREENS = {
    "laptop": Screen(1280, 800, False, lowest=260, least=12),
    "projector": Screen(1920, 1080, True, lowest=330, least=21.6),  # a fiftieth of its lines
    "phone": Screen(390, 844, False, lowest=700, least=12),
}
PARTS = [(lesson.slug, [part.slug for part in lesson.parts]) for lesson in discover()]
# The top of the first picture of the open part; -1 where it has none, or none that is seen.
TOP = """(part) => {
    const scope = part ? document.getElementById(part) : document.querySelector('.lesson');
    const tops = [...scope.querySelectorAll('.picture'), ...(scope.matches('.picture') ? [scope] : [])]
        .filter((picture) => picture.checkVisibility() && picture.getBoundingClientRect().height > 20)
        .map((picture) => picture.getBoundingClientRect().top + scrollY);
    return tops.length ? Math.round(Math.min(...tops)) : -1;
}"""
LOOKS = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")


@pytest.fixture(params=SCREENS)
def screen(request: pytest.FixtureRequest) -> Screen:
    return SCREENS[request.param]


@pytest.fixture
def tab(screen: Screen, browser: Browser) -> Iterator[Page]:
    """An empty tab on such a screen."""
    context = browser.new_context(viewport={"width": screen.width, "height": screen.height})
    context.set_default_timeout(40_000)
    if screen.large:
        context.add_init_script("localStorage.setItem('inside-bert', JSON.stringify({ large: true }))")
    yield context.new_page()
    context.close()


@pytest.mark.parametrize(("lesson", "parts"), PARTS, ids=[lesson for lesson, _ in PARTS])
def test_each_part_looks_right(tab: Page, screen: Screen, app_url: str, lesson: str, parts: list[str]) -> None:
    tops: dict[str, int] = {}
    faults: dict[str, list[str]] = {}
    visit(tab, f"{app_url}/?lesson={lesson}")
    stands(tab, lesson)
    for part in parts or [""]:
        name = f"{lesson}-{part}" if part else ""
        if part:
            tab.locator(f"#{name}-button").click()
        tab.wait_for_function(f"(part) => ({TOP})(part) >= 0", arg=name)
        tab.wait_for_timeout(600)  # what comes late must not push it down
        tops[name or lesson] = tab.evaluate(TOP, name)
        if name == "attention-heads" and screen.width > 1000:  # the lines beside the heads
            tops[f"{name} lines"] = tab.evaluate(TOP, "attention-frame")
        faults[name or lesson] = looks(tab, screen.least)
        if screen == SCREENS["laptop"]:
            faults[name or lesson] += [f"set in {font}: {markup}" for font, markup in foreign_fonts(tab)]
    assert {name: top for name, top in tops.items() if top > screen.lowest} == {}
    assert {name: found for name, found in faults.items() if found} == {}


def looks(tab: Page, least: float) -> list[str]:
    """What is wrong with the page and the frames in sight."""
    found = list(tab.evaluate(LOOKS, least))
    for frame in tab.frames[1:]:
        box = frame.frame_element().bounding_box()
        if box and box["width"]:
            found += frame.evaluate(LOOKS, least * frame.evaluate("innerWidth") / box["width"])
    return found


def test_the_keyboard_is_soon_there(page: Page, app_url: str) -> None:
    """The first Tab is the way past the bar: from there the first head and Start are near."""
    for lesson, part, found, most in (
        ("attention", "heads", "document.activeElement.closest('#attention-grid') !== null", 8),
        ("finetune", "train", "document.activeElement.id === 'finetune-start'", 10),
    ):
        visit(page, f"{app_url}/?lesson={lesson}")
        stands(page, lesson)
        page.wait_for_function(f"({TOP})('{lesson}-{part}') >= 0")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        pressed = 1
        while not page.evaluate(found) and pressed <= most:
            page.keyboard.press("Tab")
            pressed += 1
        assert pressed <= most, lesson


def test_the_model_note_opens_on_focus_and_on_a_press(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/?lesson=tokens")
    stands(page, "tokens")
    note, button = page.locator("#model-note"), page.locator("#bar-status button")
    assert not note.is_visible()
    button.click()
    note.wait_for(state="visible")
    page.keyboard.press("Escape")
    note.wait_for(state="hidden")
    assert button.get_attribute("aria-expanded") == "false"
    page.locator("#bar-model input").focus()
    page.keyboard.press("Tab")
    note.wait_for(state="visible")
    page.keyboard.press("Tab")
    note.wait_for(state="hidden")
