"""What a visitor has before their eyes and under their fingers when a page opens."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import stands, visit
from tests.browser.screens import TOP


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
