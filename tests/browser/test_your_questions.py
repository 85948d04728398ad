"""Your questions in Chromium: the boxes by the calendar, the panel, its file, and a lecturer's link to a set."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from demos.lessons import discover
from demos.page.your_questions.catalogue import offered_questions
from tests.browser.conftest import stands, visit
from tests.browser.faults import serious_faults
from tests.browser.test_room import opened

Open = Callable[..., Page]
BOXES = Path(__file__).parents[2] / "demos" / "page" / "your_questions" / "boxes.js"
STORE = "inside-bert-questions-1"
NASTY = "<img src=x onerror=alert(1)>${alert(1)}"
CARD, PANEL, BUTTON = ".question", "#your-questions", "#lessons .your-questions-button"
SEEN = "node => node.checkVisibility({ visibilityProperty: true })"
# Whether a part's picture was in sight before its question was
FIRST_SEEN = """() => {
    window.firstSeen = "";
    const seen = (node) => node.offsetHeight > 30 && node.checkVisibility({ visibilityProperty: true });
    const look = () => {
        const pictures = document.querySelectorAll("#lessons .picture, #lessons .tabitem > .column > *");
        if (document.querySelector(".question")) window.firstSeen = "question";
        else if ([...pictures].some(seen)) window.firstSeen = "picture";
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""


def first_seen(page: Page) -> str:
    """What came into sight first, "question" or "picture"; waits until a frame of the page has shown either."""
    return str(page.wait_for_function("window.firstSeen").json_value())


def noon(day: str) -> str:
    return f"{day}T12:00:00"


def kept(page: Page) -> dict[str, Any]:
    """The questions that the browser keeps, by name."""
    found = json.loads(page.evaluate(f"localStorage.getItem({STORE!r})") or "{}").get("questions", [])
    return {card["of"]: {name: value for name, value in card.items() if name != "of"} for card in found}


def keep(page: Page, *cards: dict[str, Any]) -> None:
    """Let the browser keep these before the page opens, once."""
    text = json.dumps({"version": 1, "questions": cards})
    page.add_init_script(
        f"if (self === top) localStorage.getItem({STORE!r}) ?? localStorage.setItem({STORE!r}, {text!r})"
    )


def open_panel(page: Page) -> Locator:
    page.locator(BUTTON).press("Enter")
    expect(page.locator(f"{PANEL} h2")).to_be_focused()
    return page.locator(PANEL)


@pytest.fixture
def boxes(page: Page, app_url: str) -> Page:
    """A bare page of the app's address with the boxes alone."""
    page.goto(f"{app_url}/robots.txt")
    page.evaluate(f"window.questions = {json.dumps(offered_questions(discover()))}; window.insideBert = {{}};")
    page.evaluate(BOXES.read_text(encoding="utf-8"))
    return page


@pytest.mark.parametrize(
    ("card", "right", "day", "box", "on", "due"),
    [
        (None, True, "2026-02-28", 1, "2026-02-28", "2026-03-01"),
        (None, False, "2028-02-28", 1, "2028-02-28", "2028-02-29"),
        (None, None, "2026-12-31", 1, "2026-12-31", "2027-01-01"),
        ((1, "2026-03-27"), True, "2026-03-28", 2, "2026-03-28", "2026-04-04"),  # over the change to summer time
        ((2, "2026-03-01"), True, "2026-03-08", 3, "2026-03-08", "2026-04-07"),
        ((3, "2026-01-31"), True, "2026-03-02", 3, "2026-03-02", "2026-04-01"),  # a month is 30 days
        ((2, "2026-03-01"), True, "2026-03-07", 2, "2026-03-01", "2026-03-08"),  # a day early: it stays
        ((1, "2026-03-01"), True, "2026-03-01", 1, "2026-03-01", "2026-03-02"),
        ((3, "2026-03-01"), None, "2026-03-09", 3, "2026-03-01", "2026-03-31"),
        ((3, "2026-03-01"), False, "2026-03-09", 1, "2026-03-09", "2026-03-10"),  # wrong at any time
        ((3, "2026-03-01"), None, "2026-03-31", 1, "2026-03-31", "2026-04-01"),
        ((2, "2026-03-01"), True, "2026-09-01", 3, "2026-09-01", "2026-10-01"),  # long overdue
    ],
)
def test_a_question_moves_from_box_to_box(
    boxes: Page, card: tuple[int, str] | None, right: bool | None, day: str, box: int, on: str, due: str
) -> None:
    before = card and {"box": card[0], "on": card[1]}
    moved = boxes.evaluate("([card, right, day]) => insideBert.boxes.moved(card, right, day)", [before, right, day])
    assert moved == {"box": box, "on": on}
    assert boxes.evaluate("(card) => insideBert.boxes.dueOn(card)", moved) == due


def test_what_is_kept_or_imported_is_looked_through(boxes: Page) -> None:
    """By names that there are, with dates of the past; of two cards of a question the later one counts."""
    boxes.clock.set_fixed_time(noon("2026-03-10"))
    hostile = [
        {"of": "tokens", "box": 2, "on": "2999-01-01", "right": True, "said": "x" * 500},
        {"of": "tokens", "box": 1, "on": "2026-01-01"},
        *(
            {"of": name, "box": 1, "on": "2026-03-01"}
            for name in ("nowhere", "__proto__", "valueOf", ["overview"], None)
        ),
        *({"of": "overview", "box": box, "on": "2026-03-01"} for box in (0, 4, 1.5, "length", None)),
        *({"of": "overview", "box": 1, "on": on} for on in ("2026-13-01", "yesterday", "2026-03-01T00:00", 5, None)),
        {"of": "overview", "box": 1, "on": "2026-03-01", "right": "yes"},
        {"of": "overview", "box": 1, "on": "2026-03-01", "said": {}},
        *(None, 7, "tokens", []),
    ]
    take = "(text) => insideBert.boxes.takeFile(text)"
    assert boxes.evaluate(take, json.dumps({"version": 1, "questions": hostile})) == 1
    card = {"box": 2, "on": "2026-03-10", "right": True, "said": "x" * 120}
    assert kept(boxes) == {"tokens": card}
    older = [{"of": "tokens", "box": 3, "on": "2026-03-09"}, {"of": "encoder/size", "box": 3, "on": "2026-03-09"}]
    assert boxes.evaluate(take, json.dumps({"version": 1, "questions": older})) == 2
    assert kept(boxes) == {"tokens": card, "encoder/size": {"box": 3, "on": "2026-03-09", "said": ""}}
    before = kept(boxes)
    for text in ("", "{", "null", "[]", '{"version": 1}', '{"version": 1, "questions": {}}', '{"version": 2}'):
        assert boxes.evaluate(f"(text) => ({take})(text) ?? 'none'", text) == "none"
    assert kept(boxes) == before
    boxes.evaluate("() => { Storage.prototype.setItem = () => { throw new Error('refused'); }; }")
    assert boxes.evaluate(take, json.dumps({"version": 1, "questions": older})) == -1
    assert kept(boxes) == before


def test_a_question_comes_again_by_keyboard_alone(open_lesson: Open, page: Page, app_url: str) -> None:
    page.clock.set_fixed_time(noon("2026-03-02"))
    open_lesson("encoder", part="size")
    page.get_by_role("button", name="Predict first").press("Enter")
    page.get_by_label("Twice as many heads").check()
    page.keyboard.press("Enter")
    expect(page.locator(f"{CARD}.right dl")).to_contain_text("March 3")
    assert kept(page)["encoder/size"] == {"box": 1, "on": "2026-03-02", "right": True, "said": "Twice as many heads"}

    visit(page, app_url)
    stands(page, "overview")
    expect(page.locator(BUTTON)).to_have_text("Your questions")
    panel = open_panel(page)
    expect(panel).to_contain_text("No question is due today.")
    expect(panel).to_contain_text("Later (1)")
    page.keyboard.press("Escape")
    expect(panel).to_be_hidden()
    expect(page.locator(BUTTON)).to_be_focused()

    page.clock.set_fixed_time(noon("2026-03-03"))
    page.add_init_script(f"({FIRST_SEEN})()")
    page.reload()
    stands(page, "overview")
    expect(page.locator(BUTTON)).to_have_text("Your questions: 1 due")
    panel = open_panel(page)
    assert serious_faults(page, [], PANEL) == {}
    page.keyboard.press("Tab")  # to what closes the panel
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Inside the encoder > Size")).to_be_focused()
    page.keyboard.press("Enter")
    stands(page, "encoder")
    expect(page.locator(f"#encoder-size {CARD}")).to_contain_text("adds no parameters")
    assert first_seen(page) == "question"
    assert page.locator("#encoder-treemap").evaluate(SEEN) is False
    page.get_by_label("Twice as many heads").check()
    page.keyboard.press("Enter")
    expect(page.locator(f"{CARD} dl")).to_contain_text("March 10")
    assert kept(page)["encoder/size"]["box"] == 2

    page.clock.set_fixed_time(noon("2026-03-10"))
    page.reload()
    stands(page, "encoder")
    expect(page.locator("#tour .your-questions-button")).to_have_text("Your questions: 1 due")
    page.get_by_label("Twice the width").check()
    page.keyboard.press("Enter")
    expect(page.locator(f"{CARD}.wrong dl")).to_contain_text("March 11")
    assert kept(page)["encoder/size"] == {"box": 1, "on": "2026-03-10", "right": False, "said": "Twice the width"}
    expect(page.locator("#tour .your-questions-button")).to_have_text("Your questions")


def test_a_part_that_was_seen_comes_again_and_one_that_was_covered_does_not(open_lesson: Open, page: Page) -> None:
    page.clock.install(time=noon("2026-03-02"))
    open_lesson("encoder", part="size")
    expect(page.locator(f"#encoder-size {CARD}")).to_have_count(0)
    assert kept(page) == {}
    page.clock.fast_forward(11_000)
    page.wait_for_function(f"localStorage.getItem({STORE!r})")
    assert list(kept(page)) == ["encoder/size"]
    expect(page.locator(".predicted")).to_be_hidden()  # nothing was predicted
    page.get_by_role("button", name="Questions", exact=True).click()
    page.locator("#encoder-block-button").click()
    expect(page.locator(f"#encoder-block {CARD}")).to_be_visible()
    page.clock.fast_forward(11_000)
    page.wait_for_timeout(500)
    assert list(kept(page)) == ["encoder/size"]


def test_a_question_about_the_sentence_comes_about_another_one(open_lesson: Open, page: Page) -> None:
    cards = [{"of": name, "box": 1, "on": "2026-03-01"} for name in ("attention/heads", "tokens")]
    keep(page, *cards)
    sentences = offered_questions(discover())["sentences"]
    page.clock.set_fixed_time(noon("2026-03-02"))
    open_lesson("overview", text=sentences[0])
    read = """(name) => new URLSearchParams(insideBert.yourQuestions.review.address(name).split("?")[1]).get("text")"""
    assert page.evaluate(read, "tokens") is None
    heads = set()
    for day in range(2, 8):
        page.clock.set_fixed_time(noon(f"2026-03-0{day}"))
        heads.add(page.evaluate(read, "attention/heads"))
    assert heads == set(sentences[1:])  # each in its turn, and never the one in use
    open_panel(page).get_by_role("link", name="Attention > One head").click()
    stands(page, "attention")
    expect(page.locator(f"#attention-heads {CARD}")).to_be_visible()
    assert page.locator("#bar-text textarea").input_value() in sentences[1:]


def test_the_questions_travel_in_a_file(open_lesson: Open, page: Page, tmp_path: Path) -> None:
    keep(page, {"of": "tokens", "box": 2, "on": "2026-03-01", "right": False, "said": NASTY})
    page.clock.set_fixed_time(noon("2026-03-02"))
    open_lesson("overview")
    panel = open_panel(page)
    panel.get_by_text("Export, import, forget").click()
    with page.expect_download() as download:
        panel.get_by_role("button", name="Export to a file").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    before = kept(page)
    assert json.loads(file.read_text(encoding="utf-8"))["questions"] == [{"of": "tokens", **before["tokens"]}]

    said = panel.get_by_role("status")
    broken = tmp_path / "broken.json"
    for content in (b"{", b"\xff\xfe\x00", b"[]", b" " * 200_000):
        broken.write_bytes(content)
        panel.get_by_label("Import a file").set_input_files(broken)
        expect(said).to_have_text("This file holds no exported questions; nothing was changed.")
        assert kept(page) == before
        panel.get_by_role("button", name="Export to a file").focus()
    panel.get_by_role("button", name="Forget all of them").click()
    expect(said).to_have_text("This browser no longer keeps any questions.")
    expect(panel).to_contain_text("There are no questions yet.")
    assert page.evaluate(f"localStorage.getItem({STORE!r})") is None
    panel.get_by_label("Import a file").set_input_files(file)
    expect(said).to_have_text("Questions imported: 1.")
    assert kept(page) == before

    other = page.context.new_page()  # another tab answers meanwhile
    other.goto(page.url)
    stands(other, "overview")
    page.bring_to_front()
    other.evaluate("insideBert.boxes.answered('overview', false, 'x')")
    expect(panel.locator("[data-later] summary")).to_have_text("Later (2)")
    assert set(kept(page)) == {"tokens", "overview"}
    other.close()

    page.keyboard.press("Escape")
    page.locator("#lesson-tokens-link").click()
    stands(page, "tokens")
    page.locator(".predicted summary").click()
    expect(page.locator(".predicted li")).to_contain_text(NASTY)  # as text
    page.get_by_role("button", name="Forget it").click()
    assert set(kept(page)) == {"overview"}


def test_a_lecturer_composes_a_link_and_a_class_opens_it(open_lesson: Open, page: Page, app_url: str) -> None:
    open_lesson("overview")
    panel = open_panel(page)
    panel.get_by_text("A link for a class").click()
    link = panel.get_by_label("Link", exact=True)
    expect(link).to_be_hidden()
    for name in ("Size", "Tokens", "Position"):
        panel.get_by_label(name, exact=True).check()
    panel.get_by_label("Position (3)", exact=True).uncheck()
    expect(link).to_have_value(f"{app_url}/?review=encoder/size,tokens")
    expect(panel.get_by_alt_text("QR code")).to_be_visible()
    assert serious_faults(page, [], PANEL) == {}
    panel.get_by_role("button", name="Copy").click()
    expect(panel.get_by_role("status")).to_contain_text("link")

    page.add_init_script(f"({FIRST_SEEN})()")
    visit(page, f"{app_url}/?review=encoder/size,nowhere/else,tokens,encoder/size")
    stands(page, "encoder")
    expect(page.locator(f"#encoder-size {CARD}")).to_be_visible()
    assert first_seen(page) == "question"
    expect(page.locator("#tour")).to_contain_text("Questions: 1 of 2")
    expect(page.locator("#bar-link")).to_contain_text("Not understood in this link: nowhere/else.")
    page.keyboard.press("ArrowRight")  # the card has the focus until the reader chooses an answer
    stands(page, "tokens")
    expect(page.locator(CARD)).to_contain_text("not in the vocabulary")
    assert first_seen(page) == "question"
    expect(page.locator("#tour")).to_contain_text("Questions: 2 of 2")
    expect(page.locator("#bar-link")).not_to_contain_text("Not understood")
    page.locator("#tour button", has_text="End").click()
    expect(page.locator("#tour")).to_have_count(0)
    assert "review" not in page.url

    visit(page, f"{app_url}/?review=nowhere")
    stands(page, "overview")
    expect(page.locator("#bar-link")).to_contain_text("Not understood in this link: nowhere.")
    expect(page.locator("#tour")).to_have_count(0)


def test_a_room_follows_through_a_set(open_lesson: Open, page: Page, phone: Page, app_url: str) -> None:
    open_lesson("tokens")
    code = opened(page)
    phone.goto(f"{app_url}/?room={code}")
    stands(phone, "tokens")
    page.goto(f"{app_url}/?review=encoder/size,attention/heads")
    for one in (page, phone):
        stands(one, "encoder")
        expect(one.locator(f"#encoder-size {CARD}")).to_be_visible()
    page.locator("#tour a[rel=next]").click()
    for one in (page, phone):
        stands(one, "attention")
        expect(one.locator(f"#attention-heads {CARD}")).to_be_visible()
    assert phone.locator("#bar-text textarea").input_value() == page.locator("#bar-text textarea").input_value()
    phone.locator(f"{CARD} label", has_text="last third").tap()
    phone.get_by_role("button", name="Check").tap()
    expect(phone.locator(f"{CARD}.answered .verdict")).to_be_visible()
    assert "attention/heads" in kept(phone)
    expect(page.locator(f"{CARD}.answered")).to_have_count(0)
