"""Every part of every lesson, in one visit of Chromium: drawn once, right on each screen, for every reader; at rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from demos.lessons import discover
from demos.page.lesson import Lesson
from tests.browser.events import Asked, StillServer, settle, twice
from tests.browser.everyone import lacks
from tests.browser.faults import serious_faults
from tests.browser.moves import last_asked, movable, move
from tests.browser.rows import hidden_in_rows
from tests.browser.screens import (
    CONTROLS,
    MOST_CONTROLS,
    SCREENS,
    TOP,
    faults_on,
    overflow,
    turn_to_screen,
    wait_for_picture,
)

pytestmark = pytest.mark.minutes
LESSONS = discover()
OTHER = "The imperturbable banker moved his boats from the bank of the lake."
THIRD = "The old miller counted all of his sacks at least twice."
SENTENCE = "#bar-text textarea"
CHOICES = "() => insideBert.link.view().choices"
# A model of the Hub, which no test reaches: a sentence says so, and the choice goes back.
REFUSED = {"answered_by", "ready_by"}
TEXT = "Antidisestablishmentarianism <img src=x onerror=alert(1)> sounds unbelievable to the bank manager."
# Windows that a page must not be wider than, looked at right after a screen; the last is 1280 x 1024 at 400 % zoom.
WINDOWS = {"projector": (1920, 1080), "phone": (320, 256)}
COLOURS = ["color-contrast", "link-in-text-block"]  # axe's rules of colour
THEMES = [("light", []), ("dark", COLOURS)]  # what is dark differs in its colours alone
NO_TABLES = {"overview", "tokens", "pretraining"}  # lessons without a figure of Plotly
# The ids that a name, a label or a description points to and that stand on the page twice, hidden tabs included.
AMBIGUOUS = """() => {
    const uses = ['for', 'aria-labelledby', 'aria-describedby', 'aria-controls', 'aria-owns', 'aria-activedescendant'];
    const named = uses.flatMap((use) => [...document.querySelectorAll(`[${use}]`)]
        .flatMap((one) => one.getAttribute(use).split(/\\s+/)));
    return [...new Set(named)].filter((id) => id && document.querySelectorAll(`[id="${CSS.escape(id)}"]`).length > 1);
}"""


# Patterns and clip paths of a figure by the page's address, under which they are not found once the link has changed.
OF_ADDRESS = ", ".join(f"svg [{name}*='http']" for name in ("clip-path", "fill", "style"))


@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.slug for lesson in LESSONS])
def test_every_view_is_drawn_once_looks_right_reads_well_for_everyone_and_rests(
    open_lesson: Callable[..., Page], page: Page, lesson: Lesson, subtests: pytest.Subtests
) -> None:
    """A lesson by its link and each of its parts by its tab, every second one on a phone."""
    asked = Asked(page)
    open_lesson(lesson.slug, text=TEXT)
    first = asked.since_last()
    assert first, "something is drawn"
    assert twice(first) == []
    turn_to_screen(page, SCREENS["laptop"])
    asked.since_last()
    own = {number for number, _ in first}
    tables = 0
    for number, part in enumerate(part.slug for part in lesson.parts) if lesson.parts else [(0, "")]:
        panel = f"{lesson.slug}-{part}" if part else f"lesson-{lesson.slug}"
        names = ["phone", "projector", "laptop"] if number % 2 else ["laptop", "projector", "phone"]
        turn_to_screen(page, SCREENS[names[0]])
        if number:
            with subtests.test(f"{part} is drawn once"):
                page.locator(f"#{panel}-button").click()
                expect(page.locator(f"#{panel} .part-heading").first).to_be_visible()
                opened = asked.since_last()
                assert twice(opened) == []
                assert not {number for number, _ in opened} & own, "what was open before is drawn again"
        for name in names:
            turn_to_screen(page, SCREENS[name])
            if lesson.slug != "overview":  # whose text is smaller where there is more of it
                with subtests.test(f"{part} on a {name}"):
                    if name == names[0]:
                        wait_for_picture(page, panel if part else "")
                    assert faults_on(page, name, panel if part else "") == []
            else:
                with subtests.test(f"the picture on a {name}"):
                    assert 0 <= page.evaluate(TOP, "") <= SCREENS[name].lowest
                    assert overflow(page, SCREENS[name].width, SCREENS[name].height) == 0
            if name in WINDOWS:
                with subtests.test(f"{part} at {WINDOWS[name][0]}"):
                    page.evaluate("insideBert.looks.largeType(false)")
                    assert overflow(page, *WINDOWS[name]) == 0
                continue
            with subtests.test(f"{part} opens with few controls"):
                controls = page.evaluate(CONTROLS, panel)
                assert len(controls) <= MOST_CONTROLS, controls
            with subtests.test(f"{part} for everyone"):
                faults, figures = lacks(page, panel)
                assert faults == []
                tables += figures
            for theme, rules in THEMES[::-1] if number % 2 else THEMES:  # the theme that it is in first
                with subtests.test(f"{part} in {theme}"):
                    page.evaluate("(dark) => insideBert.looks.dark(dark)", theme == "dark")
                    serious = serious_faults(page, rules, f"#{panel}" if number else None)  # what is around it, once
                    assert not serious, json.dumps(serious, indent=1)
        with subtests.test(f"{part} rests"):
            asked.since_last()  # a handler that wakes itself never ends
            assert page.evaluate(AMBIGUOUS) == []
            assert page.locator(OF_ADDRESS).count() == 0
            assert page.locator("img[src=x]").count() == 0  # and no dialog, which fails the test by itself
    assert tables or lesson.slug in NO_TABLES


@pytest.mark.parametrize("lesson", LESSONS, ids=[lesson.slug for lesson in LESSONS])
def test_a_link_to_a_part_asks_for_two_events_at_most_and_a_busy_server_undoes_no_choice(
    open_lesson: Callable[..., Page], page: Page, lesson: Lesson, subtests: pytest.Subtests
) -> None:
    """With a short sentence, so that what was chosen lies beyond its end; then with a long one, within the page.

    At the end the rows of buttons are looked at, with a short sentence below them, which is quickly laid out.
    """
    asked, server = Asked(page), StillServer(page)
    for part in [part.slug for part in lesson.parts] or [""]:
        query = {"part": part} if part else {}
        with subtests.test(**query):
            open_lesson(lesson.slug, text="Hi.", **query)
            drawn_once(asked.since_last(at_least=1))
            link = urlencode({"text": OTHER, **query})
            page.evaluate("([lesson, query]) => insideBert.link.goTo(lesson, query)", [lesson.slug, link])
            drawn_once(asked.since_last())  # which is nothing where no sentence is read
        with subtests.test("choices", **query):
            choices_hold(page, asked, server, f"{lesson.slug}-{part}" if part else f"lesson-{lesson.slug}")
    with subtests.test("rows"):
        assert hidden_in_rows(page, lesson, LESSONS) == []


def drawn_once(events: list[tuple[int, str]]) -> None:
    assert len(events) <= 2
    assert len({number for number, _ in events}) == len(events)


def choices_hold(page: Page, asked: Asked, server: StillServer, panel: str) -> None:
    """While the server is busy a sentence is typed and two controls are moved: all three are what is drawn at last."""
    controls, before = movable(page, panel), page.evaluate(CHOICES)
    server.stop()
    page.locator(SENTENCE).fill(THIRD)
    settle(page, 300)  # the page asks for its drawing, where this part reads it
    for control in controls[:1] + controls[1:][-1:]:  # the first and the last
        move(page, *control)
        settle(page, 100)
    chosen, linked = page.evaluate(CHOICES), parse_qs(urlsplit(page.url).query)
    server.go_on()
    events = asked.since_last()
    now, sent, link = page.evaluate(CHOICES), last_asked(page, events), parse_qs(urlsplit(page.url).query)
    for name in {name for name, value in chosen.items() if value != before[name]} - REFUSED:
        assert now[name] == chosen[name], name
        assert link.get(name) == linked.get(name), name
        assert sent.get(name, now[name]) == now[name], name
    assert page.locator(SENTENCE).input_value() == THIRD
    assert not any(OTHER in data for _, data in events)
