"""What the Embeddings lesson learns, in a real browser: a classifier on frozen vectors, and an encoder on pairs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect


def test_both_parts_on_one_page(open_lesson: Callable[..., Page], tmp_path: Path, subtests: pytest.Subtests) -> None:
    chosen = {"features_data": "two", "siamese_epochs": 10, "siamese_rate": "0.0001"}
    page = open_lesson("embeddings", part="frozen_features", text="What a wonderful day!", **chosen)
    with subtests.test("features"):
        bars_then_grid_then_a_broken_file(page, tmp_path)
    with subtests.test("siamese"):
        a_run_moves_the_points_and_can_be_stopped(page)


def bars_then_grid_then_a_broken_file(page: Page, tmp_path: Path) -> None:
    bars, said = page.locator("#features-bars"), page.locator("#features-said b").first
    expect(bars).to_contain_text("words only, no BERT")
    expect(bars).to_contain_text("mean, last hidden layer (6), frozen")
    expect(page.locator("#features-recipe .answer tr")).to_have_count(2)
    page.locator("#features-learn").click()
    expect(bars).to_contain_text("LSTM, trained from scratch")
    expect(page.locator("#features-lstm")).to_contain_text("of its training sentences correctly")
    page.locator("#features-start").click()
    expect(page.locator("#features-stop")).to_be_enabled()
    expect(page.locator("#features-grid-said")).to_contain_text("Cross-validation selects")
    page.locator("#features-stop").click(force=True)  # it may be over by now
    expect(page.locator("#features-start")).to_be_enabled()
    page.locator("#embeddings-frozen_features").get_by_role("radio", name="[CLS]").click()
    expect(said).to_have_text("[CLS], last hidden layer (6), frozen")
    best = page.locator("#features-grid-said b").first.inner_text()
    page.locator("#features-take").click()
    expect(said).to_have_text(f"{best}, frozen")
    broken = tmp_path / "broken.csv"
    broken.write_text('text,label\nfine,a\n"broken', encoding="utf-8")
    page.get_by_role("radio", name="your own file").click()
    expect(page.locator(".features-status").first).to_contain_text("Choose a file")
    page.locator("#lesson-embeddings input[type=file]").last.set_input_files(broken)
    expect(page.locator("#lesson-embeddings .notice", has_text="Row 3 is broken")).to_be_visible()
    expect(bars).to_contain_text("words only, no BERT")  # what was drawn stays


def a_run_moves_the_points_and_can_be_stopped(page: Page) -> None:
    """Drawn on opening, a run that moves the points, stopped within a step."""
    page.locator("#embeddings-siamese-button").click()
    expect(page.locator("#embeddings-siamese").get_by_label("Learning rate")).to_be_visible()  # the link sets it
    scores, status = page.locator("#embeddings-siamese-scores"), page.locator("#embeddings-siamese-curve .curve-status")
    expect(scores).to_contain_text("74 held-out pairs")
    expect(page.locator("#embeddings-siamese-scatter .scatterlayer .point")).to_have_count(74 + 1)
    expect(page.locator("#embeddings-siamese-towers .joined")).to_contain_text("loss = ")
    expect(status).to_contain_text("Nothing has been trained yet")
    expect(page.locator("#embeddings-siamese-curve .curve-key.guess")).to_be_hidden()
    page.click("#embeddings-siamese-start")
    expect(status).to_contain_text("pairs/s", timeout=300_000)  # other tests' trainings may be ahead
    page.click("#embeddings-siamese-stop")
    expect(status).to_contain_text("Stopped after")
    expect(scores).to_contain_text("agreement ρ after")
    expect(page.locator("#embeddings-siamese-scatter .scatterlayer .point")).to_have_count(2 * 74 + 1)
    expect(page.locator("#embeddings-siamese-after tbody tr")).to_have_count(8)
    expect(page.locator("#embeddings-siamese-towers")).to_contain_text("→")
    points = page.locator("#embeddings-siamese-scatter .scatterlayer .point")
    poolings = page.locator("#embeddings-siamese").get_by_role("radio")
    poolings.and_(page.get_by_label("mean", exact=True)).click()  # another beginning, and back
    expect(status).to_contain_text("No model has been trained with these settings yet")
    expect(points).to_have_count(74 + 1)
    poolings.and_(page.get_by_label("[CLS]", exact=True)).click()
    expect(status).to_contain_text("Stopped after")
    expect(points).to_have_count(2 * 74 + 1)
    page.reload()
    expect(status).to_contain_text("Stopped after")
    expect(points).to_have_count(2 * 74 + 1)
