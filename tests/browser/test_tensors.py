"""Tensors, step by step, in a real browser: turned by button and by key, and carried by the link."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_the_steps_turn_by_button_and_by_key(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("embeddings", part="tensors", tensors_step="states", tensors_row=7)
    shown = page.locator(".tensor-step")
    expect(shown).to_have_attribute("data-step", "states")
    m, n, d = str(shown.get_attribute("data-shape")).strip("[]").split(" × ")
    page.locator("#embeddings-tensors-next").click()
    expect(shown).to_have_attribute("data-shape", f"[{m} × {d}]")
    page.locator("#embeddings-tensors-step input:checked").focus()
    page.keyboard.press("ArrowDown")
    expect(shown).to_have_attribute("data-step", "table")
    expect(shown.locator(".followed th")).to_have_text("7")
    page.wait_for_url("**tensors_step=table**")
    assert int(n) > 1
