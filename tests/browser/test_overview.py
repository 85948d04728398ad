"""The Overview lesson in Chromium: the page's first, a token followed by pointer and keyboard, the ways on."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import stands, visit
from tests.browser.events import Asked
from tests.browser.faults import serious_faults

TOKENS = "#overview-picture [data-token]"
GUESSED = "#overview-exits section:first-of-type > p:first-of-type"
Open = Callable[..., Page]


def test_a_token_is_followed(page: Page, open_lesson: Open, app_url: str) -> None:
    asked = Asked(page)
    open_lesson("overview")
    assert page.url.split("?")[0] == f"{app_url}/"
    expect(page.locator(TOKENS)).to_have_count(18)
    assert asked.since_last() == []  # the picture came with the page
    paper_lies_between_the_strips(page)
    the_pointer_marks_a_tokens_way(page)
    a_click_keeps_it_and_hides_the_word(page)
    assert len(asked.since_last(at_least=1)) == 1
    the_keyboard_moves_it(page)
    assert serious_faults(page, [], "#lesson-overview") == {}
    a_station_opens_its_lesson_at_the_token(page)


def paper_lies_between_the_strips(page: Page) -> None:
    shot = Image.open(io.BytesIO(page.locator("#overview-picture .inputs .column").first.screenshot()))
    pixels = np.asarray(shot.convert("RGB"))
    is_paper = (pixels == pixels[0, 0]).all(axis=(1, 2))  # <bool>[h]
    edges = np.flatnonzero(np.diff(is_paper.astype(int)) == -1)  # a strip's first row of pixels is the next one
    assert len(edges) >= 16  # of 18; the chosen token's row is marked
    assert np.median(np.diff(edges)) == pytest.approx(27, abs=1)


def the_pointer_marks_a_tokens_way(page: Page) -> None:
    lit = page.locator("#overview-picture line.lit")
    page.locator("#overview-picture .layer .rows").nth(2).hover(position={"x": 5, "y": 5 * 27 + 10})
    expect(page.locator(f"{TOKENS}.lit")).to_have_text(["##able3085"])
    assert {line.get_attribute("data-to") for line in lit.all()} == {"5"}
    page.locator("#lesson-overview h2").hover()
    expect(page.locator(f"{TOKENS}.lit")).to_contain_text(["money"])  # the chosen one again


def a_click_keeps_it_and_hides_the_word(page: Page) -> None:
    page.locator(TOKENS).nth(12).click()
    expect(page.locator(GUESSED)).to_contain_text("With bank masked")
    page.wait_for_function("new URLSearchParams(location.search).get('token') === '12'")
    expect(page.locator(f'{TOKENS}[aria-checked="true"]')).to_contain_text(["bank"])


def the_keyboard_moves_it(page: Page) -> None:
    page.locator(TOKENS).nth(12).focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(f'{TOKENS}[aria-checked="true"]')).to_contain_text(["of"])
    expect(page.locator(GUESSED)).to_contain_text("With of masked")
    expect(page.locator(TOKENS).nth(13)).to_be_focused()
    page.keyboard.press("End")
    expect(page.locator(f'{TOKENS}[aria-checked="true"]')).to_contain_text(["[SEP]"])
    page.locator(TOKENS).nth(12).click()
    expect(page.locator(GUESSED)).to_contain_text("With bank masked")


def a_station_opens_its_lesson_at_the_token(page: Page) -> None:
    page.locator("#overview-picture .layer a").nth(3).click()
    page.wait_for_selector("#lesson-encoder h2")
    page.wait_for_function("new URLSearchParams(location.search).get('part') === 'block'")
    expect(page.locator('#encoder-token [aria-checked="true"]')).to_contain_text("bank")
    expect(page.locator("#encoder-layer input[type=number]")).to_have_value("4")


def test_one_station_after_another_is_shown(browser: Browser, app_url: str) -> None:
    context = browser.new_context()  # of its own: its clock can't be set right again
    page = context.new_page()
    page.clock.install()
    visit(page, f"{app_url}/?lesson=overview")
    stands(page, "overview")
    page.get_by_role("button", name="Play").click()
    now, told = page.locator("#lesson-overview [data-station].now"), page.locator("#overview-picture [role=status]")
    for station, sentence in (
        ("Pieces", "cut into 18 tokens"),
        ("Input", "the sum of 3 vectors: one for its id, one for its segment (A or B)"),
        ("layer 1", "attention adds to each token's vector"),
        ("layer 2", "Each further layer"),
    ):
        expect(now.locator("h3, .above a")).to_contain_text([station])
        expect(told).to_contain_text(sentence)
        page.clock.fast_forward(6_000)
    for layer in (2, 3, 4):
        expect(now.locator(".above a")).to_have_text(f"layer {layer + 1}")
        expect(told).to_contain_text("Each further layer")
        page.clock.fast_forward(1_000)
    expect(told).to_contain_text("one vector for each token")
    page.clock.fast_forward(6_000)
    expect(now.locator("h3")).to_contain_text(["Results"])
    page.get_by_role("button", name="Stop").click()
    expect(now).to_have_count(0)
    expect(told).to_be_empty()
    context.close()


# The walk's next step waits in `steps`, so that a slow machine does not miss it.
STEPS = """window.steps = [];
const { setTimeout: later, clearTimeout: never } = window;
window.setTimeout = (act, ...more) =>
    act.name === "show" && more[0] === 1000 ? -steps.push(() => act(...more.slice(1))) : later(act, ...more);
