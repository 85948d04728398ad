"""The part "Maps" in a real browser: drawn, a point chosen on the map and in the list, hostile words, PCA in 3-D."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_map_is_drawn_and_its_points_lead_to_the_list_and_back(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("embeddings", part="maps", map_method="pca", text="A map.")
    lesson, told = page.locator("#lesson-embeddings"), page.locator("#maps-list")
    expect(told.locator("button")).to_have_count(10)
    expect(told.locator(".chosen")).to_contain_text("Is a tomato salad allowed to sit in the fridge?")
    row = told.locator("button").first
    number = row.get_attribute("data-point")
    row.click()
    page.wait_for_url(f"**map_point={number}**")
    expect(told.locator(f'button[data-point="{number}"]')).to_have_count(0)  # it is the chosen one now
    before = told.locator(".chosen").inner_text()
    dot = page.locator("#maps-plot .scatterlayer .trace:nth-child(3) .point").nth(5)
    dot.hover(force=True)
    dot.click(force=True)
    expect(told.locator(".chosen")).not_to_have_text(before)
    page.fill("#maps-own textarea", "<img src=x onerror=alert(1)> ${alert(2)} <b>bread</b>")
    expect(page.locator("#maps-plot .legend")).to_contain_text("yours")
    page.fill("#maps-find textarea, #maps-find input", "onerror")
    expect(told.locator("button")).to_have_count(1)
    told.locator("button").click()
    expect(told.locator(".chosen")).to_contain_text("<img src=x onerror=alert(1)>")
    assert lesson.locator("img[src=x], #maps-list b b").count() == 0
    lesson.get_by_label("3-D").check()
    expect(lesson).to_contain_text("of the variance is on these axes")
    expect(page.locator("#maps-plot .gl-container canvas").first).to_be_visible()
    lesson.get_by_label("a token, every layer").check()
    expect(told.locator("button")).to_have_count(7)
    page.fill("#maps-lines textarea", "")
    expect(lesson.locator(".notice")).to_have_text("There is no sentence in the box; write one a line.")
