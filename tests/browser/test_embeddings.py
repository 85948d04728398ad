"""The Embeddings lesson's first parts in a real browser: drawn, changed, linked, hostile text, a list of one's own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect


def test_two_choices_and_a_search(open_lesson: Callable[..., Page], tmp_path: Path) -> None:
    page = open_lesson("embeddings", text="The bank raised its rates while we sat on the bank of the river.")
    lesson = page.locator("#lesson-embeddings")
    expect(lesson.locator(".heatmaplayer image")).to_have_count(2)
    expect(lesson.locator("#embeddings-neighbours li")).to_have_count(12)
    expect(lesson).to_contain_text("17 tokens × 384 = 6,528 numbers")
    lesson.get_by_label("max", exact=True).first.check()
    expect(lesson).to_contain_text("each of the 384 numbers is the largest")
    page.wait_for_url("**pooling_a=max**")
    page.fill(
        "#embeddings-texts textarea", "</script><script>alert(1)</script>\n{{7*7}} ${x} <b onmouseover=alert(1)>x"
    )
    expect(lesson.locator("#embeddings-neighbours li")).to_have_count(4)
    assert lesson.locator("img, b[onmouseover]").count() == 0
    page.fill("#bar-text textarea", "")
    page.fill("#embeddings-texts textarea", "")
    expect(lesson.locator(".notice")).to_have_text("Comparing takes at least two sentences; write one a line.")

    page.get_by_role("tab", name="Search").click()
    found = page.locator("#search-found")
    expect(found.locator("li")).to_have_count(20)  # no word of the query is in the library
    page.get_by_label("your own").check()
    mine = tmp_path / "mine.txt"
    mine.write_text("A loaf of <img src=x onerror=alert(1)> bread\nThe moon\n${x}\n")
    page.locator("#search-file input[type=file]").set_input_files(mine)
    expect(found.locator("li")).to_have_count(7)
    expect(found.locator("mark")).to_have_text(["bread"] * 3)
    assert found.locator("img").count() == 0