window.clearTimeout = (id) => (id < 0 ? (steps.length = 0) : never(id));"""


def test_a_first_visit_is_shown_the_ways_of_some_words(page: Page, app_url: str) -> None:
    lit = page.locator(f"{TOKENS}.lit")
    page.add_init_script(STEPS)
    page.goto(app_url)
    expect(page.locator(TOKENS)).to_have_count(18)
    expect(lit).to_contain_text("money")
    page.wait_for_function("steps.length")
    for word in ("##app", "her", "bank", "river"):
        page.evaluate("steps.shift()()")
        expect(lit).to_contain_text(word)
    page.keyboard.press("Shift")  # whatever the reader does ends it
    expect(lit).to_contain_text("money")
    assert page.evaluate("steps.length") == 0
    page.goto(app_url)  # a second visit is shown none: it would begin as the chosen token is marked
    expect(page.locator(TOKENS)).to_have_count(18)
    expect(lit).to_contain_text("money")
    assert page.evaluate("steps.length") == 0


def test_another_sentence_is_drawn_as_it_is_typed(open_lesson: Open) -> None:
    page = open_lesson("overview", text="A short one.")
    expect(page.locator(TOKENS)).to_have_count(6)
    page.locator("#bar-text textarea").fill("<b>Bold</b> & <script>alert(1)</script>")
    expect(page.locator(TOKENS).nth(1)).to_contain_text("<")
    page.locator("#bar-text textarea").fill("word " * 100)
    expect(page.locator(TOKENS)).to_have_count(48)
    page.locator("#bar-text textarea").fill("")
    expect(page.locator(TOKENS)).to_have_count(2)
    expect(page.locator(GUESSED)).to_contain_text("no word to mask")


# All at one moment, since the page still moves while its figures are drawn for the new width.
UNDER_ONE_ANOTHER = """() => {
    const [pieces, inputs, layers] = ["pieces", "inputs", "layers"]
        .map((name) => document.querySelector(`#overview-picture .${name}`).getBoundingClientRect());
    return pieces.height && inputs.height && pieces.bottom <= inputs.top && inputs.bottom <= layers.top;
}"""


def test_on_a_phone_the_stations_stand_under_one_another(open_lesson: Open) -> None:
    page = open_lesson("overview")
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(UNDER_ONE_ANOTHER)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
