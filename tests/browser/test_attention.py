"""The Attention lesson in real Chromium, the network cut: bertviz's views, their menus, and what they tell the page."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import numpy as np
from playwright.sync_api import Browser, Frame, Page, expect

from demos.bert.attention import queries_and_keys, scaled_dot_products
from demos.bert.models import LoadedModel
from demos.bert.run import RunCache
from demos.figures.bertviz import FAINTEST, pack_weights, unpack_weights
from demos.figures.standalone import standalone_html

TEXT, PAIR = "The old miller counted his sacks twice.", "One was missing."
HOSTILE = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> ${alert(3)} {{value}}"
FRAME = "#attention-bertviz iframe"
SVG = "{http://www.w3.org/2000/svg}"
Open = Callable[..., Page]


def drawn(page: Page, state: str) -> Frame:
    """bertviz's frame once it shows `state`, "view layer head"."""
    page.wait_for_selector(f'{FRAME}[data-drawn^="{state}"]')
    frame = page.query_selector(FRAME).content_frame()  # type: ignore[union-attr]
    assert frame is not None
    return frame


def opacities(frame: Frame | Page, heads: str = ".headAttention", rows: str = ".tokenAttention") -> np.ndarray:
    """The strength of each line, [H, n, n]; NaN where there is none. A line's row and column are where it ends."""
    found = frame.evaluate(
        """([heads, rows]) => [...document.querySelectorAll(heads)].map(head => {
            const groups = [...head.querySelectorAll(rows)].map(group => [...group.querySelectorAll('line')]);
            const high = groups.flat().map(line => +line.getAttribute('y2'));
            const step = (document.querySelector('#vis').parentNode.className.startsWith('head') ? 22.5 : 7);
            const first = step === 7 ? +head.querySelector('rect').getAttribute('y') + 5 : 30;
            return groups.map(lines => lines.map(line =>
                [Math.floor((line.getAttribute('y2') - first) / step), +line.getAttribute('stroke-opacity')]));
        })""",
        [heads, rows],
    )
    n = len(found[0])
    columns = frame.evaluate("+document.querySelectorAll('#right text').length") or n
    result = np.full((len(found), n, columns), np.nan)
    for head, groups in enumerate(found):
        for row, group in enumerate(groups):
            for column, opacity in group:
                result[head, row, column] = opacity
    return result


def visible(weights: np.ndarray) -> np.ndarray:
    """The weights whose lines are drawn; NaN for the others."""
    return np.where(unpack_weights(pack_weights(weights), weights.shape) >= FAINTEST, weights, np.nan)


def off(head: np.ndarray) -> bool:
    """Whether each line that this head has is at strength 0."""
    return bool((head[~np.isnan(head)] == 0).all())


def saved(page: Page, kind: str, folder: Path) -> tuple[str, bytes]:
    """The name and content of the file that the frame's picture becomes."""
    with page.expect_download() as download:
        assert page.evaluate("(kind) => insideBert.attention.save(kind)", kind)
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path.name, path.read_bytes()


