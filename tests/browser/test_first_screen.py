"""What a visitor has before their eyes and under their fingers when a page opens.

The views of the lectures' rows are shown one after another in one page a lesson (`insideBert.link.goTo`), each with
nothing of the one before: that a link opens what it says is part of tests/browser/test_views.py.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlencode

import pytest
from playwright.sync_api import Browser, Page

from demos.page.bar import DEFAULT_TEXT
from tests.browser.conftest import stands, visit
from tests.browser.events import Asked, settle
from tests.browser.screens import TOP
from tests.lectures import WIDTHS, Slide, differences, slides, unseen

IN_SIGHT = Path(__file__).with_name("in_sight.js").read_text(encoding="utf-8")
HEIGHTS = dict(zip(WIDTHS, (800, 1080), strict=True))
LEAST = dict(zip(WIDTHS, (185, 192), strict=True))  # rows on the first screen
PATIENCE = 1_300  # looks, 0.15 seconds apart: some views train small models as they open
LESSONS = sorted({row.lesson for row in (*slides(), *differences()) if row.view})
ANEW = re.compile("questions=")  # a view that only a page of its own shows: `goTo` leaves out what is the reader's own
LEADS = re.compile("at=|fold=")
# Which sentences can't be read now: `innerText` leaves out what is hidden.
UNREAD = """(sentences) => {
    const text = document.body.innerText.replace(/\\u200b/g, '').replace(/\\s+/g, ' ');
    return sentences.filter((sentence) => !text.includes(sentence));
}"""
STILL, FAULTY, EMPTY = 2, 200, 660  # looks in which nothing changes: of what is in sight, is not, or is not there yet


@pytest.mark.quick
def test_the_keyboard_is_soon_there(page: Page, app_url: str) -> None:
    """The first Tab is the way past the bar: from there the first head and Start are near."""
    for lesson, part, found, most in (
        ("attention", "heads", "document.activeElement.closest('#attention-grid') !== null", 8),
        ("finetune", "train", "document.activeElement.id === 'finetune-start'", 10),
    ):
        visit(page, f"{app_url}/?lesson={lesson}")
        stands(page, lesson)
        page.wait_for_function(f"({TOP})('{lesson}-{part}') >= 0")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.className") == "skip"
        page.keyboard.press("Enter")
        pressed = 1
        while not page.evaluate(found) and pressed <= most:
            page.keyboard.press("Tab")
            pressed += 1
        assert pressed <= most, lesson


def test_the_model_note_opens_on_focus_and_on_a_press(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/?lesson=tokens")
    stands(page, "tokens")
    note, button = page.locator("#model-note"), page.locator("#bar-status button")
    assert not note.is_visible()
    button.click()
    note.wait_for(state="visible")
    page.keyboard.press("Escape")
    note.wait_for(state="hidden")
    assert button.get_attribute("aria-expanded") == "false"
    page.locator("#bar-model input").focus()
    page.keyboard.press("Tab")
    note.wait_for(state="visible")
    page.keyboard.press("Tab")
    note.wait_for(state="hidden")


def test_a_sentence_is_on_its_way_half_a_second_after_the_last_key(browser: Browser, app_url: str) -> None:
    """By the page's own clock, which is the whole context's and stops: no machine is too slow for it."""
    # of its own, since its clock can't be set right again
    context = browser.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(40_000)
    page = context.new_page()
    asked = Asked(page)
    visit(page, f"{app_url}/?lesson=encoder&part=block")
    stands(page, "encoder")
    asked.since_last()
    page.clock.install(time=0)
    page.clock.pause_at(1_000)
    page.locator("#bar-text textarea").press_sequentially("Hi")
    page.wait_for_timeout(300)
    before = len(asked.all)
    page.clock.run_for(500)
    for _ in range(100):
        page.wait_for_timeout(100)
        if len(asked.all) > before:
            break
    assert any("Hi" in inputs for _, inputs in asked.all[before:])
    context.close()


@pytest.mark.quick
def test_nearly_all_rows_are_promised_a_place_on_the_first_screen() -> None:
    rows, known = [row for row in slides() if row.view], unseen()
    for width in WIDTHS:
        assert len(rows) - sum(width in one.widths for one in known.values()) >= LEAST[width]
    assert not [row.key for row in rows if row.key in known and set(known[row.key].widths) == set(WIDTHS)]


@pytest.mark.parametrize("lesson", LESSONS)
def test_the_rows_of_the_lectures_are_on_the_first_screen(page: Page, app_url: str, lesson: str) -> None:
    """Nothing pressed or scrolled: what a row `finds` is in the window, whole, uncovered.

    And what the lectures say otherwise can be read there, in no fold, and in no answer to a question.
    """
    asked = Asked(page)
    known = unseen()
    table, wrong, read_before = [], [], ""
    widths = WIDTHS[::-1]
    folds: set[str] = set()  # parts that have led somewhere since the page was opened: a fold may be open there
    for query in views(lesson):
        part, leads = parse_qs(query).get("part", [""])[0], LEADS.search(query)
        widths = WIDTHS if leads else widths[::-1]  # a plain view begins at the width that the one before ended at
        page.set_viewport_size({"width": widths[0], "height": HEIGHTS[widths[0]]})
        if not read_before or leads or part in folds or ANEW.search(query):
            folds.clear()
            visit(page, f"{app_url}/{lesson}?{query}")
            stands(page, lesson)
        else:
            page.evaluate(
                "([lesson, query]) => { scrollTo(0, 0); insideBert.link.goTo(lesson, query); }", [lesson, query]
            )
        asked.since_last()
        folds |= {part} if leads else set()
        read_before = query
        rows = [row for row in slides() if (row.lesson, full(row.query)) == (lesson, query)]
        for width in widths:
            page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
            excused = {row.key for row in rows if row.key in known and width in known[row.key].widths}
            for row, (fault, y) in zip(rows, places_at_rest(page, rows, excused), strict=True):
                table.append(f"{row.key:4} {width} {fault or 'in sight':40.40} y = {y} /{lesson}?{query[:60]}")
                if bool(fault) != (row.key in excused):
                    wrong.append(table[-1])
        wrong += [f"unread: {sentence} /{lesson}?{query[:60]}" for sentence in unread(page, lesson, query)]
    print("\n".join(table))
    assert not wrong, "\n".join(wrong)


def full(query: str) -> str:
    """With the sentence that the page opens with where the link has none: another was shown here before."""
    return query if "text=" in query else f"{query}&{urlencode({'text': DEFAULT_TEXT})}".removeprefix("&")


def views(lesson: str) -> list[str]:
    """The queries of a lesson's views, plain ones first: what a link opens, and a question, stays in the page."""
    of_rows = {full(row.query) for row in (*slides(), *differences()) if row.lesson == lesson}
    return sorted(of_rows, key=lambda query: (bool(ANEW.search(query)), bool(LEADS.search(query)), query))


def unread(page: Page, lesson: str, query: str) -> list[str]:
    """The sentences that this view has otherwise than the lectures, and that can't be read in it."""
    sentences = [row.sentence for row in differences() if (row.lesson, full(row.query)) == (lesson, query)]
    for _ in range(FAULTY):
        if not (missing := page.evaluate(UNREAD, sentences)):
            break
        page.wait_for_timeout(150)
    return list(missing)


def places_at_rest(page: Page, rows: list[Slide], excused: set[str]) -> list[tuple[str, int | None]]:
    """(what is wrong with each row, or ""; where it ends), once the others than the excused are in sight and stay."""
    asked = [[row.selector, list(row.words)] for row in rows]
    before, still = None, 0
    for _ in range(PATIENCE):
        settle(page, 150)
        places: list[tuple[str, int | None]] = page.evaluate(IN_SIGHT, asked)
        still = still + 1 if places == before else 0
        before = places
        missed = [fault for row, (fault, _) in zip(rows, places, strict=True) if fault and row.key not in excused]
        empty = any(fault.startswith(("absent", "hidden")) for fault in missed)
        if still >= (EMPTY if empty else FAULTY if missed else STILL):
            break
        if missed:
            page.wait_for_timeout(100)
    return places
