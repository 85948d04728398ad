"""What is too long for the link, in Chromium: said, kept through a reload of this tab, and nobody else's afterwards."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from demos.bert.model.text import MAX_CHARACTERS
from demos.lessons import discover
from demos.page.links import read
from tests.browser.events import unfold

SENTENCE = "#bar-text textarea"
TOLD = "#bar-link p"
NONSENSE = ["", "null", "NaN", "1e400", "true", "[]", "x", "-1", "9999", '"a"', "1.5", "[1]", "01", "__proto__"]
# What the page is told of its lesson's choices
RESTORE = (
    "() => gradio_config.dependencies.map(({ js }) => `${js}`).find((js) => js.includes('insideBert.link.restore('))"
)
# -> for each link the choices as the page reads them, and the link that it writes for these
READ = """({ lesson, offers, queries }) => queries.map((query) => {
    history.replaceState(null, "", `?${query}`);
    insideBert.link.restore({ text: "", pair: "" }, lesson, offers, 0);
    const { choices } = insideBert.link.view();
    insideBert.link.write();
    return [choices, location.search.slice(1)];
})"""
LINKED = "() => new URLSearchParams(location.search).get('cut') === 'text'"


def test_names_that_are_not_understood_are_said_once(open_lesson: Callable[..., Page]) -> None:
    hostile = "<img src=x onerror=alert(1)>"
    page = open_lesson("tokens", text="One.", text_pair="Two.", under="position", utm_source="mail", **{hostile: "1"})
    expect(page.locator(TOLD)).to_have_text(f"Not understood in this link: text_pair, {hostile}.")
    expect(page.locator(SENTENCE)).to_have_value("One.")
    assert page.locator(f"{TOLD} img").count() == 0
    page.locator(SENTENCE).fill("Two.")
    expect(page.locator(TOLD)).to_be_hidden()
    linked(page, "Two.")
    page.reload()
    expect(page.locator("#tokens-picture ol")).to_contain_text("two")
    expect(page.locator(TOLD)).to_be_hidden()


def test_a_text_too_long_for_the_link(open_lesson: Callable[..., Page], context: BrowserContext, app_url: str) -> None:
    page = open_lesson("tokens", text="An old sentence.")
    expect(page.locator("#tokens-picture ol")).to_contain_text("old")
    expect(page.locator(TOLD)).to_be_hidden()
    for length in (8_000, MAX_CHARACTERS + 1):  # one that is read, and one that is refused
        a_reload_keeps(page, "word " * (length // 5 + 1))
        page.locator(SENTENCE).fill("A sentence between them.")
        expect(page.locator(TOLD)).to_be_hidden()
        linked(page, "A sentence between them.")
    page.locator(SENTENCE).fill("word " * 4_001)
    page.wait_for_function(LINKED)

    # the next visit, without a link: neither the sentence before it nor the one that would be refused
    other = context.new_page()
    other.goto(app_url)
    expect(other.locator("#overview-picture")).to_contain_text("banker")  # the page's own sentence
    expect(other.locator("#lesson-overview .notice:visible")).to_have_count(0)

    # that link elsewhere: an empty box and a reason, not what somebody wrote before
    other.goto("about:blank")
    other.goto(page.url)
    expect(other.locator(TOLD)).to_have_text("This link came without the sentence, which was too long for it.")
    expect(other.locator(SENTENCE)).to_have_value("")
    other.locator(SENTENCE).fill("A short one.")
    expect(other.locator(TOLD)).to_be_hidden()
    other.wait_for_url(re.compile(r"text=A\+short\+one"))  # written while it is left, it would break off the leaving
    other.goto("about:blank")  # a page that is left may reload itself and cancel a slow visit; see conftest.visit
    other.goto(f"{app_url}/?lesson=tokens&cut=toString,%3Cimg+src=x+onerror=alert(1)%3E")
    expect(other.locator(TOLD)).to_have_text("This link came without a text of this lesson, which was too long for it.")
    expect(other.locator(SENTENCE)).to_have_value("A short one.")
    other.locator(SENTENCE).fill("Another short one.")
    expect(other.locator(TOLD)).to_be_hidden()
    other.locator(SENTENCE).fill("A short one.")
    linked(other, "A short one.")
    other.reload()
    expect(other.locator(SENTENCE)).to_have_value("A short one.")

    page.locator(SENTENCE).fill("Short again.")
    expect(page.locator(TOLD)).to_be_hidden()
    linked(page, "Short again.")
    page.reload()
    expect(page.locator(SENTENCE)).to_have_value("Short again.")


def a_reload_keeps(page: Page, long: str) -> None:
    """The link goes without it and says so."""
    page.locator(SENTENCE).fill(long)
    page.wait_for_function(LINKED)
    expect(page.locator(TOLD)).to_have_text(
        "Too long for the link: the sentence. It stays when you reload this tab, but the link alone opens without it."
    )
    page.reload()
    expect(page.locator(SENTENCE)).to_have_value(long)
    expect(page.locator(TOLD)).to_contain_text("Too long for the link")
    assert "text" not in parse_qs(urlsplit(page.url).query)


def linked(page: Page, text: str) -> None:
    """Wait until the link carries this text, and see that it carries all."""
    page.wait_for_function("(text) => new URLSearchParams(location.search).get('text') === text", arg=text)
    assert "cut" not in parse_qs(urlsplit(page.url).query)


def test_a_choice_that_comes_late_does_not_call_off_the_way_to_another_lesson(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("tokens")
    page.evaluate("insideBert.link.goTo('overview', ''); insideBert.link.keep(['under'], 'position')")
    page.wait_for_selector("#lesson-overview .lesson-heading h2")


def test_a_fold_that_a_link_opens_is_open_until_the_reader_shuts_it(open_lesson: Callable[..., Page]) -> None:
    page, is_open = open_lesson("encoder", part="self_attention", fold="code"), re.compile(r"\bopen\b")
    label = page.locator("#encoder-self_attention-code > .label-wrap")
    expect(label).to_have_class(is_open)
    expect(page.locator("#encoder-self_attention-code .cm-content").first).to_contain_text("for i in range(len(q))")
    label.evaluate("label => label.click()")  # as a press that was heard late
    expect(label).not_to_have_class(is_open)
    expect(label).to_have_class(is_open)
    label.click()
    expect(label).not_to_have_class(is_open)


def test_a_lessons_long_text_survives_a_reload(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("tokens", text="Rivers have banks.")
    unfold(page.locator("#tokens-batch"))
    long = "word " * 2_000
    page.locator("#tokens-lines textarea").fill(long)
    page.wait_for_function("new URLSearchParams(location.search).get('cut') === 'lines'")
    expect(page.locator(TOLD)).to_contain_text("Too long for the link: a text of this lesson.")
    page.reload()
    page.wait_for_function("new URLSearchParams(location.search).get('cut') === 'lines'")
    page.get_by_role("button", name="Padding: several sentences in one batch").click()
    expect(page.locator("#tokens-lines textarea")).to_have_value(long)
    assert parse_qs(urlsplit(page.url).query)["text"] == ["Rivers have banks."]


def test_a_page_whose_storage_is_forbidden_opens_at_its_link(open_lesson: Callable[..., Page], page: Page) -> None:
    """As in a frame without the right to its origin: both stores throw when they are only looked at."""
    page.add_init_script(
        """for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, {
            get() { throw new DOMException("denied", "SecurityError"); },
        });"""
    )
    open_lesson("tokens", text="Rivers have banks.")
    expect(page.locator("#tokens-picture")).to_contain_text("banks")
    page.locator(SENTENCE).fill("Lakes have shores.")
    expect(page.locator("#tokens-picture")).to_contain_text("shores")
    linked(page, "Lakes have shores.")


def links_of(offers: list[dict[str, Any]], count: int) -> list[str]:
    """Links that say some of the choices: mostly what is on offer, by names of now and before, and some nonsense."""
    chance = random.Random(7)

    def said(offer: dict[str, Any]) -> str:
        if chance.random() < 0.2:
            return chance.choice(NONSENSE)
        if "former" in offer and chance.random() < 0.3:
            return chance.choice([*offer["former"]])
        value = offer["value"]
        if "offers" in offer:
            some = chance.sample(offer["offers"], chance.randint(0, len(offer["offers"])))
            value = some if isinstance(value, list) else chance.choice(offer["offers"])
        elif isinstance(value, bool):
            value = chance.random() < 0.5
        elif isinstance(value, int | float):
            low, high = offer.get("minimum", -5), offer.get("maximum", 5)
            value = chance.randint(int(low) - 1, int(high) + 1) if chance.random() < 0.7 else chance.uniform(low, high)
        elif isinstance(value, str):
            value = chance.choice(["", "river bank", "é & ü = 100%", "1.2, 11.12", "<b>", value])
        return value if isinstance(value, str) else json.dumps(value)

    queries = []
    for _ in range(count):
        some = chance.sample(offers, chance.randint(0, min(5, len(offers))))
        is_old = chance.random() < 0.3
        queries.append(urlencode({(is_old and offer.get("zero")) or offer["name"]: said(offer) for offer in some}))
    return queries


@pytest.mark.parametrize("lesson", [lesson.slug for lesson in discover()])
def test_the_page_and_python_read_a_link_alike_and_what_the_page_writes_says_the_same(
    open_lesson: Callable[..., Page], lesson: str
) -> None:
    page = open_lesson(lesson)
    script = page.evaluate(RESTORE)
    offers = json.JSONDecoder().raw_decode(script, script.index(", [{") + 2)[0]
    queries = links_of(offers, 150)
    seen = page.evaluate(READ, {"lesson": lesson, "offers": offers, "queries": queries})
    by_name = {offer["name"]: offer for offer in offers}
    for query, (choices, written) in zip(queries, seen, strict=True):
        expected = read(dict(parse_qsl(query, keep_blank_values=True)), by_name)
        assert choices == expected, query
        again = {name: value for name, value in parse_qsl(written, keep_blank_values=True) if name in by_name}
        assert read(again, by_name) == expected, (query, written)
