"""The shape part in a real browser: it opens on its example, follows layer and kind, and the link keeps both."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_it_follows_the_layer_and_whose_vectors(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("embeddings", part="shape", text="${alert(1)} <b onmouseover=alert(1)>x", shape_layer=5)
    part = page.locator("#embeddings-shape")
    told = part.locator("#shape-told")
    expect(told).to_contain_text("0.61 mean cosine of two sentences")
    expect(told).to_contain_text("Dimension 223 alone")
    expect(part.locator("#shape-repairs .barlayer .point")).to_have_count(6)
    expect(part.locator("#shape-dimensions .annotation").filter(has_text="223")).to_have_count(1)
    page.locator("#shape-layer input[type=number]").fill("6")
    page.keyboard.press("Enter")
    expect(told).to_contain_text("0.08 mean cosine")
    part.get_by_label("[CLS]", exact=True).check()
    expect(told).to_contain_text("mean cosine of two sentences’ [CLS], layer 6")
    expect(part).to_contain_text("[CLS], layer 6:")
    page.wait_for_url("**shape_vectors=cls**")
    assert "shape_layer=6" in page.url
    assert part.locator("b[onmouseover]").count() == 0
