"""What lies in a shut fold is asked when the fold is opened, and only then."""

from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.events import Asked

Open = Callable[..., Page]
NUMBERS, CODE = "#attention-rollout-numbers", "#attention-rollout-code"


def test_a_shut_fold_is_drawn_when_it_is_opened_and_follows_the_sentence_while_it_is_open(
    open_lesson: Open, page: Page
) -> None:
    asked = Asked(page)
    open_lesson("attention", part="rollout", text="A quiet bank.")
    bar = page.locator("#bar-text textarea")

    def handlers() -> list[str]:
        """The handlers that were asked since the last call: in an event, the first value names them."""
        return [name for _, data in asked.since_last() for name in json.loads(data)[0].split(",")]

    (picture,) = handlers()
    expect(page.locator(f"{NUMBERS} table")).to_have_count(0)

    page.locator(f"{NUMBERS} > .label-wrap").click()
    expect(page.locator(f"{NUMBERS} table")).to_contain_text("quiet")
    (numbers,) = handlers()
    assert numbers != picture

    bar.fill("A noisy bank.")
    expect(page.locator(f"{NUMBERS} table")).to_contain_text("noisy")
    assert handlers() == [picture, numbers], "both in one event"

    page.locator(f"{NUMBERS} > .label-wrap").click()
    bar.fill("A sandy bank.")
    assert handlers() == [picture]

    page.locator(f"{CODE} > .label-wrap").click()
    expect(page.locator(f"{CODE} .cm-content")).to_contain_text("A sandy bank.")
    (program,) = handlers()
    assert program not in (picture, numbers)
    page.locator(f"{CODE} > .label-wrap").click()
    page.locator(f"{CODE} > .label-wrap").click()
    assert handlers() == [], "it is there already"

    page.locator(f"{NUMBERS} > .label-wrap").click()
    expect(page.locator(f"{NUMBERS} table")).to_contain_text("sandy")
    assert handlers() == [numbers]


AT_ONCE = """([box, said]) => new MutationObserver((_, observer) => {
    const field = document.querySelector(box);
    if (!field) return;
    observer.disconnect();
    field.value = said;
    field.dispatchEvent(new Event("input", { bubbles: true }));
}).observe(document.body, { childList: true, subtree: true })"""


def test_what_is_typed_in_the_first_moment_of_a_fold_or_a_part_stays(open_lesson: Open, page: Page) -> None:
    """Gradio gives a control that comes into sight its value twice, the second time a frame later or more."""
    asked = Asked(page)
    for lesson, press, box in (
        ("tokens", "#tokens-batch > .label-wrap", "#tokens-lines textarea"),
        ("pretraining", "#pretraining-learn-button", "#pretraining-learn-text textarea"),
    ):
        open_lesson(lesson)
        asked.since_last()
        page.evaluate(AT_ONCE, [box, "A line of my own."])
        page.locator(press).click()
        asked.since_last()
        expect(page.locator(box)).to_have_value("A line of my own.")
        if lesson == "tokens":
            expect(page.locator("#tokens-padded table")).to_contain_text("own")
