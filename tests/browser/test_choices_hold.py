"""What a reader chooses while the server is busy stands once it answers what was asked for before."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.bertviz import FRAME, drawn, hovered, press
from tests.browser.events import Asked, StillServer

TEXT = "The old miller counted his sacks twice."
LONGER = "The young miller counted all of his sacks at least twice."
ALL = list(range(12))
Open = Callable[..., Page]


@pytest.fixture
def asked(page: Page) -> Asked:
    return Asked(page)


@pytest.fixture
def server(page: Page) -> StillServer:
    return StillServer(page)


def query(page: Page) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(page.url).query).items()}


def heads_on(page: Page, heads: list[int]) -> None:
    """These heads' squares are on in the frame, and no other."""
    for head in ALL:
        square = drawn(page, "head 0").locator(f"#vis [aria-label='head {head + 1}']")
        expect(square).to_have_attribute("aria-checked", "true" if head in heads else "false")


def button(page: Page, name: str) -> Locator:
    return drawn(page, "head 0").get_by_role("button", name=name)


def open_heads(page: Page, open_lesson: Open, asked: Asked, **choices: str | int) -> Locator:
    """Open "One head" and its controls -> the box of the head's number."""
    open_lesson("attention", text=TEXT, part="heads", layer=0, head=3, heads_controls="true", **choices)
    drawn(page, "head 0")
    asked.since_last()
    return page.locator("#attention-head input[type=number]")


def test_a_press_in_the_frame_holds_while_the_head_before_it_is_awaited(
    open_lesson: Open, page: Page, asked: Asked, server: StillServer
) -> None:
    number = open_heads(page, open_lesson, asked, lines="all")
    heads_on(page, ALL)
    server.stop()
    number.fill("5")
    number.press("Enter")
    server.asked()
    press(button(page, "Show head 5 alone"), page.locator(FRAME))
    heads_on(page, [4])
    server.go_on()
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 1, head 5.")
    asked.since_last()
    heads_on(page, [4])
    assert (query(page)["head"], query(page).get("lines")) == ("4", None)

    # a head that is switched on beside it, while another sentence is awaited
    server.stop()
    page.locator("#bar-text textarea").fill(LONGER)
    server.asked()
    press(drawn(page, "head 0").locator("#vis [aria-label='head 8']"), page.locator(FRAME))
    page.wait_for_url(re.compile("lines="))
    server.go_on()
    asked.since_last()
    heads_on(page, [4, 7])
    assert query(page)["lines"] == "4, 7"

    # the number box, while a head that was picked in the grid is awaited
    server.stop()
    page.locator("#attention-grid").get_by_role("button", name="Layer 1, head 10", exact=True).click()
    server.asked()
    assert query(page)["head"] == "9"  # at once
    number.fill("2")
    number.press("Enter")
    server.go_on()
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 1, head 2.")
    asked.since_last()
    expect(number).to_have_value("2")
    heads_on(page, [1])
    assert (query(page)["head"], query(page).get("lines")) == ("1", None)


def test_a_press_on_a_slow_frame_holds(open_lesson: Open, page: Page, asked: Asked) -> None:
    """What the page says while a press waits for a second click comes after it; and no press on the frame is lost."""
    open_heads(page, open_lesson, asked)
    frame = drawn(page, "head 0")
    frame.evaluate(
        """() => {
            const squares = document.querySelectorAll("#vis [role=checkbox]");
            squares[7].dispatchEvent(new MouseEvent("click", { bubbles: true }));
            const { head, heads } = frame.at();
            dispatchEvent(new MessageEvent("message", { source: parent, data: { bertviz: { head, heads } } }));
        }"""
    )
    heads_on(page, [3, 7])
    page.wait_for_url(re.compile(r"lines=3%2C\+7"))
    # the browser gives a press to the page, where it has not learned yet that the frame is in sight
    x, y = frame.locator("#all-heads").evaluate(
        "(button) => { const { left, top } = button.getBoundingClientRect(); return [left + 5, top + 5]; }"
    )
    page.locator(FRAME).evaluate(
        """(frame, [x, y]) => {
            const { left, top } = frame.getBoundingClientRect();
            frame.dispatchEvent(new MouseEvent("click", { clientX: left + x, clientY: top + y }));
        }""",
        [x, y],
    )
    heads_on(page, ALL)
    page.wait_for_url(re.compile("lines=all"))


