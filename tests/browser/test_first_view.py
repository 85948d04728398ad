"""What a page draws as it opens, and what it leaves for later, in Chromium.

That each lesson comes drawn, and is what a drawing shows: test_lessons.py.
"""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import visit
from tests.browser.events import Asked

FIGURES = "[...document.querySelectorAll('#encoder-input .js-plotly-plot')]"
HEIGHTS = f"{FIGURES}.map((figure) => figure.clientHeight)"
COUNTED = f"""() => {{
    window.before = {FIGURES};
    window.drawn = new Map();
    const draw = Plotly.react;
    Plotly.react = (figure, ...values) => {{
        drawn.set(figure, (drawn.get(figure) ?? 0) + 1);
        return draw(figure, ...values);
    }};
}}"""
# For another width than the one before
DRAWN_ANEW = """({ clientWidth, _fullLayout }) =>
    clientWidth !== before && Math.abs(_fullLayout.width - clientWidth) <= 1"""


def test_plotly_waits_until_a_figure_is_near(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/?lesson=attention")
    page.wait_for_selector("#attention-frame iframe[data-drawn]")
    page.wait_for_timeout(500)
    assert page.evaluate("typeof Plotly") == "undefined"
    page.locator("#attention-heatmap").scroll_into_view_if_needed()
    expect(page.locator("#attention-heatmap .js-plotly-plot .main-svg").first).to_be_visible()


def test_a_choice_beyond_a_shorter_sentence_is_drawn_once_each_time(
    open_lesson: Callable[..., Page], page: Page
) -> None:
    """The token followed becomes the sentence's last: what is drawn with that already is not asked again."""
    asked = Asked(page)
    open_lesson("encoder", part="block", text="The bank by the river.", token=5)
    asked.since_last()
    for text in ("Hi.", "The bank of the river.", "Hi."):
        page.locator("#bar-text textarea").fill(text)
        assert len(asked.since_last(at_least=1)) == 1
    expect(page.locator("#encoder-token")).to_contain_text("hi")


def test_figures_keep_their_heights_in_other_windows_drawn_again_or_not(
    open_lesson: Callable[..., Page], page: Page
) -> None:
    """Plotly makes a figure as high as its block, and its block is as high as the figure."""
    asked = Asked(page)
    open_lesson("encoder", part="input", text="The bank by the river.")
    asked.since_last()
    heights = page.evaluate(HEIGHTS)
    assert len(heights) == 4
    page.locator("#bar-text textarea").fill("The bank of the river.")
    asked.since_last()
    for width, dark in ((1000, False), (1280, True)):
        page.evaluate("(dark) => insideBert.looks.dark(dark)", dark)
        before = page.evaluate(f"{FIGURES}[0].clientWidth")
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function(f"(before) => {FIGURES}.every({DRAWN_ANEW})", arg=before)
        page.wait_for_timeout(300)
        assert page.evaluate(HEIGHTS) == heights


def test_another_sentence_is_drawn_once_into_the_figures_that_are_there(
    open_lesson: Callable[..., Page], page: Page
) -> None:
    asked = Asked(page)
    open_lesson("encoder", part="input", text="The bank by the river.")
    asked.since_last()
    page.evaluate(COUNTED)
    page.locator("#bar-text textarea").fill("A river bank.")
    asked.since_last(at_least=1)
    page.wait_for_function("drawn.size > 1")
    page.wait_for_timeout(500)
    assert set(page.evaluate("[...drawn.values()]")) == {1}
    assert page.evaluate("before.filter((figure) => figure.isConnected).length") == 4
