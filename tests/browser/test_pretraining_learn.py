"""Learn live in a real browser: it opens on numbers, a step is drawn, a hundred are drawn as they come and stopped."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_step_then_many_drawn_live_and_stopped(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("pretraining", part="learn", learn_batch=2)
    curve = page.locator("#pretraining-learn-curve")
    status = curve.locator(".learn-status")
    expect(status).to_contain_text("No step has been taken yet")
    expect(curve.locator(".learn-dot")).to_have_count(1)
    expect(page.locator("#pretraining-learn-asked tbody tr")).to_have_count(5)
    page.click("#pretraining-learn-one")
    expect(status).to_contain_text("has been trained for 1 step,")
    expect(curve.locator(".learn-dot")).to_have_count(2)
    expect(page.locator("#pretraining-learn-top tbody tr")).to_have_count(15)
    page.click("#pretraining-learn-many")
    expect(status).to_contain_text("of 101")  # asked for by the curve itself
    page.click("#pretraining-learn-stop")
    expect(status).to_contain_text("Stopped. Your copy of the model has been trained")
    page.click("#pretraining-learn-fresh")
    expect(status).to_contain_text("No step has been taken yet")
    expect(curve.locator(".learn-dot")).to_have_count(1)
