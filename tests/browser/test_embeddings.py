"""The Embeddings lesson in a real browser: drawn, changed, linked, hostile text, readable by machine."""

from __future__ import annotations

from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

LESSON = "#lesson-embeddings"


def test_it_opens_on_a_worked_example_and_follows_the_choices(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("embeddings", text="The bank raised its rates while we sat on the bank of the river.")
    lesson = page.locator(LESSON)
    expect(lesson.locator(".heatmaplayer image")).to_have_count(2)
    expect(lesson.locator(".scatterlayer .point")).to_have_count(14)
    expect(lesson).to_contain_text("A and B disagree most about")
    expect(lesson).to_contain_text("17 tokens × 384 = 6,528 numbers")
    lesson.get_by_label("max", exact=True).first.check()
    expect(lesson.locator(".shape").first.locator("..")).to_contain_text("A: max, last hidden layer (6)")
    page.wait_for_url("**pooling_a=max**")
    page.fill("#bar-text textarea", "Hello there.")
    expect(lesson).to_contain_text("5 tokens × 384 = 1,920 numbers")


def test_hostile_lines_are_text_and_one_sentence_tells_what_is_missing(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("embeddings", text="${alert(1)}<img src=x onerror=alert(1)>", pooling_b="max")
    lesson = page.locator(LESSON)
    expect(lesson).to_contain_text("B: max, last hidden layer (6)")
    page.fill("#embeddings-texts textarea", "</script><script>alert(1)</script>\n{{7*7}} <b onmouseover=alert(1)>x")
    expect(lesson.locator(".scatterlayer .point")).to_have_count(6)
    assert lesson.locator("img, b[onmouseover]").count() == 0
    page.fill("#embeddings-texts textarea", "")
    expect(lesson.locator(".notice")).to_have_text("Comparing takes at least two sentences; write one a line.")
    expect(lesson.locator(".scatterlayer .point")).to_have_count(6)


def test_it_fits_a_phone_and_axe_finds_nothing_serious(open_lesson: Callable[..., Page], page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_lesson("embeddings", list="A cat sleeps.\nA dog barks.")
    expect(page.locator(f"{LESSON} .heatmaplayer image")).to_have_count(2)
    expect(page.locator(f"{LESSON} .scatterlayer .point")).to_have_count(6)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for _ in range(20):  # what is about to be drawn anew is dimmed for a moment: a real fault outlasts that
        found = serious_faults(page)
        if not found:
            break
        page.wait_for_timeout(250)
    assert found == []


def serious_faults(page: Page) -> list[tuple[str, list[str]]]:
    """axe-core's serious and critical findings in the lesson: each rule with the elements that break it."""
    found = Axe().run(page, context=LESSON, options={"resultTypes": ["violations"]}).response["violations"]
    return [
        (rule["id"], [node["html"][:120] for node in rule["nodes"]])
        for rule in found
        if rule["impact"] in {"serious", "critical"}
    ]
