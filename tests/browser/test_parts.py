"""A lesson in parts, in real Chromium: the link opens one, the arrow keys turn to the next, a token is picked once."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Page, expect


def test_parts_and_the_token_that_they_share(open_lesson: Callable[..., Page]) -> None:
    page = open_lesson("encoder", text="The bank by the river.", part="masks", token=2, layer=5, head=7)
    chosen = page.locator('#encoder-token [aria-checked="true"]')
    expect(chosen).to_have_text("bank2")
    expect(page.get_by_role("tab", name="Encoder, decoder, both")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#encoder-mask-gpt .heatmaplayer image")).to_have_count(1)
    layer = page.locator("#encoder-layer input[type=number]")
    expect(layer).to_have_value("6")
    for typed, kept in (("99", "6"), ("-4", "1"), ("", "1"), ("4", "4")):  # what a slider can't take is never sent
        layer.fill(typed)
        page.wait_for_timeout(100)
        layer.blur()
        expect(layer).to_have_value(kept)
    page.wait_for_function("new URLSearchParams(location.search).get('layer') === '3'")
    expect(page.locator(".toast-body")).to_have_count(0)

    the_arrow_keys_turn_back(page, "size", "Size")
    expect(page.locator("#encoder-treemap .treemaplayer")).to_have_count(1)
    the_arrow_keys_turn_back(page, "residual_stream", "The stack")

    page.locator('#encoder-token [data-token="3"]').click()
    page.wait_for_function("new URLSearchParams(location.search).get('token') === '3'")
    page.keyboard.press("ArrowRight")  # in the picker: the next token, and the part stays
    page.wait_for_function("new URLSearchParams(location.search).get('token') === '4'")
    expect(chosen).to_have_text("the4")
    assert parse_qs(urlsplit(page.url).query)["part"] == ["residual_stream"]

    page.locator("#bar-text textarea").fill("Short.")  # token 4 is no longer there: the last word is meant
    expect(chosen).to_have_text(".2")
    expect(page.locator("#lesson-encoder .notice")).to_have_count(0)


def the_arrow_keys_turn_back(page: Page, part: str, tab: str) -> None:
    """With the focus nowhere in particular: to the part before."""
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
    page.wait_for_function("(part) => new URLSearchParams(location.search).get('part') === part", arg=part)


def test_two_turns_at_one_moment_end_at_the_second(open_lesson: Callable[..., Page]) -> None:
    """The first turn's later events come after the second press and must not turn the page back."""
    page = open_lesson("embeddings")
    page.evaluate(
        """async () => {
            window.turns = 0;
            const tab = (part) => document.querySelector(`#embeddings-${part}-button`);
            for (const part of ["maps", "siamese"]) {
                tab(part).click();
                await Promise.resolve();
            }
            new MutationObserver((all) => (window.turns += all.length)).observe(tab("siamese"), { attributes: true });
        }"""
    )
    page.wait_for_function("new URLSearchParams(location.search).get('part') === 'siamese'")
    expect(page.locator("#embeddings-siamese-button")).to_have_attribute("aria-selected", "true")
    page.wait_for_function("!window.turns || (window.turns = 0, false)", polling=500)
    expect(page.locator("#embeddings-siamese-button")).to_have_attribute("aria-selected", "true")
