"""Each lesson opened once: it comes drawn, fits its first screen, follows what is typed, hostile or not, and a control.

This is what the short run (`python -m pytest`) sees of every lesson; all parts on all screens are in test_views.py.
"""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Page, expect

from demos.lessons import discover
from demos.page.bar import DEFAULT_TEXT
from demos.page.lesson import Lesson
from tests.browser.conftest import stands, visit
from tests.browser.events import Asked, twice
from tests.browser.screens import (
    CONTROLS,
    MOST_CONTROLS,
    OVER_THE_BAR,
    SCREENS,
    faults_on,
    turn_to_screen,
    wait_for_picture,
)

LESSONS = discover()
# Lessons whose first view reads no sentence.
READ_NO_SENTENCE = {lesson.slug for lesson in LESSONS if lesson.parts and not lesson.parts[0].reads_sentence}
OTHER = "The imperturbable banker moved his boats from the bank of the lake."  # as many tokens: the same are followed
NASTY = "The <img src=x onerror=alert(1)> of ${alert(1)} and </script><script>alert(1)</script> is {{7*7}}."
GIVEN_UP = 300  # seconds in which the app has not drawn its first views, on the slowest machine
# What is to be seen of a lesson: its words, its pictures, and what a frame has drawn.
SEEN = """(lesson) => {
    const root = document.querySelector(`#lesson-${lesson}`);
    const pictures = [...root.querySelectorAll(".js-plotly-plot")].map((plot) => plot.innerText);
    const frames = [...root.querySelectorAll("iframe")].map((frame) => frame.dataset.drawn);
    const boxes = [...root.querySelectorAll("input, textarea")].filter((box) => box.checkVisibility());
    const words = root.innerText.split(/\\s+/).join(" ").replace(/\\b\\d+ (s|min)\\b/g, "");
    return [words, pictures, frames, boxes.map((box) => [box.value, box.checked])];
}"""

# The label of the first control in the open part that one press changes, marked; none: "".
FIRST_CONTROL = """(panel) => {
    const kinds = "input[type=radio]:not(:checked), input[type=checkbox], [role=option][aria-selected=false]";
    const controls = [...document.getElementById(panel).querySelectorAll(kinds)];
    const first = controls.find((one) => one.checkVisibility() && !one.closest(".question"));
    if (!first) return "";
    const pressed = first.closest("label") ?? first;
    pressed.dataset.firstControl = "";
    return pressed.textContent.trim() || "a switch";
}"""


@pytest.mark.quick
@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.slug for lesson in LESSONS])
def test_it_comes_drawn_fits_its_first_screen_and_shows_what_a_drawing_shows(
    page: Page, app_url: str, lesson: Lesson
) -> None:
    asked = Asked(page)
    comes_drawn(page, asked, app_url, lesson.slug)
    panel = f"{lesson.slug}-{lesson.parts[0].slug}" if lesson.parts else f"lesson-{lesson.slug}"
    for name in SCREENS if lesson.slug == "overview" else ["laptop"]:  # the others: test_views.py
        turn_to_screen(page, SCREENS[name])
        wait_for_picture(page, panel if lesson.parts else "")
        assert faults_on(page, name, panel if lesson.parts else "") == []
    turn_to_screen(page, SCREENS["laptop"])
    controls = page.evaluate(CONTROLS, panel)
    assert len(controls) <= MOST_CONTROLS, controls
    assert page.evaluate(OVER_THE_BAR, [100, 1_500]) == []
    asked.since_last()
    sent = page.evaluate(SEEN, lesson.slug)

    reads_sentence = lesson.slug not in READ_NO_SENTENCE
    typed = type_sentence(page, asked, lesson.slug, OTHER)
    assert bool(typed) == reads_sentence, "what reads no sentence is not drawn again for another"
    assert twice(typed) == []
    assert (page.evaluate(SEEN, lesson.slug) != sent) == reads_sentence
    assert bool(type_sentence(page, asked, lesson.slug, DEFAULT_TEXT)) == reads_sentence
    assert page.evaluate(SEEN, lesson.slug) == sent

    type_sentence(page, asked, lesson.slug, NASTY)
    assert page.locator("img[src=x]").count() == 0  # and no dialog, which fails the test by itself
    if control := page.evaluate(FIRST_CONTROL, panel):
        before = page.url
        page.locator("[data-first-control]").click()
        assert asked.since_last() or page.url != before, f"nothing follows a press on {control}"


def comes_drawn(page: Page, asked: Asked, app_url: str, lesson: str) -> None:
    """Open the default view until it asks for nothing: the app answers before its first views are drawn."""
    until = time.monotonic() + GIVEN_UP
    while True:
        visit(page, f"{app_url}/?lesson={lesson}")
        stands(page, lesson)
        if not asked.since_last():
            return
        assert time.monotonic() < until, "the page comes without its first view"


def type_sentence(page: Page, asked: Asked, lesson: str, text: str) -> list[tuple[int, str]]:
    """Type it into the bar; what the page asks for it, once the link has it and the lesson is drawn."""
    page.locator("#bar-text textarea").fill(text)
    page.wait_for_function("(text) => new URLSearchParams(location.search).get('text') === text", arg=text)
    expect(page.locator(f"#lesson-{lesson} .pending")).to_have_count(0)
    asked_for = asked.since_last()
    page.wait_for_timeout(300)  # frames and figures are drawn in the browser
    return asked_for