def test_head_view(open_lesson: Open, bundled: LoadedModel, tmp_path: Path) -> None:
    run = RunCache().get(bundled, TEXT)
    page = open_lesson("attention", text=TEXT, layer=1, head=4)
    frame = drawn(page, "head 1 4")
    assert frame.locator("#left text").all_text_contents() == list(run.encoding.tokens)
    expected = visible(run.attentions[1])
    assert 0 < np.isnan(expected).sum() < expected.size / 2
    np.testing.assert_allclose(opacities(frame), expected / 12**0.25, atol=2e-3)
    expect(page.locator("#attention-frame .attention-caption.block")).to_contain_text(f"a weight under {FAINTEST}")

    squares = frame.locator("#vis > svg > g:last-child > rect")
    expect(squares).to_have_count(12)
    assert len({square.get_attribute("fill") for square in squares.all()}) == 12
    assert frame.locator("#vis .number").all_text_contents() == [str(head) for head in range(12)]
    squares.nth(0).click()
    expect(squares.nth(0)).to_have_attribute("aria-checked", "false")
    assert off(opacities(frame)[0])
    np.testing.assert_allclose(opacities(frame)[1:], expected[1:] / 11**0.25, atol=2e-3)
    squares.nth(6).dblclick()
    np.testing.assert_allclose(opacities(frame)[6], expected[6], atol=2e-3)
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 1, head 6")

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
    frame.locator("#layer").select_option("5")
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 5, head 6")
    expect(page.locator("#attention-layer input[type=number]")).to_have_value("5")
    page.wait_for_url(re.compile("layer=5"))
    last = visible(run.attentions[5])
    np.testing.assert_allclose(opacities(frame)[6], last[6], atol=2e-3)  # and head 6 is still alone
    assert off(opacities(frame)[5])

    name, picture = saved(page, "svg", tmp_path)
    assert name == "bert-attention-head-layer5-head6.svg"
    tree = ElementTree.fromstring(picture)
    taken = sorted(float(line.get("stroke-opacity", "1")) for line in tree.iter(f"{SVG}line"))
    np.testing.assert_allclose(taken, np.sort(last[6][~np.isnan(last[6])]), atol=2e-3)  # what is off is not in it
    texts = [text.text for text in tree.iter(f"{SVG}text")]
    assert texts == [*run.encoding.tokens, *run.encoding.tokens, *map(str, range(12))]
    assert not {attribute for element in tree.iter() for attribute in element.attrib} & {"class", "style", "href"}
    assert tree.find(f"{SVG}rect").get("fill") == "rgb(253, 252, 249)"  # type: ignore[union-attr]
    name, picture = saved(page, "png", tmp_path)
    assert (name[-4:], picture[:8]) == (".png", b"\x89PNG\r\n\x1a\n")
    assert abs(int.from_bytes(picture[16:20]) - 2 * float(tree.get("width", "0"))) <= 1

    page.locator("#attention-layer input[type=number]").fill("1")
    page.locator("#attention-layer input[type=number]").press("Enter")
    expect(frame.locator("#layer")).to_have_value("1")
    np.testing.assert_allclose(opacities(frame)[6], expected[6], atol=2e-3)


def test_a_pairs_quarters_and_text_that_stays_text(open_lesson: Open, bundled: LoadedModel) -> None:
    run = RunCache().get(bundled, HOSTILE, PAIR)
    b = run.encoding.sentence_b_start
    page = open_lesson("attention", text=HOSTILE, pair=PAIR)
    frame = drawn(page, "head 0")
    expect(frame.locator("#left text")).to_contain_text(["[CLS]", "<", "/", "script"])
    assert frame.locator("#view img, #view script").count() == 0
    assert page.locator("#lesson-attention img").count() == 0
    page.get_by_role("button", name="The numbers").click()
    expect(page.locator(".attention-table").first).to_contain_text("script")
    quarters = [np.s_[:, :b, :b], np.s_[:, b:, b:], np.s_[:, :b, b:], np.s_[:, b:, :b]]
    for number, quarter in enumerate(quarters, start=1):
        frame.locator("#filter").select_option(str(number))
        np.testing.assert_allclose(opacities(frame), visible(run.attentions[0][quarter]) / 12**0.25, atol=2e-3)
    assert frame.locator("#left text").all_text_contents() == list(run.encoding.tokens[b:])


