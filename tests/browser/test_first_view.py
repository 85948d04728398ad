"""A page at its default view, in Chromium: it comes drawn, asks for nothing, and shows what a drawing would show."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from demos.lessons import discover
from demos.page.bar import DEFAULT_TEXT
from demos.page.lesson import Lesson
from tests.browser.conftest import stands, visit
from tests.browser.events import Asked

# Lessons whose first view reads no sentence.
READ_NO_SENTENCE = {lesson.slug for lesson in discover() if lesson.parts and not lesson.parts[0].reads_sentence}
OTHER = "The imperturbable banker moved his boats from the bank of the lake."  # as many tokens: the same are followed
# What is to be seen of a lesson: its words, its pictures, and what a frame has drawn.
SEEN = """(lesson) => {
    const root = document.querySelector(`#lesson-${lesson}`);
    const pictures = [...root.querySelectorAll(".js-plotly-plot")].map((plot) => plot.innerText);
    const frames = [...root.querySelectorAll("iframe")].map((frame) => frame.dataset.drawn);
    const boxes = [...root.querySelectorAll("input, textarea")].filter((box) => box.checkVisibility());
    const words = root.innerText.split(/\\s+/).join(" ").replace(/\\b\\d+ (s|min)\\b/g, "");
    return [words, pictures, frames, boxes.map((box) => [box.value, box.checked])];
}"""


@pytest.mark.parametrize("lesson", [lesson.slug for lesson in discover()])
def test_it_comes_drawn_and_is_what_a_drawing_shows(page: Page, app_url: str, lesson: str) -> None:
    asked = Asked(page)
    default = f"{app_url}/?lesson={lesson}"
    until = time.monotonic() + 60
    while True:  # the first views are drawn while the app already answers
        visit(page, default)
        stands(page, lesson)
        if not asked.since_last():
            break
        assert time.monotonic() < until, "the page comes without its first view"
    page.wait_for_timeout(1_000)  # frames and figures are drawn in the browser
    sent = page.evaluate(SEEN, lesson)

    visit(page, f"{default}&{urlencode({'text': OTHER})}")
    stands(page, lesson)
    assert asked.since_last()
    assert page.evaluate(SEEN, lesson) != sent or lesson in READ_NO_SENTENCE
    page.locator("#bar-text textarea").fill(DEFAULT_TEXT)
    expect(page.locator(f"#lesson-{lesson} .pending")).to_have_count(0)
    asked.since_last()
    page.wait_for_timeout(1_000)
    assert page.evaluate(SEEN, lesson) == sent


def test_plotly_waits_until_a_figure_is_near(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/?lesson=attention")
    page.wait_for_selector("#attention-frame iframe[data-drawn]")
    page.wait_for_timeout(500)
    assert page.evaluate("typeof Plotly") == "undefined"
    page.locator("#attention-heatmap").scroll_into_view_if_needed()
    expect(page.locator("#attention-heatmap .js-plotly-plot .main-svg").first).to_be_visible()


@pytest.mark.parametrize("lesson", discover(), ids=lambda lesson: lesson.slug)
@pytest.mark.parametrize("text", ["Hi.", OTHER], ids=["short", "long"])
def test_any_other_opening_asks_for_two_events_at_most_and_draws_each_once(
    open_lesson: Callable[..., Page], page: Page, lesson: Lesson, text: str, subtests: pytest.Subtests
) -> None:
    """Each part by its link; with the short sentence, what was chosen lies beyond its end."""
    asked = Asked(page)
    for query in [{"part": part.slug} for part in lesson.parts] or [{}]:
        with subtests.test(**query):
            open_lesson(lesson.slug, text=text, **query)
            events = asked.since_last()
            assert 1 <= len(events) <= 2
            assert len({number for number, _ in events}) == len(events)


def test_a_choice_beyond_a_shorter_sentence_is_drawn_once_each_time(
    open_lesson: Callable[..., Page], page: Page
) -> None:
    """The token followed becomes the sentence's last: what is drawn with that already is not asked again."""
    asked = Asked(page)
    open_lesson("encoder", part="block", text="The bank by the river.", token=5)
    asked.since_last()
    for text in ("Hi.", "The bank of the river.", "Hi."):
        page.locator("#bar-text textarea").fill(text)
        assert len(asked.since_last()) == 1
    expect(page.locator("#encoder-token")).to_contain_text("hi")
