"""A guided tour in Chromium: begun from the first page, turned by keys and buttons, left and come back to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from demos.page.tours.tour_file import BUNDLED, read_tour
from tests.browser.faults import serious_faults
from tests.browser.screens import looks_at_rest

TITLE = "#tour h2"
FINE_TUNING = "lecture-fine-tuning"
Open = Callable[..., Page]


def stop_of(tour: str, title: str) -> str:
    """The number, as a link has it, of a bundled tour's stop with this title."""
    titles = [stop.title for stop in read_tour(BUNDLED / f"{tour}.md").stops]
    return str(titles.index(title) + 1)


@pytest.mark.quick
def test_a_tour_leads_through_the_lessons(open_lesson: Open) -> None:
    page = open_lesson("overview")
    page.locator("[data-tours] a").first.click()
    expect(page.locator(TITLE)).to_have_text("The whole way")
    expect(page.locator(TITLE)).to_be_focused()
    expect(page.locator("#overview-picture.toured")).to_be_visible()
    page.keyboard.press("PageDown")  # as a presenter's clicker sends it
    expect(page.locator(TITLE)).to_have_text("Words become pieces")
    expect(page.locator("#tokens-picture.toured .chip").first).to_be_visible()
    assert serious_faults(page, [], "#tour") == {}
    page.locator("#bar-text textarea").fill("Arrow keys move in a text")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(TITLE)).to_have_text("Words become pieces")
    page.get_by_role("link", name="Next").click()
    expect(page.locator(TITLE)).to_have_text("Pieces become vectors")
    expect(page.locator("#bar-text textarea")).to_have_value("Arrow keys move in a text")  # the reader's own sentence
    expect(page.locator("#encoder-input-sum.toured")).to_be_visible()
    the_reader_wanders_off_and_comes_back(page)
    page.keyboard.press("Escape")
    expect(page.locator("#tour")).to_have_count(0)
    assert "tour=" not in page.url
    page.keyboard.press("PageDown")
    expect(page.locator("#lesson-encoder")).to_be_visible()


def the_reader_wanders_off_and_comes_back(page: Page) -> None:
    page.locator("#encoder-size-button").click()
    page.wait_for_function("new URLSearchParams(location.search).get('part') === 'size'")
    assert "stop=3" in page.url
    page.locator("#lesson-tokens-link").click()
    expect(page.locator("#tokens-picture .chip").first).to_be_visible()
    expect(page.locator(TITLE)).to_have_text("Pieces become vectors")
    page.locator("#tour .again").click()
    expect(page.locator("#encoder-input-sum.toured")).to_be_visible()


def test_a_stop_asks_its_parts_question(open_lesson: Open) -> None:
    """In the order of “Exercise 1: which dimensions?” and the stop after it, which asks none."""
    page = open_lesson(
        "embeddings", part="pooling", tour=FINE_TUNING, stop=stop_of(FINE_TUNING, "Exercise 1: which dimensions?")
    )
    card, picture = page.locator("#embeddings-pooling .question"), page.locator("#embeddings-pooling-count")
    expect(card).to_be_visible()
    expect(page.locator(TITLE)).to_be_focused()
    expect(picture).to_have_css("visibility", "hidden")
    assert "questions=" not in page.url
    card.get_by_label("768, and 20", exact=False).check()
    page.keyboard.press("Enter")
    expect(card.locator(".facts")).to_contain_text("the last layer")
    expect(page.locator("#embeddings-pooling-count.toured")).to_be_visible()
    page.keyboard.press("Escape")  # closes the answer, and does not end the tour
    expect(card).to_have_count(0)
    expect(picture).to_be_in_viewport()
    page.keyboard.press("PageDown")
    expect(page.locator(TITLE)).to_have_text("The share of each token")
    expect(page.locator("#embeddings-pooling-b-tokens.toured")).to_be_visible()
    expect(card).to_have_count(0)


def test_a_fold_that_a_stop_speaks_of_is_opened(open_lesson: Open) -> None:
    tour = "lecture-attention-to-classification"
    page = open_lesson("tokens", tour=tour, stop=stop_of(tour, "Padding"), lines="one\nand two")
    expect(page.locator("#tokens-batch.toured")).to_contain_text("[PAD]")


def test_the_next_stop_opens_the_fold_that_its_view_names(open_lesson: Open) -> None:
    tour = "lecture-transformers-and-bert"
    page = open_lesson("encoder", part="self_attention", tour=tour, stop=stop_of(tour, "From relevance to output"))
    expect(page.locator("#encoder-board.toured")).to_be_visible()
    page.keyboard.press("ArrowRight")
    code = page.locator("#encoder-self_attention-code.toured")
    expect(code).to_contain_text("for i in range(len(q))")
    expect(code).to_be_in_viewport()


