"""The screens that people have before them, and what must be so on each: pictures high, text whole and large enough."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from playwright.sync_api import Page

from tests.browser.events import frames_in_sight, settle
from tests.browser.fonts import foreign_fonts

Found = TypeVar("Found", int, list[str])


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
    "phone": Screen(390, 844, False, lowest=420, least=12),
}
# The top of the first picture of the open part; -1 where it has none, or none that is seen.
TOP = """(part) => {
    const scope = part ? document.getElementById(part) : document.querySelector('.lesson');
    const tops = [...scope.querySelectorAll('.picture, .lab-buttons'), ...(scope.matches('.picture') ? [scope] : [])]
        .filter((picture) => picture.checkVisibility() && picture.getBoundingClientRect().height > 20)
        .map((picture) => picture.getBoundingClientRect().top + scrollY);
    return tops.length ? Math.round(Math.min(...tops)) : -1;
}"""
# What a part opens with to be set: fields, and rows of buttons. What belongs to its picture (a list of its points too)
# or to its question doesn't count, nor do a run's Start and Stop, and small buttons (downloads, examples).
CONTROLS = """(panel) => {
    const small = "button.sm, button.more, button.term, [role='tablist']";
    const apart = `.picture, #maps-list, #embeddings-picked, .question, .walk, .label-wrap, .lab-buttons, ${small}`;
    const seen = (one) => (one.closest("label") ?? one).checkVisibility({ visibilityProperty: true });
    const found = [...document.getElementById(panel).querySelectorAll("input, textarea, select, button")]
        .filter((one) => seen(one) && !one.closest(apart))
        .map((one) => one.closest(one.matches("button") ? ".block:not(.gr-group), .row, .form" : ".block"));
    return [...new Set(found)].map((block) => block?.id || block?.textContent.trim().slice(0, 30));
}"""
MOST_CONTROLS = 4
# What of the lesson lies over the bar, while the page is scrolled by `step` pixels at a time; none: []. A label that no
# pointer meets (gradio's) is looked for as well.
OVER_THE_BAR = """([step, far]) => {
    const met = document.createElement("style");
    met.textContent = "#lessons * { pointer-events: auto !important; }";
    document.head.append(met);
    const found = new Set();
    for (let down = 0; down <= far; down += step) {
        scrollTo({ top: down, behavior: "instant" });
        const { left, top, right, bottom } = document.getElementById("bar").getBoundingClientRect();
        for (let x = left + 4; x < right; x += 24) {
            for (let y = Math.max(top, 0) + 2; y < bottom - 1; y += 9) {
                const over = document.elementFromPoint(x, y);
                if (over && !over.closest("#bar")) found.add(`${over.localName}#${over.id} at ${down}`);
            }
        }
    }
    met.remove();
    scrollTo({ top: 0, behavior: "instant" });
    return [...found];
}"""
LOOKS = Path(__file__).with_name("looks.js").read_text(encoding="utf-8")
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def turn_to_screen(page: Page, screen: Screen) -> None:
    """Let this open page be on such a screen, from its top."""
    page.set_viewport_size({"width": screen.width, "height": screen.height})
    page.evaluate("(large) => { insideBert.looks.largeType(large); scrollTo(0, 0); }", screen.large)


def wait_for_picture(page: Page, part: str) -> None:
    page.wait_for_function(f"(part) => ({TOP})(part) >= 0", arg=part, polling=100)
    settle(page, 600)  # what comes late must not push it down


def faults_on(page: Page, name: str, part: str) -> list[str]:
    """What is wrong with the open part on the screen of this name, once it is drawn for it.

    `part` is its panel's id; "" in a lesson without parts. Fonts are looked at on one screen.
    """
    screen = SCREENS[name]
    pictures = {"the picture": part}
    if part == "attention-heads" and screen.width > 1000:  # the lines beside the heads
        pictures["the lines"] = "attention-frame"

    def faults() -> list[str]:
        tops = {what: page.evaluate(TOP, panel) for what, panel in pictures.items()}
        found = [f"{what} begins at {top} px" for what, top in tops.items() if not 0 <= top <= screen.lowest]
        return found + looks(page, screen.least)

    found = at_rest(page, faults)
    if name == "laptop":
        found += [f"set in {font}: {markup}" for font, markup in foreign_fonts(page)]
    return found


def looks(page: Page, least: float) -> list[str]:
    """What is wrong with the page and the frames in sight, where a text has `least` pixels of the screen."""
    found = list(page.evaluate(LOOKS, least))
    for frame, width in frames_in_sight(page):
        found += frame.evaluate(LOOKS, least * frame.evaluate("innerWidth") / width)
    return found


def looks_at_rest(page: Page, least: float) -> list[str]:
    """As `looks`, once the page is drawn for its size."""
    return at_rest(page, lambda: looks(page, least))


def overflow(page: Page, width: int, height: int) -> int:
    """How many pixels the page is wider than a window of this size, once it is drawn for it; else 0."""
    page.set_viewport_size({"width": width, "height": height})
    return at_rest(page, lambda: over if (over := int(page.evaluate(OVER))) > 1 else 0)


def at_rest(page: Page, faults: Callable[[], Found]) -> Found:
    """What `faults` finds, once that is nothing, or after 20 looks at a page without work: drawing takes a moment."""
    for _ in range(20):
        settle(page, 150)
        if not (found := faults()):
            break
        page.wait_for_timeout(100)
    return found
