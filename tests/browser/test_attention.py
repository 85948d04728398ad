"""bertviz's views in real Chromium, one after the other: what is drawn, their menus, what they tell the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import numpy as np
from playwright.sync_api import Frame, Page, expect

from demos.bert.attention.queries_keys import queries_and_keys, scaled_dot_products
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, RunCache
from demos.widgets.bertviz.messages import FAINTEST
from tests.browser.bertviz import FRAME, TEXT, drawn, off, opacities, press, saved, visible
from tests.browser.events import unfold

KEEP_SHOWN = """() => {
    const { show } = squares;
    window.keptShown = []; // the heads that the page has the frame show
    squares.show = (heads) => {
        window.keptShown.push(String(heads));
        show(heads);
    };
}"""
SVG = "{http://www.w3.org/2000/svg}"


def test_three_views(open_lesson: Callable[..., Page], page: Page, bundled: LoadedModel, tmp_path: Path) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    run = RunCache().get(bundled, TEXT)
    open_lesson("attention", text=TEXT, layer=1, head=4, lines="all")
    head_view(page, run, tmp_path)
    model_view_in_the_light_and_in_the_dark(page, run, tmp_path)
    neuron_view(page, run, bundled)
    the_frame_is_shut_in_and_its_libraries_loaded_once(page, asked)


def view(page: Page, title: str, state: str) -> Frame:
    """Choose a view, and wait until it shows `state`."""
    press(page.locator("#attention-view").get_by_text(title))
    return drawn(page, state)


def head_view(page: Page, run: Run, tmp_path: Path) -> None:
    frame = drawn(page, "head 1 4")
    assert frame.locator("#left text").all_text_contents() == list(run.encoding.tokens)
    expected = visible(run.attentions[1])
    assert 0 < np.isnan(expected).sum() < expected.size / 2
    np.testing.assert_allclose(opacities(frame), expected / 12**0.25, atol=2e-3)
    expect(page.locator("#attention-frame .attention-caption.block")).to_contain_text(f"weights below {FAINTEST}")

    squares = frame.locator("#vis > svg > g:last-child > rect")
    expect(squares).to_have_count(12)
    assert len({square.get_attribute("fill") for square in squares.all()}) == 12
    assert frame.locator("#vis .number").all_text_contents() == [str(head) for head in range(1, 13)]
    squares.nth(0).click()
    expect(squares.nth(0)).to_have_attribute("aria-checked", "false")
    assert off(opacities(frame)[0])
    np.testing.assert_allclose(opacities(frame)[1:], expected[1:] / 11**0.25, atol=2e-3)
    frame.evaluate(KEEP_SHOWN)
    squares.nth(6).dblclick()
    expect(squares.nth(1)).to_have_attribute("aria-checked", "false")
    np.testing.assert_allclose(opacities(frame)[6], expected[6], atol=2e-3)
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 2, head 7")
    page.wait_for_url(re.compile("head=6"))
    assert set(frame.evaluate("window.keptShown")) <= {"6"}, "the page wrote other heads over those chosen in the frame"

    frame.locator("#left text").nth(2).hover()
    shown = frame.locator("#attention line[visibility=visible]")
    expect(shown).to_have_count(int((~np.isnan(expected[:, 2])).sum()))
    assert shown.first.get_attribute("left-token-index") == "2"
    frame.locator("#layer").hover()
    expect(shown).to_have_count(0)
    frame.locator("#right [tabindex='0']").focus()  # the keyboard does what the mouse does
    page.keyboard.press("ArrowDown")
    focused = frame.locator("#right [aria-label='token 1: the']")
    expect(focused).to_be_focused()
    assert shown.first.get_attribute("right-token-index") == "1"
    focused.blur()
    expect(shown).to_have_count(0)

    # a layer that the browser does not hold yet: asked of the page, which moves its slider and the link too
    frame.locator("#layer").select_option(index=5)
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 6, head 7")
    unfold(page.locator("#attention-heads-controls"))
    expect(page.locator("#attention-layer input[type=number]")).to_have_value("6")
    page.wait_for_url(re.compile("layer=5"))
    last = visible(run.attentions[5])
    lines_become(frame, 6, last[6])  # and head 6 is still alone
    assert off(opacities(frame)[5])

    name, picture = saved(page, "svg", tmp_path)
    assert name == "bert-attention-head-layer6-head7.svg"
    tree = ElementTree.fromstring(picture)
    taken = sorted(float(line.get("stroke-opacity", "1")) for line in tree.iter(f"{SVG}line"))
    np.testing.assert_allclose(taken, np.sort(last[6][~np.isnan(last[6])]), atol=2e-3)  # what is off is not in it
    texts = [text.text for text in tree.iter(f"{SVG}text")]
    assert texts == [*run.encoding.tokens, *run.encoding.tokens, *map(str, range(1, 13))]
    assert not {attribute for element in tree.iter() for attribute in element.attrib} & {"class", "style", "href"}
    assert tree.find(f"{SVG}rect").get("fill") == "rgb(253, 252, 249)"  # type: ignore[union-attr]
    name, picture = saved(page, "png", tmp_path)
    assert (name[-4:], picture[:8]) == (".png", b"\x89PNG\r\n\x1a\n")
    assert abs(int.from_bytes(picture[16:20]) - 2 * float(tree.get("width", "0"))) <= 1

    page.locator("#attention-layer input[type=number]").fill("2")
    page.locator("#attention-layer input[type=number]").press("Enter")
    expect(frame.locator("#layer")).to_have_value("1")
    lines_become(frame, 6, expected[6])


def lines_become(frame: Frame, head: int, expected: np.ndarray) -> None:
    """Wait until the lines of this head, from 0, are this strong: the frame draws after the page has its answer."""
    for _ in range(400):
        shown = opacities(frame)[head]
        if shown.shape == expected.shape and np.allclose(shown, expected, rtol=0, atol=2e-3, equal_nan=True):
            return
        frame.page.wait_for_timeout(100)
    np.testing.assert_allclose(shown, expected, atol=2e-3)


def model_view_in_the_light_and_in_the_dark(page: Page, run: Run, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 1280, "height": 200})  # the frame is out of sight
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(500)  # the frame hears how much of it is in sight
    page.locator("#attention-view").get_by_text("Model view").dispatch_event("click")  # without scrolling there
    frame = drawn(page, "model 1 6")
    expect(frame.locator(".attn_background")).to_have_count(72)
    lines = [frame.locator(f"#attn_background_{layer}_0 ~ g line").count() for layer in range(6)]
    assert 0 in lines  # this small screen shows few rows, and the others are drawn once they are looked at
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator(FRAME).scroll_into_view_if_needed()
    expect(frame.locator("#attn_background_0_2 ~ g line").first).to_be_attached()
    in_view = opacities(frame, "g:has(> #attn_background_0_2)", "[source-index]")[0]
    np.testing.assert_allclose(in_view, visible(run.attentions[0, 2]), atol=2e-3)
    frame.locator("#attn_background_5_0").scroll_into_view_if_needed()
    expect(frame.locator("#attn_background_5_0 ~ g line").first).to_be_attached()
    last = opacities(frame, "g:has(> #attn_background_5_0)", "[source-index]")[0]
    np.testing.assert_allclose(last, visible(run.attentions[5, 0]), atol=2e-3)

    frame.locator("#attn_background_3_7 ~ rect").click()
    expect(frame.locator("text.detail").first).to_have_text("Layer 4, Head 8")
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 4, head 8")
    expect(frame.locator("text.detail").first).to_have_text("Layer 4, Head 8")  # the answer redraws nothing
    for choice in ("view=model", "layer=3", "head=7"):
        page.wait_for_function("(said) => location.search.slice(1).split('&').includes(said)", arg=choice)
    name, picture = saved(page, "svg", tmp_path)
    assert name == "bert-attention-model-layer4-head8.svg"
    count = int((~np.isnan(visible(run.attentions))).sum() + (~np.isnan(visible(run.attentions[3, 7]))).sum())
    assert picture.count(b"<line") == count  # every thumbnail, looked at or not, and the opened one

    def ink() -> str:
        return frame.evaluate("getComputedStyle(document.querySelector('#vis text')).fill")

    assert ink() == "rgb(29, 35, 39)"
    page.locator('[data-switch="dark"]').click()
    expect(frame.locator("html")).to_have_class("dark")
    assert ink() == "rgb(236, 234, 228)"
    assert frame.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 24, 27)"


def neuron_view(page: Page, run: Run, bundled: LoadedModel) -> None:
    frame = view(page, "Neuron view", "neuron 3 7")
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

    products(3, 7)
    frame.locator("#att_head").select_option(index=9)
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 4, head 10")
    products(3, 9)
    frame.locator("#layer").select_option(index=4)
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 5, head 10")
    products(4, 9)
    frame.locator("#expand").click()
    expect(frame.locator("#collapsed")).to_have_attribute("visibility", "visible")


def the_frame_is_shut_in_and_its_libraries_loaded_once(page: Page, asked: list[str]) -> None:
    """After all three views, and two of them once more."""
    view(page, "Head view", "head")
    frame = view(page, "Neuron view", "neuron")
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
