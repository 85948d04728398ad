"""One picture alone in the window: by F or its corner's button, with its controls, in presenter mode and in a room."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

Open = Callable[..., Page]
STAGE, BUTTON = ".stage", "button.full-screen"
PICTURE = "#rollout-heatmap"
FIGURE = f"{PICTURE} .js-plotly-plot"
BELOW = f"innerHeight - document.querySelector('{FIGURE} .main-svg').getBoundingClientRect().bottom"
COMPOSED = """(element) => element.dispatchEvent(
    new KeyboardEvent("keydown", { key: "f", isComposing: true, bubbles: true, cancelable: true }))"""
SHORTER = "(figure) => Plotly.react(figure, figure.data, { ...figure.layout, height: 0.6 * figure.layout.height })"


def box(page: Page, selector: str) -> dict[str, float]:
    found: Any = page.locator(selector).first.bounding_box()
    assert found, selector
    return dict(found)


def fills_the_window(page: Page) -> None:
    """The stage is as large as the window and lies over all else; the figure is drawn for its height."""
    size = page.viewport_size
    assert size
    assert box(page, STAGE) == {"x": 0, "y": 0, **size}
    page.wait_for_function(f"(below => 0 <= below && below < 24)({BELOW})")
    on_top = "([x, y]) => Boolean(document.elementFromPoint(x, y).closest('.stage'))"
    assert all(page.evaluate(on_top, [x, y]) for x in (300, 700, 1100) for y in (5, 400, size["height"] - 20))


def test_one_picture_fills_the_window_with_its_controls_and_comes_back(open_lesson: Open) -> None:
    page = open_lesson("attention", part="rollout")
    expect(page.locator(f"{FIGURE} .main-svg").first).to_be_visible()
    before = box(page, FIGURE)
    page.locator("#bar-text textarea").press("End")
    page.keyboard.press("f")  # a letter of the sentence
    page.locator("body").evaluate(COMPOSED)
    expect(page.locator(STAGE)).to_have_count(0)
    page.keyboard.press("Backspace")
    page.locator(".lesson-heading h2").click()
    scrolled = page.evaluate("scrollY")
    page.keyboard.press("f")
    fills_the_window(page)
    assert page.locator(f"{PICTURE} .takeaway").first.is_hidden()
    page.locator(FIGURE).evaluate(SHORTER)  # as of a shorter sentence, answered late
    fills_the_window(page)

    up_to = page.locator(f"{STAGE} input[type=number]").first
    up_to.fill("5")
    up_to.press("Enter")
    expect(page.locator(PICTURE)).to_contain_text("layers 1 to 5")  # drawn again, by a control that came along
    fills_the_window(page)
    up_to.press("f")  # in a field, too
    expect(page.locator(STAGE)).to_have_count(1)
    page.set_viewport_size({"width": 1500, "height": 700})
    fills_the_window(page)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.keyboard.press("Escape")
    expect(page.locator(STAGE)).to_have_count(0)
    page.wait_for_function(f"Math.abs(document.querySelector('{FIGURE}').offsetHeight - {before['height']}) < 2")
    assert box(page, FIGURE)["width"] == before["width"]
    assert page.evaluate("scrollY") == scrolled
    assert page.locator("[inert]").count() == 0


def test_it_works_in_presenter_mode_and_in_a_room_and_the_other_keys_go_on(open_lesson: Open) -> None:
    page = open_lesson("attention", part="rollout")
    page.locator("#room-button").click()
    page.get_by_role("button", name="Open a room").click()
    expect(page.locator("#room .room-code")).to_be_visible()
    page.locator(".lesson-heading h2").click()
    page.keyboard.press("f")
    expect(page.locator(STAGE)).to_have_count(1)
    page.locator("#room-heading").click(trial=True)  # the panel lies over the picture
    page.keyboard.press("Escape")
    expect(page.locator(STAGE)).to_have_count(0)
    expect(page.locator("#room")).to_be_visible()
    page.get_by_role("button", name="End the room").click()
    page.locator("#room").press("Escape")

    page.locator(PICTURE).hover()
    page.get_by_role("button", name="Full screen").click()
    expect(page.get_by_role("button", name="Leave full screen")).to_be_visible()
    page.keyboard.press("p")
    expect(page.locator("html.presenting.filled")).to_have_count(1)
    fills_the_window(page)
    page.keyboard.press("b")
    expect(page.locator("#blank")).to_be_visible()
    page.keyboard.press("f")
    page.keyboard.press("Escape")  # of the blank screen alone
    expect(page.locator("#blank")).to_be_hidden()
    fills_the_window(page)
    page.keyboard.press("ArrowRight")  # to the next part, which ends it
    expect(page.locator("#attention-ablation .part-heading").first).to_be_visible()
    expect(page.locator(STAGE)).to_have_count(0)
