"""The table of what four lectures show (tests/lectures.md): each view is opened, and shows what its rows promise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

from playwright.sync_api import Page

from tests.browser.conftest import stands, visit
from tests.lectures import Difference, Slide, differences, slides

Row = TypeVar("Row", Slide, Difference)

CARD = ".question"
# Which promises [row, selector, words] the open view does not keep. A fold is opened, and a question asked, by the way.
BROKEN = """(promises) => {
    const found = (selector) => [...document.querySelectorAll(selector)].find((one) => one.checkVisibility());
    const shut = ':scope > .label-wrap:not(.open)';
    const folds = new Set(promises.map(([, selector]) => found(selector)?.querySelector(shut)));
    for (const fold of folds) fold?.click();
    return promises.filter(([, selector, words]) => {
        const node = found(selector);
        if (!node && selector === '.question') document.querySelector('button.predict')?.click();
        const text = (node?.textContent ?? '').replace(/\\u200b/g, '').replace(/\\s+/g, ' ');
        return !(node?.offsetHeight > 10 && words.every((one) => text.includes(one)));
    });
}"""

# Which sentences can't be read now: `innerText` leaves out what is hidden.
IN_SIGHT = """(sentences) => {
    const text = document.body.innerText.replace(/\\u200b/g, '').replace(/\\s+/g, ' ');
    return sentences.filter((sentence) => !text.includes(sentence));
}"""

SHOWN = """(selector) => [
    location.search.slice(-80),
    document.querySelector(selector)?.textContent.replace(/\\s+/g, ' ').slice(0, 80) ?? 'nothing',
    document.querySelector('.toast-body')?.textContent ?? 'no notice',
]"""


def views_opened(page: Page, app_url: str, rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows of one view after another, each view open: its lesson by its address, the next ones within the page."""
    ordered = sorted(rows, key=lambda row: (row.lesson, row.query))
    for lesson, of_lesson in groupby(ordered, key=lambda row: row.lesson):
        for number, (query, of_view) in enumerate(groupby(of_lesson, key=lambda row: row.query)):
            if number:
                page.evaluate("([lesson, query]) => insideBert.goTo(lesson, query)", [lesson, query])
            else:
                visit(page, f"{app_url}/{lesson}?{query}")
                stands(page, lesson)
            yield list(of_view)


def test_each_view_shows_what_its_rows_promise(page: Page, app_url: str) -> None:
    rows = [row for row in slides() if row.view]
    assert len(rows) > 100
    broken = []
    for promised in views_opened(page, app_url, rows):
        broken += broken_of(page, [row for row in promised if row.selector != CARD])
        broken += broken_of(page, [row for row in promised if row.selector == CARD])  # it covers the rest
    assert not broken, "\n".join(map(str, broken))


def test_what_lectures_say_otherwise_is_in_sight(page: Page, app_url: str) -> None:
    """The sentence is visible without a press: in no fold, and in no answer to a question."""
    hidden = []
    for said in views_opened(page, app_url, differences()):
        missing = left_of(page, IN_SIGHT, [row.sentence for row in said])
        hidden += [(said[0].lesson, said[0].query, sentence) for sentence in missing]
    assert not hidden, "\n".join(map(str, hidden))


def broken_of(page: Page, rows: Sequence[Slide]) -> list[list[str]]:
    """What the open view still lacks of its rows' promises, once it has had time to be drawn; and what it shows."""
    asked = [[row.key, row.selector, list(row.words)] for row in rows]
    return [[*promise, *page.evaluate(SHOWN, promise[1])] for promise in left_of(page, BROKEN, asked)]


def left_of(page: Page, script: str, asked: Sequence[Any]) -> list[Any]:
    """What `script` still misses of all that is asked, once the open view has had time to be drawn."""
    missing: list[Any] = []
    for _ in range(1_200):  # tenths of a second: some views train small models as they open
        missing = page.evaluate(script, asked)
        if not missing:
            break
        page.wait_for_timeout(100)
    return missing
