"""The Embeddings lesson's parts that train nothing, in a real browser: drawn, changed, linked, hostile text, files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.events import unfold


def test_each_part_on_one_page(open_lesson: Callable[..., Page], tmp_path: Path, subtests: pytest.Subtests) -> None:
    text = "The bank raised its rates while we sat on the bank of the river."
    page = open_lesson("embeddings", text=text, map_method="pca", shape_layer=5, word_layer=3)
    with subtests.test("compare and search"):
        two_choices_and_a_search(page, tmp_path)
    with subtests.test("agreement"):
        bars_are_clicked_and_files_read(page)
    with subtests.test("maps"):
        a_map_is_drawn_and_its_points_lead_to_the_list_and_back(page)
    with subtests.test("word"):
        a_word_in_its_context(page)
    with subtests.test("shape"):
        shape_follows_the_layer_and_whose_vectors(page)


def two_choices_and_a_search(page: Page, tmp_path: Path) -> None:
    lesson = page.locator("#lesson-embeddings")
    expect(lesson.locator(".heatmaplayer image")).to_have_count(2)
    expect(lesson.locator("#embeddings-neighbours li")).to_have_count(12)
    expect(lesson).to_contain_text("17 tokens × 384 = 6,528 components")
    lesson.get_by_label("max", exact=True).first.check()
    expect(lesson).to_contain_text("For each of the 384 dimensions, the maximum")
    page.wait_for_url("**pooling_a=max**")
    page.fill(
        "#embeddings-texts textarea", "</script><script>alert(1)</script>\n{{7*7}} ${x} <b onmouseover=alert(1)>x"
    )
    expect(lesson.locator("#embeddings-neighbours li")).to_have_count(4)
    assert lesson.locator("img, b[onmouseover]").count() == 0
    page.fill("#bar-text textarea", "")
    page.fill("#embeddings-texts textarea", "")
    shown = lesson.locator(".notice:visible")
    expect(shown).to_have_text("At least two sentences are needed; write one sentence per line.")

    page.get_by_role("tab", name="Search").click()
    found = page.locator("#search-found")
    expect(found.locator("li")).to_have_count(20)  # no word of the query is in the library
    unfold(page.locator("#embeddings-search-controls"))
    page.get_by_label("your own").check()
    mine = tmp_path / "mine.txt"
    mine.write_text("A loaf of <img src=x onerror=alert(1)> bread\nThe moon\n${x}\n", encoding="utf-8")
    page.locator("#search-file input[type=file]").set_input_files(mine)
    expect(found.locator("li")).to_have_count(7)
    expect(found.locator("mark")).to_have_text(["bread"] * 3)
    assert found.locator("img").count() == 0
    page.locator("#embeddings-search-tokens .label-wrap").click()
    expect(page.locator("#search-token-lists li")).to_have_count(6)
    expect(page.locator("#search-token-told")).to_contain_text("“A loaf of <img src=x onerror=alert(1)> bread”")
    page.locator(
        "#search-token-matrix"
    ).scroll_into_view_if_needed()  # a figure below the window waits until it is near
    expect(page.locator("#search-token-matrix .heatmaplayer .hm")).to_have_count(1)

    page.get_by_label("one token of the query").check()
    page.wait_for_url("**search_by=token**")
    expect(page.locator("#search-query textarea")).to_have_value("She wrote a short note to her teacher.")
    expect(found.locator(".chosen mark")).to_have_text("note")
    expect(found.locator("li mark")).to_have_count(20)
    assert found.locator("img").count() == 0


def bars_are_clicked_and_files_read(page: Page) -> None:
    page.locator("#embeddings-agreement-button").click()
    part = page.locator("#embeddings-agreement")
    bars = page.locator("#embeddings-agreement-bars")
    expect(bars.locator(".barlayer .point path")).to_have_count(40)
    expect(part).to_contain_text("mean, last hidden layer (6): ρ =")
    bars.scroll_into_view_if_needed()
    box = bars.locator(".barlayer .trace").first.locator(".point path").nth(1).bounding_box()  # [CLS], layer 1
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 12)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] - 10)
    expect(part).to_contain_text("[CLS], layer 1 of 6: ρ =")
    page.wait_for_url("**agreement_pooling=cls**")
    part.get_by_label("STS-B, or your own, from a file").check()
    expect(part.locator(".notice")).to_contain_text("Choose a file of sentence pairs")
    picker = page.locator("#embeddings-agreement-file input[type=file]")
    rows = "".join(f"A cat sleeps {n} times.,The {n} dogs bark.,{n}\n" for n in range(6))
    picker.set_input_files({"name": "own.csv", "mimeType": "text/csv", "buffer": f"{rows}x,y,much\n".encode()})
    expect(part.locator(".notice")).to_have_text("Row 7 has a score that is not a number: 'much'.")
    page.locator("#embeddings-agreement-file").get_by_label("Remove").or_(
        page.locator("#embeddings-agreement-file").get_by_label("Clear")
    ).first.click()
    picker.set_input_files({"name": "own.csv", "mimeType": "text/csv", "buffer": rows.encode()})
    expect(part).to_contain_text("Best on these 6 pairs")
    expect(part.locator(".notice")).to_have_count(0)


def a_map_is_drawn_and_its_points_lead_to_the_list_and_back(page: Page) -> None:
    page.locator("#bar-text textarea").fill("A map.")
    page.locator("#embeddings-maps-button").click()
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
    unfold(page.locator("#embeddings-maps-controls"))
    page.wait_for_url("**maps_controls=true**")
    page.fill("#maps-own textarea", "<img src=x onerror=alert(1)> ${alert(2)} <b>bread</b>")
    expect(page.locator("#maps-plot .legend")).to_contain_text("yours")
    page.fill("#maps-find textarea, #maps-find input", "onerror")
    expect(told.locator("button")).to_have_count(1)
    told.locator("button").click()
    expect(told.locator(".chosen")).to_contain_text("<img src=x onerror=alert(1)>")
    assert lesson.locator("img[src=x], #maps-list b b").count() == 0
    lesson.get_by_label("3-D").check()
    expect(lesson).to_contain_text("of the variance is explained by these axes")
    expect(page.locator("#maps-plot .gl-container canvas").first).to_be_visible()
    lesson.get_by_label("a token, every layer").check()
    expect(told.locator("button")).to_have_count(7)
    page.fill("#maps-lines textarea", "")
    expect(page.locator("#embeddings-maps .notice")).to_have_text(
        "The box contains no sentence; write one sentence per line."
    )


def a_word_in_its_context(page: Page) -> None:
    page.locator("#bar-text textarea").fill("The otter left the bank of the river.")
    page.locator("#embeddings-word_senses-button").click()
    told = page.locator("#word-told")
    expect(told).to_contain_text("At layer 3 two uses with the same sense")
    expect(told).to_contain_text("is nearest to river")
    expect(page.locator("#word-matrix .heatmaplayer image")).to_have_count(1)
    expect(page.locator("#word-ranks li")).to_have_count(25)
    page.locator("#word-layer input[type=number]").fill("5")
    page.locator("#word-layer input[type=number]").press("Enter")
    expect(told).to_contain_text("At layer 5")
    page.wait_for_url("**word_layer=5**")
    page.get_by_label("Example word").click()
    page.get_by_role("option", name="pupil").click()
    expect(told).to_contain_text("“pupil”")
    expect(page.locator("#word-curves")).to_contain_text("different senses")
    page.locator("#word-word textarea, #word-word input").fill("<b>")
    expect(page.locator("#embeddings-word_senses .notice")).to_contain_text("does not contain the word “<b>”")
    expect(told).to_contain_text("“pupil”")


def shape_follows_the_layer_and_whose_vectors(page: Page) -> None:
    page.locator("#bar-text textarea").fill("${alert(1)} <b onmouseover=alert(1)>x")
    page.locator("#embeddings-anisotropy-button").click()
    part = page.locator("#embeddings-anisotropy")
    told = part.locator("#shape-told")
    expect(told).to_contain_text("0.61 mean cosine of two sentences")
    expect(told).to_contain_text("Dimension 223 alone")
    expect(part.locator("#shape-repairs .barlayer .point")).to_have_count(6)
    expect(part.locator("#shape-dimensions .annotation").filter(has_text="223")).to_have_count(1)
    page.locator("#shape-layer input[type=number]").fill("6")
    page.keyboard.press("Enter")
    expect(told).to_contain_text("0.08 mean cosine")
    part.get_by_label("[CLS]", exact=True).check()
    expect(told).to_contain_text("mean cosine of the [CLS] vectors of two sentences, in layer 6")
    expect(part).to_contain_text("[CLS], layer 6:")
    page.wait_for_url("**shape_vectors=cls**")
    assert "shape_layer=6" in page.url
    assert part.locator("b[onmouseover]").count() == 0