def test_questions_in_the_link_last_to_the_next_stop(open_lesson: Open) -> None:
    page = open_lesson("overview", tour="ten-minutes", stop="1", questions="1")
    expect(page.locator(".question")).to_be_visible()
    page.locator(".question").focus()
    page.keyboard.press("PageDown")  # a presenter's clicker turns the page wherever the focus is
    expect(page.locator(TITLE)).to_have_text("Words become pieces")
    expect(page.locator("#lesson-tokens .question")).to_be_visible()


def test_an_unknown_tour_or_stop_is_no_harm(open_lesson: Open) -> None:
    page = open_lesson("tokens", tour="constructor", stop="1")
    expect(page.locator("#tokens-picture .chip").first).to_be_visible()
    expect(page.locator("#tour")).to_have_count(0)
    page = open_lesson("tokens", tour="ten-minutes", stop="99")
    expect(page.locator(TITLE)).to_have_text("Learning a new task")


def test_presenter_mode_shows_the_stage_alone_and_its_notes_follow(open_lesson: Open) -> None:
    page = open_lesson("overview")
    page.set_viewport_size({"width": 1920, "height": 1080})
    stop = stop_of(FINE_TUNING, "Exercise 1: how many tokens?")
    page.goto(page.url.split("?")[0] + f"encoder?part=block&token=2&tour={FINE_TUNING}&stop={stop}&present=1")
    expect(page.locator(TITLE)).to_have_text("Exercise 1: how many tokens?")
    expect(page.locator("#encoder-block-picture .cells, #encoder-block-picture table").first).to_be_visible()
    expect(page.locator("#bar-text")).to_be_hidden()
    for width, height in ((390, 844), (1920, 1080)):  # the bar's room is the stage's
        page.set_viewport_size({"width": width, "height": height})
        assert page.locator("#lesson-encoder h2").bounding_box()["y"] < 30  # type: ignore[index]
    assert looks_at_rest(page, 21.6) == []  # a fiftieth of the height
    a_phone_keeps_its_stage(page)
    page.mouse.move(700, 500)
    for seen in ("#bar-text", "#lesson-links", "#presenter"):
        expect(page.locator(seen)).to_be_visible()
    assert serious_faults(page, [], "#presenter") == {}
    page.mouse.move(710, 510)
    with page.expect_popup() as popup:
        page.get_by_role("button", name="Speaker notes").click()
    notes = popup.value
    expect(notes.locator("#notes")).to_contain_text("18 × 768 = 13,824")
    page.keyboard.press("PageDown")
    expect(notes.locator("#title")).to_have_text("Exercise 1: which dimensions?")
    expect(page.locator("#bar-text")).to_be_hidden()  # presenter mode goes on at the next stop
    notes.keyboard.press("PageUp")
    expect(page.locator(TITLE)).to_have_text("Exercise 1: how many tokens?")
    page.keyboard.press("b")
    expect(page.locator("#blank")).to_be_visible()
    page.keyboard.press(".")  # as another clicker sends it
    expect(page.locator("#blank")).to_be_hidden()
    the_letters_can_be_switched_off(page)


