"""The Attention lesson in real Chromium, the network cut: bertviz's views, their menus, and what they tell the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import Frame, Page, expect

from demos.bert.attention import queries_and_keys, scaled_dot_products
from demos.bert.models import LoadedModel
from demos.bert.run import RunCache

TEXT, PAIR = "The old miller counted his sacks twice.", "One was missing."
FRAME = "#attention-bertviz iframe"
Open = Callable[..., Page]


def drawn(page: Page, state: str) -> Frame:
    """bertviz's frame once it shows `state`, "view layer head"."""
    page.wait_for_selector(f'{FRAME}[data-drawn^="{state}"]')
    frame = page.query_selector(FRAME).content_frame()  # type: ignore[union-attr]
    assert frame is not None
    return frame


def opacities(frame: Frame) -> np.ndarray:
    """The strength of each line of the head view: [H, n, n]"""
    found = frame.evaluate(
        """() => [...document.querySelectorAll('.headAttention')].map(
            head => [...head.querySelectorAll('.tokenAttention')].map(
                token => [...token.querySelectorAll('line')].map(line => +line.getAttribute('stroke-opacity'))))"""
    )
    return np.array(found)


def test_head_view(open_lesson: Open, bundled: LoadedModel) -> None:
    run = RunCache().get(bundled, TEXT)
    page = open_lesson("attention", text=TEXT, layer=1, head=4)
    frame = drawn(page, "head 1 4")
    assert frame.locator("#left text").all_text_contents() == list(run.encoding.tokens)
    np.testing.assert_allclose(opacities(frame), run.attentions[1] / 12**0.25, atol=2e-3)

    squares = frame.locator("#vis > svg > g:last-child > rect")
    expect(squares).to_have_count(12)
    assert len({square.get_attribute("fill") for square in squares.all()}) == 12
    squares.nth(0).click()
    assert (opacities(frame)[0] == 0).all()
    np.testing.assert_allclose(opacities(frame)[1:], run.attentions[1, 1:] / 11**0.25, atol=2e-3)
    squares.nth(6).dblclick()
    np.testing.assert_allclose(opacities(frame)[6], run.attentions[1, 6], atol=2e-3)
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 1, head 6")

    frame.locator("#left text").nth(2).hover()
    shown = frame.locator("#attention line[visibility=visible]")
    expect(shown).to_have_count(12 * len(run.encoding))
    assert shown.first.get_attribute("left-token-index") == "2"

    # a layer that the browser does not hold yet: asked of the page, which moves its slider and the link too
    frame.locator("#layer").select_option("5")
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 5, head 6")
    expect(page.locator("#attention-layer input[type=number]")).to_have_value("5")
    page.wait_for_url(re.compile("layer=5"))
    np.testing.assert_allclose(opacities(frame)[6], run.attentions[5, 6], atol=2e-3)  # and head 6 is still alone
    assert (opacities(frame)[5] == 0).all()
    page.locator("#attention-layer input[type=number]").fill("1")
    page.locator("#attention-layer input[type=number]").press("Enter")
    expect(frame.locator("#layer")).to_have_value("1")
    np.testing.assert_allclose(opacities(frame)[6], run.attentions[1, 6], atol=2e-3)


def test_a_pairs_quarters(open_lesson: Open, bundled: LoadedModel) -> None:
    run = RunCache().get(bundled, TEXT, PAIR)
    b = run.encoding.sentence_b_start
    frame = drawn(open_lesson("attention", text=TEXT, pair=PAIR), "head 0")
    quarters = [np.s_[:, :b, :b], np.s_[:, b:, b:], np.s_[:, :b, b:], np.s_[:, b:, :b]]
    for number, quarter in enumerate(quarters, start=1):
        frame.locator("#filter").select_option(str(number))
        np.testing.assert_allclose(opacities(frame), run.attentions[0][quarter] / 12**0.25, atol=2e-3)
    assert frame.locator("#left text").all_text_contents() == list(run.encoding.tokens[b:])


def test_model_view(open_lesson: Open) -> None:
    page = open_lesson("attention", text=TEXT, view="model")
    frame = drawn(page, "model 0")
    expect(frame.locator(".attn_background")).to_have_count(72)
    frame.locator("#attn_background_3_7 ~ rect").click()
    expect(frame.locator("text.detail").first).to_have_text("Layer 3, Head 7")
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 3, head 7")
    expect(frame.locator("text.detail").first).to_have_text("Layer 3, Head 7")  # the answer redraws nothing
    query = parse_qs(urlsplit(page.url).query)
    assert (query["view"], query["layer"], query["head"]) == (["model"], ["3"], ["7"])