def test_a_slow_press_in_the_frame_meets_its_target_after_a_long_sentence(
    open_lesson: Open, page: Page, asked: Asked
) -> None:
    """The box of a long sentence is one line again when its focus is gone: not while a press in the frame lasts."""
    open_heads(page, open_lesson, asked)
    box, frame = page.locator("#bar-text textarea"), page.locator(FRAME)
    tokens = drawn(page, "head 0").locator("#right text")
    before = tokens.count()
    box.fill(5 * LONGER)
    asked.since_last()
    expect(tokens).not_to_have_count(before)
    page.evaluate("(top) => scrollBy(0, top - 250)", frame.evaluate("(frame) => frame.getBoundingClientRect().top"))
    square = drawn(page, "head 0").locator("#vis [aria-label='head 8']")
    high = box.evaluate("(box) => box.offsetHeight")
    assert high > 60  # several lines
    hovered(square)
    page.mouse.down()
    page.wait_for_timeout(400)  # as a hand is: longer than the browser needs to lay the page out
    page.mouse.up()
    heads_on(page, [3, 7])
    page.mouse.move(5, 5)
    page.wait_for_function("(high) => document.querySelector('#bar-text textarea').offsetHeight < high", arg=high)


def test_a_token_and_a_layer_hold_while_another_sentence_is_awaited(
    open_lesson: Open, page: Page, asked: Asked, server: StillServer
) -> None:
    """A token's chip, and the number box of a layer."""
    open_lesson("encoder", text=TEXT, part="block", token=2)
    asked.since_last()
    layer = page.locator("#encoder-layer input[type=number]")
    server.stop()
    page.locator("#bar-text textarea").fill(LONGER)
    server.asked()
    chip = page.locator('#encoder-token [data-token="6"]')
    chip.click()
    layer.fill("3")
    server.go_on()
    asked.since_last()
    expect(chip).to_have_attribute("aria-checked", "true")
    expect(layer).to_have_value("3")
    assert (query(page)["token"], query(page)["layer"]) == ("6", "2")
    chip = page.locator('#encoder-token [data-token="2"]')  # what the answer would have set is one press away
    chip.click()
    page.wait_for_url(re.compile("token=2"))
    asked.since_last()
    expect(chip).to_have_attribute("aria-checked", "true")


def test_a_menu_that_is_open_changes_once_it_is_shut(
    open_lesson: Open, page: Page, asked: Asked, server: StillServer
) -> None:
    """The words of a long sentence are on offer until the menu is shut, and then those of the short one."""
    open_lesson("attention", text=LONGER, part="rollout")
    asked.since_last()
    menu, options = page.locator("#rollout-token input"), page.locator("[role=option]:visible")
    menu.click()
    many = options.count()
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    server.stop()
    page.locator("#bar-text textarea").fill("Two mills.")
    server.asked()
    menu.click()
    expect(options).to_have_count(many)
    server.go_on()
    asked.since_last()
    expect(options).to_have_count(many)
    options.last.click()
    asked.since_last()
    menu.click()
    expect(options).not_to_have_count(many)
    assert 3 <= options.count() <= 5  # [CLS] two mills . [SEP], or some of them


def test_each_press_on_a_recipe_counts_and_what_is_set_after_it_holds(
    open_lesson: Open, page: Page, asked: Asked, server: StillServer
) -> None:
    """A recipe, and a choice and a tick of its own before it is filled in; then two recipes, one after the other."""
    open_lesson("finetune", part="train", train_controls="true")
    asked.since_last()
    recipe = page.locator("#finetune-preset")
    pooling = page.locator("#finetune-pooling")
    pairs = page.get_by_label("Learn from pairs of examples first")
    rate = page.get_by_label("Learning rate", exact=True)
    server.stop()
    recipe.get_by_text("all parameters, [CLS]").click()
    server.asked()
    pooling.get_by_text("max").click()
    pairs.check()
    server.go_on()
    asked.since_last()
    expect(pooling.get_by_label("max")).to_be_checked()
    expect(pairs).to_be_checked()
    expect(rate).to_have_value("5e-5")

    server.stop()
    recipe.get_by_text("few examples").click()
    server.asked()
    recipe.get_by_text("frozen encoder").click()
    server.go_on()
    asked.since_last()
    expect(rate).to_have_value("1e-2")
    expect(pairs).not_to_be_checked()
    expect(pooling.get_by_label("[CLS]")).to_be_checked()
