"""Learn live in a real browser: it opens on numbers, a step is drawn, a hundred are drawn as they come and stopped."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_step_then_many_drawn_live_and_stopped(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("pretraining", part="learn", learn_batch=2)
    curve = page.locator("#pretraining-learn-curve")
    status = curve.locator(".learn-status")
    expect(status).to_contain_text("There has been no training step yet")
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
    trained = status.inner_text()
    seed = page.locator("#pretraining-learn").get_by_label("Seed")
    seed.fill("5")
    expect(status).to_contain_text("There has been no training step with these settings")
    seed.fill("0")
    expect(status).to_have_text(trained)  # the copy was kept
    page.click("#pretraining-learn-fresh")
    expect(status).to_contain_text("There has been no training step yet")
    expect(curve.locator(".learn-dot")).to_have_count(1)


def test_a_page_that_is_loaded_again_has_its_text_and_its_copy(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("pretraining", part="learn", learn_batch=2)
    text, status = (
        page.locator("#pretraining-learn-text textarea"),
        page.locator("#pretraining-learn-curve .learn-status"),
    )
    expect(status).to_contain_text("There has been no training step yet")
    text.fill("The hive is full. The bees prepare to swarm. A queen lays <b>eggs</b>. Close the lid again.")
    typed = text.input_value()
    page.click("#pretraining-learn-one")
    expect(status).to_contain_text("has been trained for 1 step,")
    page.reload()
    expect(text).to_have_value(typed)
    expect(status).to_contain_text("has been trained for 1 step,")
    expect(page.locator("#pretraining-learn-top tbody tr")).to_have_count(15)
    page.click("#pretraining-learn-one")
    expect(status).to_contain_text("has been trained for 2 steps,")
