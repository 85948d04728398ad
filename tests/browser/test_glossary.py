"""A term shows its meaning at pointer and focus, hides it at Escape, and leads to its place on /glossary."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_a_term_says_what_it_means_and_leads_to_its_place(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("attention")
    term = page.locator(".lesson-heading .term").first
    link, meaning = term.locator("a"), term.get_by_role("tooltip")
    for show in (term.hover, link.focus):
        show()
        expect(meaning).to_be_visible()
        page.keyboard.press("Escape")
        expect(meaning).to_be_hidden()
        page.mouse.move(0, 0)
        link.blur()
    page.set_viewport_size({"width": 390, "height": 844})
    for each in page.locator(".lesson-heading .term").all():  # none hangs over the edge
        each.locator("a").focus()
        box = each.get_by_role("tooltip").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390
    link.focus()
    said = meaning.inner_text()
    with page.context.expect_page() as opened:
        link.press("Enter")
    glossary = opened.value
    glossary.wait_for_load_state()
    place = glossary.locator("dl > div:target")
    expect(place).to_be_in_viewport()
    name, _, means = said.partition(": ")
    expect(place.locator("dt")).to_have_text(name)
    expect(place.locator("dd")).to_contain_text(means)
