"""The finder in real Chromium: every row of the lectures finds its view; rows open what they say, by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs

import pytest
from playwright.sync_api import Locator, Page, expect

from demos.lessons import discover
from tests.browser.faults import serious_faults
from tests.lectures import slides

SEEN_AT_ONCE = 5  # rows
TEXT = "The old miller counted his sacks."
FIRST = {lesson.slug: lesson.parts[0].slug if lesson.parts else "" for lesson in discover()}
# The index can't be had. (A route of Playwright's would have the browser load all files without its cache.)
NO_INDEX = """() => {
    window.given = window.fetch;
    window.fetch = (what, ...more) =>
        String(what?.url ?? what).includes("finder.json") ? Promise.reject(new TypeError()) : given(what, ...more);
}"""
FOUND = [  # what is typed, and the kind and title of the first row
    ("layer norm", "Part · Inside the encoder", "Batch norm or layer norm"),
    ("Jim Henson", "Tour", "A label for each word"),
    ("softmax", "Term · Glossary", "softmax"),
    ("SOFTM", "Term · Glossary", "softmax"),  # its end is still to be typed
    ("nurse doctor tired", "", "nurse"),
    ("my own model in the menu", "Part · Fine-tune", "Your runs"),
    ("integrated gradients, leave-one-out compared", "Part · Fine-tune", "What was learned"),
    ("find more like this", "Part · Embeddings", "Search"),
    ("--model-folder", "Help", "A model from a folder"),
    ("--frame", "Help", "Embed this view"),
    ("--mcp", "Help", "tools of an assistant"),
    ("room download after the lecture", "Help", "A room for a class"),
    ("full screen F", "Help", "Full screen for one picture"),
]
Open = Callable[..., Page]


@pytest.fixture
def finder(page: Page) -> Iterator[Locator]:
    yield page.locator("#finder")
    expect(page.locator("#finder[open]")).to_have_count(0)  # a row was opened, or it was shut


def rows(finder: Locator) -> Locator:
    return finder.get_by_role("option")


def test_what_each_slide_shows_and_a_few_words_find(
    open_lesson: Open, finder: Locator, subtests: pytest.Subtests
) -> None:
    page = open_lesson("tokens", text=TEXT)
    with subtests.test("no index"):
        where_no_index_comes_it_is_one_sentence(page, finder)
    with subtests.test("slides"):
        each_slides_view_is_among_the_first_five(page)
    for text, kind, title in FOUND:
        with subtests.test(text):
            page.keyboard.press("Control+k")
            finder.get_by_role("combobox").fill("")
            page.keyboard.type(text)
            expect(rows(finder).first).to_contain_text(kind)
            expect(rows(finder).first.locator("b")).to_contain_text(title)
            page.keyboard.press("Escape")
    with subtests.test("nothing"):
        what_has_no_match_is_one_sentence(page, finder)


def where_no_index_comes_it_is_one_sentence(page: Page, finder: Locator) -> None:
    page.evaluate(NO_INDEX)
    page.locator("#finder-button").click()
    expect(finder).to_contain_text("The index could not be fetched. Open the finder once more to try again.")
    finder.get_by_role("button", name="Close").click()
    page.evaluate("window.fetch = window.given")
    page.locator("#finder-button").click()
    expect(rows(finder).first).to_be_visible()
    page.keyboard.press("Escape")


def each_slides_view_is_among_the_first_five(page: Page) -> None:
    views = [slide for slide in slides() if slide.view]
    found = page.evaluate(
        """(texts) => Promise.all(texts.map(async (text) =>
            (await insideBert.finder.find(text)).map(({ lesson, part }) => [lesson, part])))""",
        [slide.what for slide in views],
    )
    missed = []
    for slide, places in zip(views, found, strict=True):
        part = parse_qs(slide.query).get("part", [FIRST[slide.lesson]])[0]
        if [slide.lesson, part] not in places[:SEEN_AT_ONCE]:
            missed.append((slide.key, slide.what, places[:SEEN_AT_ONCE]))
    assert missed == []
    assert len(views) >= 190


def what_has_no_match_is_one_sentence(page: Page, finder: Locator) -> None:
    page.keyboard.press("Control+k")
    finder.get_by_role("combobox").fill("qqqq")
    expect(finder).to_contain_text("Nothing contains these words. Try fewer or different words.")
    finder.get_by_role("combobox").fill("<img src=x onerror=alert(1)> zzzz")
    expect(finder.locator("img")).to_have_count(0)
    page.keyboard.press("Escape")


def test_it_is_opened_moved_and_left_by_keyboard_alone(open_lesson: Open, finder: Locator) -> None:
    page = open_lesson("encoder", text=TEXT, part="block")
    box = page.locator("#bar-text textarea")
    box.focus()
    page.keyboard.press("/")
    expect(box).to_have_value(f"{TEXT}/")  # in a field it is a letter
    page.keyboard.press("Backspace")
    page.keyboard.press("Control+k")
    field = finder.get_by_role("combobox")
    expect(field).to_be_focused()
    parts = sum(max(1, len(lesson.parts)) for lesson in discover())
    expect(rows(finder)).to_have_count(parts)  # before anything is typed, all that there is
    assert not serious_faults(page, [], "#finder")
    page.keyboard.type("layer norm")
    expect(rows(finder).first).to_contain_text("Batch norm or layer norm")
    page.keyboard.press("ArrowDown")
    expect(rows(finder).nth(1)).to_have_attribute("aria-selected", "true")
    expect(field).to_have_attribute("aria-activedescendant", "finder-1")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")  # a part of this page: the page stays
    expect(page.locator("#encoder-norms-button")).to_have_attribute("aria-selected", "true")
    expect(box).to_have_value(TEXT)

    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(finder).to_be_hidden()
    page.locator("#lessons").click(position={"x": 2, "y": 2})
    page.keyboard.press("/")
    expect(field).to_be_focused()
    expect(field).to_have_value("layer norm")  # selected: the next letter replaces it
    page.keyboard.type("maps")
    expect(rows(finder).first).to_contain_text("Maps")
    page.keyboard.press("Enter")  # of another lesson: its page opens with the same sentence
    page.wait_for_url(re.compile(r"/embeddings\?.*part=maps"))
    assert parse_qs(page.url.partition("?")[2])["text"] == [TEXT]


def test_a_question_a_term_a_stop_and_a_room_open(open_lesson: Open, finder: Locator) -> None:
    page = open_lesson("pretraining", text=TEXT, part="fill_mask")

    def find(text: str, kind: str) -> None:
        page.keyboard.press("Control+k")
        finder.get_by_role("combobox").fill(text)
        expect(rows(finder).first).to_contain_text(kind)

    find("nurse doctor tired", "Question")
    page.keyboard.press("Enter")
    expect(page.locator("#pretraining-two_words .question")).to_contain_text("The nurse said")

    find("softmax", "Term")
    with page.expect_popup() as opened:
        page.keyboard.press("Enter")
    expect(opened.value.locator("#softmax dt")).to_have_text("softmax")
    assert opened.value.url.endswith("/glossary#softmax")
    opened.value.close()

    find("room download after the lecture", "Help")
    page.keyboard.press("Enter")
    expect(page.locator("#room-heading")).to_be_focused()
    page.keyboard.press("Escape")

    find("Jim Henson", "Tour")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("tour=.*stop="))
    expect(page.locator("#tour h2")).to_have_text("A label for each word")
