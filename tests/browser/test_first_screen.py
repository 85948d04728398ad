"""What a visitor has before their eyes and under their fingers when a page opens."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import stands, visit
from tests.browser.events import Asked
from tests.browser.screens import TOP
from tests.lectures import WIDTHS, Slide, slides, unseen

IN_SIGHT = Path(__file__).with_name("in_sight.js").read_text(encoding="utf-8")
HEIGHTS = dict(zip(WIDTHS, (800, 1080), strict=True))
LEAST = dict(zip(WIDTHS, (185, 192), strict=True))  # rows on the first screen
PATIENCE = 1_300  # looks, 0.15 seconds apart: some views train small models as they open
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


def test_a_sentence_is_on_its_way_half_a_second_after_the_last_key(phone: Page, app_url: str) -> None:
    """By the page's own clock, which is the whole context's and stops: no machine is too slow for it."""
    asked = Asked(phone)
    visit(phone, f"{app_url}/?lesson=encoder&part=block")
    stands(phone, "encoder")
    asked.since_last()
    phone.clock.install(time=0)
    phone.clock.pause_at(1_000)
    phone.locator("#bar-text textarea").press_sequentially("Hi")
    phone.wait_for_timeout(300)
    before = len(asked.all)
    phone.clock.run_for(500)
    for _ in range(100):
        phone.wait_for_timeout(100)
        if len(asked.all) > before:
            break
    assert any("Hi" in inputs for _, inputs in asked.all[before:])


def test_the_rows_of_the_lectures_are_on_the_first_screen(page: Page, app_url: str) -> None:
    """Opened as its link says, nothing pressed or scrolled: what a row `finds` is in the window, whole, uncovered."""
    rows = sorted((row for row in slides() if row.view), key=lambda row: (row.lesson, row.query))
    known = unseen()
    table, wrong = [], []
    for (lesson, query), of_view in groupby(rows, key=lambda row: (row.lesson, row.query)):
        view = list(of_view)
        page.set_viewport_size({"width": WIDTHS[0], "height": HEIGHTS[WIDTHS[0]]})
        visit(page, f"{app_url}/{lesson}?{query}")
        stands(page, lesson)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
            excused = {row.key for row in view if row.key in known and width in known[row.key].widths}
            for row, (fault, y) in zip(view, places_at_rest(page, view, excused), strict=True):
                table.append(f"{row.key:4} {width} {fault or 'in sight':40.40} y = {y} /{lesson}?{query[:60]}")
                if bool(fault) != (row.key in excused):
                    wrong.append(table[-1])
    print("\n".join(table))
    assert not wrong, "\n".join(wrong)
    for width in WIDTHS:
        assert len(rows) - sum(width in one.widths for one in known.values()) >= LEAST[width]
    assert not [row.key for row in rows if row.key in known and set(known[row.key].widths) == set(WIDTHS)]


def places_at_rest(page: Page, rows: list[Slide], excused: set[str]) -> list[tuple[str, int | None]]:
    """(what is wrong with each row, or ""; where it ends), once the others than the excused are in sight and stay."""
    asked = [[row.selector, list(row.words)] for row in rows]
    before, still = None, 0
    for _ in range(PATIENCE):
        page.wait_for_timeout(150)
        places: list[tuple[str, int | None]] = page.evaluate(IN_SIGHT, asked)
        still = still + 1 if places == before else 0
        before = places
        missed = [fault for row, (fault, _) in zip(rows, places, strict=True) if fault and row.key not in excused]
        empty = any(fault.startswith(("absent", "hidden")) for fault in missed)
        if still >= (EMPTY if empty else FAULTY if missed else STILL):
            break
    return places