def a_phone_keeps_its_stage(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.mouse.move(200, 400)
    expect(page.locator("#presenter")).to_be_visible()
    expect(page.locator("#lesson-links")).to_be_hidden()
    boxes = [page.locator(f"#{name}").bounding_box() for name in ("bar", "presenter")]
    assert 0 < sum(box["height"] for box in boxes if box) < 844 / 4
    page.set_viewport_size({"width": 1920, "height": 1080})


def the_letters_can_be_switched_off(page: Page) -> None:
    page.mouse.move(600, 400)
    page.get_by_role("button", name="Keys P, B and F").click()
    page.keyboard.press("b")
    expect(page.locator("#blank")).to_be_hidden()
    page.mouse.move(500, 400)
    page.get_by_role("button", name="End presenter mode").click()
    expect(page.locator("#bar-text")).to_be_visible()
    assert "present=" not in page.url
    page.keyboard.press("p")
    expect(page.locator("#bar-text")).to_be_visible()


def test_a_letter_in_a_text_is_a_letter(open_lesson: Open) -> None:
    page = open_lesson("tokens")
    page.locator("#bar-text textarea").press("p")
    expect(page.locator("#bar-text")).to_be_visible()
    page.locator(".lesson-heading h2").click()
    page.keyboard.press("p")
    expect(page.locator("#bar-text")).to_be_hidden()


COMPOSED = """(element, [key, isComposing]) =>
    element.dispatchEvent(new KeyboardEvent("keydown", { key, isComposing, bubbles: true, cancelable: true }))"""


def test_keys_of_composed_text_are_no_commands(open_lesson: Open) -> None:
    """P, B, arrows and Escape as an input method sends them, in the bar, in the room's boxes and beside them."""
    page = open_lesson("tokens")
    page.goto(page.url.split("?")[0] + f"?tour={FINE_TUNING}&stop=2")
    expect(page.locator(TITLE)).to_be_visible()
    stop, bar = page.url, page.locator("#bar-text textarea")
    bar.click()
    for place in (bar, page.locator("body")):
        for key in ("p", "b", "s", "ArrowRight", "ArrowLeft", "PageDown", "Escape"):
            place.evaluate(COMPOSED, [key, True])
    expect(bar).to_be_focused()
    expect(page.locator(TITLE)).to_be_visible()
    assert parse_qs(urlsplit(page.url).query)["stop"] == parse_qs(urlsplit(stop).query)["stop"]
    assert "present=" not in page.url
    page.locator("#room-button").click()
    box = page.locator("#room input").first
    box.focus()
    box.evaluate(COMPOSED, ["Escape", True])
    expect(page.locator("#room")).to_be_visible()
    box.evaluate(COMPOSED, ["Escape", False])
    expect(page.locator("#room")).to_be_hidden()
    bar.evaluate(COMPOSED, ["Escape", False])
    page.locator("body").evaluate(COMPOSED, ["p", False])
    page.wait_for_url("**present=1**")


def test_a_readers_own_tour_is_written_kept_handed_on_and_read(open_lesson: Open, tmp_path: Path) -> None:
    page = open_lesson("overview")
    page.get_by_text("more tours").click()
    page.get_by_role("button", name="Write your own tour").click()
    page.get_by_label("Title").fill("My <i>tour")
    add = page.get_by_role("button", name="Add this view as a stop")
    add.click()
    page.locator("#lesson-tokens-link").click()
    expect(page.locator("#tokens-picture .chip").first).to_be_visible()
    add.click()  # the editor is open on the next page too
    second = page.locator("#own-tour li").nth(1)
    second.get_by_label("Heading").fill("Pieces")
    second.get_by_label("Text").fill("See **this**.\n## no stop")
    second.get_by_label("Ask this part's question").check()
    second.get_by_role("button", name="Up").click()
    expect(page.locator("#own-tour li").first.get_by_label("Heading")).to_have_value("Pieces")
    assert serious_faults(page, [], "#own-tour") == {}
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    download.value.save_as(tmp_path / "mine.md")
    tour = read_tour(tmp_path / "mine.md")
    assert (tour.title, [stop.title for stop in tour.stops]) == (
        "My <i>tour",
        ["Pieces", "What happens to a sentence in BERT?"],
    )
    assert tour.stops[0].light == "tokens-picture"
    assert [stop.asks for stop in tour.stops] == [True, False]
    a_bad_file_is_told_with_its_line(page, tmp_path)
    page.locator("#own-tour li").nth(1).get_by_role("button", name="Remove").click()
    page.locator("#own-tour [data-file]").set_input_files(tmp_path / "mine.md")
    expect(page.locator("#own-tour li")).to_have_count(2)
    page.get_by_role("button", name="Start the tour").click()
    expect(page.locator(TITLE)).to_have_text("Pieces")
    expect(page.locator("#lesson-tokens .question")).to_be_visible()
    expect(page.locator("#tour .said strong")).to_have_text("this")
    expect(page.locator("#tour .said")).to_contain_text("## no stop")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#overview-picture.toured")).to_be_visible()


def test_a_tour_that_is_started_while_its_file_is_read_is_that_files(open_lesson: Open, tmp_path: Path) -> None:
    file = tmp_path / "mine.md"
    file.write_text("---\ntitle: Mine\n---\n## Layers\nview: /encoder\nOne after the other.\n", encoding="utf-8")
    page = open_lesson("tokens")
    page.evaluate("insideBert.ownTour.open()")
    asked: list[Route] = []
    page.route("**/tours/read*", lambda route: asked.append(route), times=1)  # and is not answered yet
    with page.expect_request("**/tours/read*"):
        page.locator("#own-tour [data-file]").set_input_files(file)
    page.get_by_role("button", name="Start the tour").click()
    expect(page.locator("#own-tour [role=status]")).to_be_empty()  # not that the tour has no stop
    asked[0].continue_()
    expect(page.locator(TITLE)).to_have_text("Layers")


def a_bad_file_is_told_with_its_line(page: Page, folder: Path) -> None:
    bad = folder / "bad.md"
    bad.write_text("---\ntitle: Bad\n---\n## <img src=x onerror=alert(1)>\nview: /nowhere\n", encoding="utf-8")
    page.locator("#own-tour [data-file]").set_input_files(bad)
    expect(page.locator("#own-tour [role=status]")).to_contain_text("bad.md, line 4: there is no lesson 'nowhere'")
    expect(page.locator("#own-tour li")).to_have_count(2)  # what was there stays
