"""What the browser asks of the server while a reader turns pages: each drawing once, and nothing it can do itself."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Request, expect

from demos.lessons import discover

# Counts the answers that have come in whole, so that a test knows when the page is at rest.
COUNT_ANSWERS = """(() => {
    const given = window.fetch;
    window.answered = 0;
    window.fetch = async (...asked) => {
        const answer = await given(...asked);
        if (!String(asked[0]?.url ?? asked[0]).includes("/queue/data")) return answer;
        const [theirs, ours] = answer.body.tee();
        (async () => {
            const reader = ours.pipeThrough(new TextDecoderStream()).getReader();
            for (let rest = ""; ; ) {
                const { done, value } = await reader.read();
                if (done) return;
                const told = (rest + value).split('"msg":"process_completed"');
                window.answered += told.length - 1;
                rest = told.at(-1).slice(-40);
            }
        })().catch(() => {}); // the page was left
        return new Response(theirs, answer);
    };
})()"""
REST = 500  # milliseconds without a request or an answer: more than the page waits before it draws


class Asked:
    """The events that a page posts: (number of the handler, its inputs as JSON)."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.all: list[tuple[int, str]] = []
        self.seen = 0
        page.add_init_script(COUNT_ANSWERS)
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if "/queue/join" in request.url:
            body: dict[str, Any] = request.post_data_json
            self.all.append((body["fn_index"], json.dumps(body["data"])))

    def since_last(self) -> list[tuple[int, str]]:
        """What was asked since the last call, once all of it is answered and no more follows."""
        still = 0
        for _ in range(1200):
            before = len(self.all)
            self.page.wait_for_timeout(100)
            at_rest = len(self.all) == before and self.page.evaluate("window.answered") >= before
            still = still + 100 if at_rest else 0
            if still >= REST:
                break
        else:
            pytest.fail(f"of {len(self.all)} events {self.page.evaluate('window.answered')} were answered")
        new, self.seen = self.all[self.seen :], len(self.all)
        return new

    def forget(self) -> None:
        """The page is left: what it asked is no longer answered here."""
        self.all, self.seen = [], 0


def twice(asked: list[tuple[int, str]]) -> list[tuple[int, str]]:
    return [one for one, count in Counter(asked).items() if count > 1]


@pytest.mark.parametrize("lesson", discover(), ids=lambda lesson: lesson.slug)
def test_what_opens_is_drawn_once(open_lesson: Callable[..., Page], page: Page, lesson: Any) -> None:
    """A lesson by its link and each of its parts by its tab: no handler is asked the same thing twice."""
    page.set_viewport_size({"width": 1920, "height": 1080})  # all tabs are in their row
    asked = Asked(page)
    open_lesson(lesson.slug, text="The bank by the river.")
    first = asked.since_last()
    assert len(first) > 1, "something is drawn"
    assert twice(first) == []
    own = {number for number, _ in first}
    for part in lesson.parts[1:]:
        page.locator(f"#{lesson.slug}-{part.slug}-button").click()
        opened = asked.since_last()
        assert twice(opened) == [], part.slug
        assert not {number for number, _ in opened} & own, f"{part.slug}: what was open before is drawn again"


def test_coming_back_draws_what_has_changed_and_no_hidden_lesson(open_lesson: Callable[..., Page], page: Page) -> None:
    asked = Asked(page)
    open_lesson("encoder", part="position", text="The bank by the river.", token=2, layer=3, length=40)
    opened = asked.since_last()
    assert twice(opened) == []
    assert len({number for number, _ in opened}) == len(opened)  # nor with other inputs: the link's choices at once
    assert any("40" in inputs for _, inputs in opened)
    encoder = {number for number, _ in opened}

    page.get_by_role("tab", name="Tokens", exact=True).click()
    expect(page.locator("#tokens-picture")).to_contain_text("bank")
    tokens = asked.since_last()
    assert tokens
    assert not {number for number, _ in tokens} & encoder  # it was not drawn behind the other lesson
    page.locator("#bar-text textarea").fill("Something else.")
    expect(page.locator("#tokens-picture")).to_contain_text("else")
    typed = asked.since_last()
    assert twice(typed) == []
    assert {number for number, _ in typed} == {number for number, _ in tokens}

    page.locator("#lessons").get_by_role("tab", name="Inside the encoder").click()
    expect(page.locator("#encoder-token")).to_contain_text("else")
    again = asked.since_last()
    assert twice(again) == []
    assert {number for number, _ in again} == encoder - {max(encoder)}  # all but the bar's, which loads the model
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
    behind = asked.since_last()
    assert behind
    assert not [inputs for _, inputs in behind if inputs.startswith('["tiny"')]
    page.evaluate(use, "minilm")
    asked.since_last()

    fold = page.locator("#tokens-vocabulary > button")
    fold.click()
    expect(page.locator("#tokens-found .found")).to_contain_text("entries")
    assert len([inputs for _, inputs in asked.since_last() if inputs.startswith('["minilm"')]) == 4
    page.evaluate(use, "tiny")
    assert len([inputs for _, inputs in asked.since_last() if inputs.startswith('["tiny"')]) == 4
    fold.click()
    page.evaluate(use, "minilm")
    assert not [inputs for _, inputs in asked.since_last() if inputs.startswith('["minilm"')]
    fold.click()
    assert len([inputs for _, inputs in asked.since_last() if inputs.startswith('["minilm"')]) == 4


def test_what_needs_no_model_needs_no_server(open_lesson: Callable[..., Page], page: Page) -> None:
    """A sentence that is copied, a list that is put in, a result that is forgotten: done in the browser."""
    asked = Asked(page)
    open_lesson("attention", part="compare", text="The bank by the river.", compare_text="x")
    asked.since_last()
    page.get_by_role("button", name="Copy from the bar").click()
    expect(page.locator("#compare-text textarea")).to_have_value("The bank by the river.")
    assert all(len(json.loads(inputs)) > 3 for _, inputs in asked.since_last())  # the drawings, and no copying
    page.locator("#attention-ablation-button").click()
    asked.since_last()
    page.locator("#bar-text textarea").fill("The bank by the lake.")
    behind = asked.since_last()
    assert len(behind) == 3, behind  # grid, effects, leanings; the board that is emptied is no fourth
