"""Frozen, then a classifier, in Chromium: the bars, the grid and its stop, and a broken upload."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect


def test_bars_then_grid_then_a_broken_file(open_lesson: Callable[..., Page], tmp_path: Path) -> None:
    page = open_lesson("embeddings", part="features", features_data="two", text="What a wonderful day!")
    bars = page.locator("#features-bars")
    expect(bars).to_contain_text("words alone, no BERT")
    expect(bars).to_contain_text("mean, last hidden layer (6), frozen")
    expect(page.locator("#features-recipe .answer tr")).to_have_count(2)
    page.locator("#features-start").click()
    expect(page.locator("#features-stop")).to_be_enabled()
    expect(page.locator("#features-grid-said")).to_contain_text("Cross-validation picks")
    page.locator("#features-stop").click(force=True)  # it may be over by now
    expect(page.locator("#features-start")).to_be_enabled()
    expect(page.locator("#features-take")).to_be_visible()
    broken = tmp_path / "broken.csv"
    broken.write_text('text,label\nfine,a\n"broken')
    page.get_by_role("radio", name="a file of your own").click()
    expect(page.locator(".features-status").first).to_contain_text("Choose a file")
    page.locator("#embeddings-features input[type=file], #lesson-embeddings input[type=file]").last.set_input_files(
        broken
    )
    expect(page.locator("#lesson-embeddings .notice", has_text="Row 3 is broken")).to_be_visible()
    expect(bars).to_contain_text("words alone, no BERT")  # what was drawn stays
