"""What the lectures say otherwise (tests/lectures.md) can be read on the views that are named there."""

from __future__ import annotations

from itertools import groupby

from playwright.sync_api import Page

from tests.browser.conftest import stands, visit
from tests.lectures import differences

# Which sentences can't be read now: `innerText` leaves out what is hidden.
UNREAD = """(sentences) => {
    const text = document.body.innerText.replace(/\\u200b/g, '').replace(/\\s+/g, ' ');
    return sentences.filter((sentence) => !text.includes(sentence));
}"""


def test_what_lectures_say_otherwise_is_in_sight(page: Page, app_url: str) -> None:
    """The sentence is visible without a press: in no fold, and in no answer to a question."""
    ordered = sorted(differences(), key=lambda row: (row.lesson, row.query))
    hidden, opened = [], ""
    for (lesson, query), rows in groupby(ordered, key=lambda row: (row.lesson, row.query)):
        if lesson == opened:
            page.evaluate("([lesson, query]) => insideBert.goTo(lesson, query)", [lesson, query])
        else:
            visit(page, f"{app_url}/{lesson}?{query}")
            stands(page, lesson)
            opened = lesson
        missing = sentences = [row.sentence for row in rows]
        for _ in range(1_200):  # tenths of a second: some views train small models as they open
            missing = page.evaluate(UNREAD, sentences)
            if not missing:
                break
            page.wait_for_timeout(100)
        hidden += [(lesson, query, sentence) for sentence in missing]
    assert not hidden, "\n".join(map(str, hidden))
