"""What the browser asks of the server while a reader turns pages: nothing that is hidden, and nothing it can do itself.

That each lesson and part asks for its drawings once is part of tests/browser/test_views.py, which opens them all.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.events import Asked, twice


def test_coming_back_draws_what_has_changed_and_no_other_lesson(
    open_lesson: Callable[..., Page], turn_to: Callable[..., None], page: Page
) -> None:
    asked = Asked(page)
    open_lesson("encoder", part="position", text="The bank by the river.", token=2, layer=3, length=40)
    opened = asked.since_last()
    assert twice(opened) == []
    assert len({number for number, _ in opened}) == len(opened)  # nor with other inputs: the link's choices at once
    assert any("40" in inputs for _, inputs in opened)
    encoder = {number for number, _ in opened}

    turn_to(page, "tokens")
    expect(page.locator("#tokens-picture")).to_contain_text("bank")
    tokens = asked.since_last(at_least=1)
    assert not {number for number, _ in tokens} & encoder
    page.locator("#bar-text textarea").fill("Something else.")
    expect(page.locator("#tokens-picture")).to_contain_text("else")
    typed = asked.since_last()
    assert twice(typed) == []
    assert {number for number, _ in typed} == {number for number, _ in tokens}

    turn_to(page, "encoder")
    expect(page.locator("#encoder-token")).to_contain_text("else")
    again = asked.since_last()
    assert twice(again) == []
    assert {number for number, _ in again} == encoder
    assert all("Something else." in inputs for _, inputs in again)


def test_a_fold_that_is_shut_asks_nothing(open_lesson: Callable[..., Page], page: Page) -> None:
    """The vocabulary follows the model in use while it is looked at, and not behind its fold."""
    asked = Asked(page)
    open_lesson("tokens", text="The bank by the river.")
    asked.since_last()
    # a model with no files here: nothing is drawn, but what is asked for it can be seen
    use = """key => {
        const box = document.querySelector('#bar-in-use :is(textarea, input)');
        box.value = key;
        box.dispatchEvent(new Event('input', { bubbles: true }));
    }"""
    page.evaluate(use, "tiny")
    behind = asked.since_last(at_least=1)
    page.evaluate(use, "minilm")
    asked.since_last()

    fold = page.locator("#tokens-vocabulary > button")
    fold.click()
    expect(page.locator("#tokens-found .found")).to_contain_text("entries")
    ((vocabulary, _),) = asked.since_last(at_least=1)

    def times() -> int:
        return [number for number, _ in asked.since_last()].count(vocabulary)

    assert vocabulary not in [number for number, _ in behind]
    page.evaluate(use, "tiny")
    assert times() == 1
    fold.click()
    page.evaluate(use, "minilm")
    assert times() == 0
    fold.click()
    assert times() == 1


def test_a_lessons_folds_are_drawn_while_they_are_open(open_lesson: Callable[..., Page], page: Page) -> None:
    asked = Asked(page)
    open_lesson("tokens", text="The bank by the river.")
    assert len(asked.since_last(at_least=1)) == 1  # the chips
    fold = page.locator("#tokens-trace > button")
    fold.click()
    expect(page.locator("#tokens-steps")).to_contain_text("the is in the vocabulary")
    assert len(asked.since_last(at_least=1)) == 1
    page.locator("#bar-text textarea").fill("Unflappable.")
    expect(page.locator("#tokens-steps")).to_contain_text("##fl")
    assert len(asked.since_last(at_least=2)) == 2
    fold.click()
    page.locator("#bar-text textarea").fill("Unsinkable.")
    assert len(asked.since_last(at_least=1)) == 1
    fold.click()
    expect(page.locator("#tokens-steps")).to_contain_text("##sin")
    assert len(asked.since_last(at_least=1)) == 1
    fold.click()
    fold.click()
    assert asked.since_last() == []  # it stands there already


def test_what_needs_no_model_needs_no_server(open_lesson: Callable[..., Page], page: Page) -> None:
    """A sentence that is copied, a list that is put in, a result that is forgotten: done in the browser."""
    asked = Asked(page)
    open_lesson("attention", part="compare", text="The bank by the river.", compare_text="x", compare_controls="true")
    asked.since_last()
    page.get_by_role("button", name="Copy the first sentence").click()
    expect(page.locator("#compare-text textarea")).to_have_value("The bank by the river.")
    assert all(len(json.loads(inputs)) > 3 for _, inputs in asked.since_last())  # the drawings, and no copying
    page.locator("#attention-ablation-button").click()
    asked.since_last()
    page.locator("#bar-text textarea").fill("The bank by the lake.")
    behind = asked.since_last(at_least=1)
    assert len(behind) == 1, behind  # grid, effects and leanings; the board that is emptied is no second


def test_another_sentence_asks_nothing_of_what_reads_none(
    open_lesson: Callable[..., Page], turn_to: Callable[..., None], page: Page, subtests: pytest.Subtests
) -> None:
    bar = page.locator("#bar-text textarea")
    asked = Asked(page)
    with subtests.test("a part that reads no sentence"):
        open_lesson("finetune", part="published", text="The bank by the river.")
        asked.since_last(at_least=1)
        bar.fill("Something else.")
        assert asked.since_last() == []
        page.locator("#published-board label").last.click()
        assert len(asked.since_last(at_least=1)) == 1
    with subtests.test("a box that is read instead, until it is empty"):
        open_lesson("pretraining", part="spans", text="The bank by the river.")
        assert len(asked.since_last(at_least=1)) == 1
        bar.fill("Something else. It is short.")
        assert asked.since_last() == []
        page.locator("#spans-text textarea").fill("")
        expect(page.locator("#spans-rows .piece").first).to_have_text("Something else.")
        bar.fill("Nothing else. It is short.")
        expect(page.locator("#spans-rows .piece").first).to_have_text("Nothing else.")
        assert len(asked.since_last(at_least=2)) == 2
