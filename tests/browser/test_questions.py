"""Questions before the picture, in Chromium: answered, waived, switched on, carried by a link, asked anew."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.events import Asked
from tests.browser.faults import serious_faults

Open = Callable[..., Page]
CARD, FACTS, PRESS = ".question", ".question .facts", "button.predict"
SEEN = "node => node.checkVisibility({ visibilityProperty: true })"


@pytest.fixture
def asked(page: Page) -> Asked:
    return Asked(page)


def test_a_question_is_answered_with_the_keyboard_and_asked_anew(open_lesson: Open, asked: Asked) -> None:
    page = open_lesson("tokens", text='Unflappable <img src=x onerror="alert(1)"> ${alert(1)}')
    chip = page.locator("#tokens-picture .chip").first
    expect(chip).to_be_visible()
    asked.since_last()
    expect(page.locator(CARD)).to_have_count(0)  # off, as long as nobody asks for it
    page.locator(PRESS).press("Enter")
    expect(page.locator(CARD)).to_be_focused()
    assert chip.evaluate(SEEN) is False
    assert serious_faults(page, [], CARD) == {}
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Its letters, one by one")).to_be_checked()
    assert asked.since_last() == []  # to open a card costs nothing
    page.keyboard.press("Enter")
    expect(page.locator(FACTS)).to_contain_text("replaced by [UNK]")
    expect(page.locator(".question .verdict")).to_contain_text("Not correct")
    expect(chip).to_be_visible()
    assert len(asked.since_last(at_least=1)) == 1
    assert serious_faults(page, [], CARD) == {}
    expect(page.locator(".predicted li")).to_contain_text("Its letters, one by one (not correct")

    page.locator("#bar-text textarea").fill("Another sentence.")
    expect(page.locator(CARD)).to_have_count(0)
    expect(chip).to_be_visible()
    page.locator(PRESS).click()
    page.get_by_label("Shorter pieces").check()
    page.get_by_role("button", name="Check").click()
    expect(page.locator(FACTS)).to_contain_text("Your input has 3 words, 0 of them cut")
    expect(page.locator(".question.right .verdict")).to_be_visible()
    page.get_by_role("button", name="Close the question").click()
    expect(page.locator(CARD)).to_have_count(0)
    page.locator(".predicted summary").click()
    page.get_by_role("button", name="Forget it").click()
    expect(page.locator(".predicted")).to_be_hidden()


def test_the_switch_covers_each_part_and_the_link_carries_it(open_lesson: Open) -> None:
    page = open_lesson("encoder", part="size")
    switch = page.get_by_role("button", name="Questions")
    switch.click()
    expect(page.locator("#encoder-size .question legend")).to_contain_text("adds no parameters")
    assert "questions=1" in page.url
    page.reload()
    expect(page.locator("#encoder-size .question legend")).to_contain_text("adds no parameters")
    page.get_by_role("button", name="without an answer").click()
    expect(page.locator(FACTS)).to_contain_text("22,713,216 parameters")
    expect(page.locator(".predicted li")).to_contain_text("Size: not answered")

    page.locator("#encoder-self_attention-button").click()
    card = page.locator("#encoder-self_attention .question")
    card.get_by_label("its query and its key come from two matrices").check()
    card.get_by_role("button", name="Check").click()
    expect(card.locator(".facts")).to_contain_text("Over all 72 heads")
    page.locator("#lesson-attention-link").click()
    page.get_by_label("In the first third of the layers").check()
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".question.right .facts")).to_contain_text("it is layer 1, head 3")

    page.locator("#attention-rollout-button").click()
    covered = page.locator("#attention-rollout .question")
    covered.locator(".tokens label", has_text="[SEP]").click()
    covered.get_by_role("button", name="Check").click()
    expect(covered.locator(".facts")).to_contain_text("of its weight to this one")
    page.locator("#attention-ablation-button").click()
    covered = page.locator("#attention-ablation .question")
    expect(covered).to_be_visible()
    switch.click()
    expect(covered).to_have_count(0)
    page.locator("#attention-rollout-button").click()
    expect(page.locator("#rollout-heatmap .main-svg").first).to_be_visible()
    assert "questions=" not in page.url


@pytest.mark.parametrize(
    ("form", "kept"),
    [
        ("questions-1", "null"),
        ("questions-1", "{"),
        (
            "questions-1",
            '{"version": 1, "questions": [{"of": 1}, null, {"of": "tokens", "box": 1, "on": "2", "right": 1}]}',
        ),
        ("predictions", "[[1]]"),
        ("predictions", '[{"of": "tokens/", "said": "<b>x</b>", "right": true}]'),  # of a version before this one
    ],
)
def test_what_the_browser_has_kept_is_not_trusted(open_lesson: Open, page: Page, form: str, kept: str) -> None:
    page.add_init_script(f"localStorage.setItem('inside-bert-{form}', {kept!r})")
    open_lesson("tokens", questions=1)
    expect(page.locator("#lesson-tokens > .column .question, #lesson-tokens > .question").first).to_be_visible()
    expect(page.locator(".predicted b:not(:first-child)")).to_have_count(0)
    expect(page.locator(".predicted li")).to_have_count(1 if "<b>" in kept else 0)