def test_model_view_in_the_light_and_in_the_dark(open_lesson: Open, bundled: LoadedModel, tmp_path: Path) -> None:
    run = RunCache().get(bundled, TEXT)
    page = open_lesson("attention", text=TEXT, view="model")
    frame = drawn(page, "model 0")
    expect(frame.locator(".attn_background")).to_have_count(72)
    assert frame.locator("#attn_background_5_0 ~ g line").count() == 0  # below the screen: drawn once it is looked at
    page.locator(FRAME).scroll_into_view_if_needed()
    expect(frame.locator("#attn_background_0_2 ~ g line").first).to_be_attached()
    in_view = opacities(frame, "g:has(> #attn_background_0_2)", "[source-index]")[0]
    np.testing.assert_allclose(in_view, visible(run.attentions[0, 2]), atol=2e-3)
    frame.locator("#attn_background_5_0").scroll_into_view_if_needed()
    expect(frame.locator("#attn_background_5_0 ~ g line").first).to_be_attached()
    last = opacities(frame, "g:has(> #attn_background_5_0)", "[source-index]")[0]
    np.testing.assert_allclose(last, visible(run.attentions[5, 0]), atol=2e-3)

    frame.locator("#attn_background_3_7 ~ rect").click()
    expect(frame.locator("text.detail").first).to_have_text("Layer 3, Head 7")
    expect(page.locator("#attention-heatmap")).to_contain_text("Layer 3, head 7")
    expect(frame.locator("text.detail").first).to_have_text("Layer 3, Head 7")  # the answer redraws nothing
    for choice in ("view=model", "layer=3", "head=7"):
        page.wait_for_function("(said) => location.search.slice(1).split('&').includes(said)", arg=choice)
    name, picture = saved(page, "svg", tmp_path)
    assert name == "bert-attention-model-layer3-head7.svg"
    count = int((~np.isnan(visible(run.attentions))).sum() + (~np.isnan(visible(run.attentions[3, 7]))).sum())
    assert picture.count(b"<line") == count  # every thumbnail, looked at or not, and the opened one

    def ink() -> str:
        return frame.evaluate("getComputedStyle(document.querySelector('#vis text')).fill")

    assert ink() == "rgb(29, 35, 39)"
    page.locator('[data-switch="dark"]').click()
    expect(frame.locator("html")).to_have_class("dark")
    assert ink() == "rgb(236, 234, 228)"
    assert frame.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 24, 27)"


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


def test_a_long_input_is_cut_and_a_phone_scrolls_one_way(open_lesson: Open, page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_lesson("attention", text="sand " * 200)
    caption = page.locator("#attention-frame .attention-caption.block")
    frame = drawn(page, "head 0")
    expect(frame.locator("#left text")).to_have_count(128)
    expect(caption).to_contain_text("Only the first 128 of 202 tokens")
    expect(page.locator("#attention-heatmap .heatmaplayer image")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator("#attention-view").get_by_text("Neuron view").click()
    drawn(page, "neuron 0")
    expect(frame.locator("#collapsed #leftText text")).to_have_count(64)
    expect(caption).to_contain_text("Only the first 64 of 202 tokens")
    page.locator("#attention-view").get_by_text("Model view").click()
    drawn(page, "model 0")
    expect(caption).to_contain_text("Only the first 128 of 202 tokens")
    assert frame.evaluate(
        "document.scrollingElement.scrollHeight > innerHeight"
    )  # 6 x 128 tokens: it scrolls by itself
    assert frame.evaluate("document.scrollingElement.scrollTo(0, 9e9), document.scrollingElement.scrollTop") > 0


def test_a_file_of_its_own_works_with_no_network(browser: Browser, bundled: LoadedModel, tmp_path: Path) -> None:
    run = RunCache().get(bundled, HOSTILE)
    file = tmp_path / "attention.html"
    vectors = lambda layer: queries_and_keys(bundled, run, layer)  # noqa: E731
    file.write_text(standalone_html(run, "head", 1, 4, vectors, "MiniLM <i>"), encoding="utf-8")
    context = browser.new_context(offline=True, color_scheme="dark")
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("dialog", lambda box: faults.append(box.message))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    np.testing.assert_allclose(opacities(page), visible(run.attentions[1]) / 12**0.25, atol=2e-3)
    expect(page.locator("h1")).to_have_text(HOSTILE)
    expect(page.locator("#model")).to_have_text("MiniLM <i> (6 layers × 12 heads)")
    assert page.locator("img, h1 *").count() == 0
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == "rgb(20, 24, 27)"
    page.locator("#layer").select_option("5")
    np.testing.assert_allclose(opacities(page), visible(run.attentions[5]) / 12**0.25, atol=2e-3)
    page.get_by_role("button", name="Neuron view").click()
    expect(page.locator("#layer")).to_have_value("5")
    page.locator("#collapsed #leftText g").nth(1).hover()
    page.get_by_role("button", name="Model view").click()
    expect(page.locator(".attn_background")).to_have_count(72)
    expect(page.locator("#attn_background_0_3 ~ g line").first).to_be_attached()
    assert (asked, faults) == ([file.as_uri()], [])
    context.close()