def test_neuron_view(open_lesson: Open, bundled: LoadedModel) -> None:
    run = RunCache().get(bundled, TEXT)
    page = open_lesson("attention", text=TEXT, view="neuron", layer=2, head=3)
    frame = drawn(page, "neuron 2 3")
    tokens = frame.locator("#collapsed #leftText g")
    tokens.nth(4).hover()
    tokens.nth(4).locator("rect").last.click()  # bertviz's own +
    expect(frame.locator("#expanded")).to_have_attribute("visibility", "visible")
    expect(frame.locator("#expand")).to_have_text("Hide queries and keys")

    def products(layer: int, head: int) -> None:
        tokens = frame.locator("#expanded #leftText g")
        expect(tokens).to_have_count(len(run.encoding))
        tokens.nth(1).hover()
        tokens.nth(4).hover()
        both = queries_and_keys(bundled, run, layer)
        expected = scaled_dot_products(both.queries[head], both.keys[head])[4]
        shown = [float(square.get_attribute("data-value") or "nan") for square in frame.locator(".dotproduct").all()]
        np.testing.assert_allclose(shown, expected, atol=5e-3)

    products(2, 3)
    frame.locator("#att_head").select_option("9")
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 2, head 9")
    products(2, 9)
    frame.locator("#layer").select_option("4")
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 4, head 9")
    products(4, 9)
    frame.locator("#expand").click()
    expect(frame.locator("#collapsed")).to_have_attribute("visibility", "visible")


def test_libraries_load_once_and_the_frame_is_shut_in(open_lesson: Open, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    open_lesson("attention", text=TEXT)
    frame = drawn(page, "head 0")
    for title, name in (
        ("Model view", "model"),
        ("Neuron view", "neuron"),
        ("Head view", "head"),
        ("Neuron view", "neuron"),
    ):
        page.locator("#attention-view").get_by_text(title).click()
        drawn(page, name)
    for library in (
        "d3-5.7.0.min.js",
        "jquery-2.2.4.min.js",
        "head_view.js",
        "model_view.js",
        "neuron_view.js",
        "frame.html",
    ):
        assert len([url for url in asked if urlsplit(url).path.endswith(library)]) == 1, library
    expect(frame.locator("#collapsed")).to_have_attribute(
        "visibility", "visible"
    )  # the second neuron view is not blank
    assert frame.evaluate("self.origin") == "null"
    assert page.get_attribute(FRAME, "sandbox") == "allow-scripts"
    refused = frame.evaluate("fetch('/config').then(() => 'answered', () => 'refused')")
    assert refused == "refused"


def test_what_is_typed_stays_text(open_lesson: Open) -> None:
    text = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> ${alert(3)} {{value}}"
    page = open_lesson("attention", text=text)
    frame = drawn(page, "head 0")
    expect(frame.locator("#left text")).to_contain_text(["[CLS]", "<", "/", "script"])
    assert frame.locator("#view img, #view script").count() == 0
    assert page.locator("#lesson-attention img").count() == 0
    page.get_by_role("button", name="The numbers").click()
    expect(page.locator(".attention-table").first).to_contain_text("script")


def test_dark_mode_reaches_the_frame(open_lesson: Open) -> None:
    page = open_lesson("attention", text=TEXT, view="model")
    frame = drawn(page, "model 0")

    def ink() -> str:
        return frame.evaluate("getComputedStyle(document.querySelector('#vis text')).fill")

    assert ink() == "rgb(29, 35, 39)"
    page.locator('[data-switch="dark"]').click()
    expect(frame.locator("html")).to_have_class("dark")
    assert ink() == "rgb(236, 234, 228)"
    assert frame.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 24, 27)"


def test_a_long_input_is_cut(open_lesson: Open) -> None:
    page = open_lesson("attention", text="sand " * 200)
    caption = page.locator(".attention-caption.block")
    frame = drawn(page, "head 0")
    expect(frame.locator("#left text")).to_have_count(128)
    expect(caption).to_contain_text("Only the first 128 of 202 tokens")
    page.locator("#attention-view").get_by_text("Neuron view").click()
    drawn(page, "neuron 0")
    expect(frame.locator("#collapsed #leftText text")).to_have_count(64)
    expect(caption).to_contain_text("Only the first 64 of 202 tokens")


def test_a_phone_scrolls_one_way(open_lesson: Open, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_lesson("attention", text=TEXT)
    drawn(page, "head 0")
    expect(page.locator("#attention-heatmap .heatmaplayer image")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
