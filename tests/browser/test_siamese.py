"""Train on pairs in a real browser: drawn on opening, a run that moves the points, stopped within a step."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_run_moves_the_points_and_can_be_stopped(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("embeddings", part="siamese", siamese_epochs=10, siamese_rate="0.0001")
    scores, status = page.locator("#embeddings-siamese-scores"), page.locator("#embeddings-siamese-curve .curve-status")
    expect(scores).to_contain_text("74 held-out pairs")
    expect(page.locator("#embeddings-siamese-scatter .scatterlayer .point")).to_have_count(74 + 1)
    expect(page.locator("#embeddings-siamese-towers .joined")).to_contain_text("loss = ")
    expect(status).to_contain_text("Nothing is trained yet")
    expect(page.locator("#embeddings-siamese-curve .curve-key.guess")).to_be_hidden()
    page.click("#embeddings-siamese-start")
    expect(status).to_contain_text("pairs/s")
    page.click("#embeddings-siamese-stop")
    expect(status).to_contain_text("Stopped after")
    expect(scores).to_contain_text("agreement ρ after")
    expect(page.locator("#embeddings-siamese-scatter .scatterlayer .point")).to_have_count(2 * 74 + 1)
    expect(page.locator("#embeddings-siamese-after tbody tr")).to_have_count(8)
    expect(page.locator("#embeddings-siamese-towers")).to_contain_text("→")
