"""The Attention lesson's other parts in real Chromium: heads switched off, two at once, many heads as one."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from demos.bert.model.models import LoadedModel
from demos.bert.model.run import RunCache
from tests.browser.events import unfold

TEXT = "The old miller counted his sacks twice."
# The cells of this part's tables that are shown, but not below the heading that their columns have.
ELSEWHERE = """[...document.querySelectorAll('.ablation-pairs, .ablation-saliency')].flatMap(table => {
    const headings = [...table.tHead.rows[0].cells].flatMap(cell => Array(cell.colSpan).fill(cell));
    return [...table.tBodies[0].rows].flatMap(row => [...row.cells].filter((cell, at) => {
        const [own, above] = [cell.getBoundingClientRect(), headings[at].getBoundingClientRect()];
        return own.width && (own.left < above.left - 2 || own.right > above.right + 2);
    }).map(cell => cell.outerHTML));
})"""
PLOT = "document.querySelector('#compare-{} .js-plotly-plot')._fullData[0]"
CORNERS = """["left", "right", "difference"].map((side) => {
    const { x, y } = document.querySelector(`#compare-${side}`).getBoundingClientRect();
    return [x, y];
})"""


def test_each_part_on_one_page(
    open_lesson: Callable[..., Page], bundled: LoadedModel, subtests: pytest.Subtests
) -> None:
    chosen = {"off": "0.2, 1.4", "compare_text": "x", "compare_layer": "2", "compare_head": "5", "of": 6}
    page = open_lesson("attention", part="cause", text=TEXT, **chosen)  # a link of an earlier version
    expect(page.locator("#attention-ablation-button")).to_have_attribute("aria-selected", "true")
    page.wait_for_function("new URLSearchParams(location.search).get('part') === 'ablation'")
    with subtests.test("ablation"):
        heads_go_off_and_on_again(page)
    with subtests.test("compare"):
        two_at_once(page, bundled)
    with subtests.test("rollout"):
        many_heads_as_one(page)


def heads_go_off_and_on_again(page: Page) -> None:
    """Grid, box and link hold one set, and all that depends on it follows."""
    said, box = page.locator("#ablation-said"), page.locator("#ablation-off :is(textarea, input)")
    expect(said).to_contain_text("2 of 72 heads are off")
    expect(page.locator("#ablation-picture .heatmaplayer image")).to_have_count(1)
    off = page.locator("#ablation-grid [aria-pressed=true]")
    expect(off).to_have_count(2)

    page.locator("#ablation-grid [data-layer='3'][data-head='7']").click()
    expect(said).to_contain_text("3 of 72")
    expect(box).to_have_value("1.3, 2.5, 4.8")
    page.wait_for_url(re.compile(r"heads_off=1\.3%2C\+2\.5%2C\+4\.8"))

    page.locator("#ablation-layer-off input").click()
    expect(page.get_by_role("option")).to_have_count(6)  # the model's own layers
    page.get_by_role("option", name="layer 3").click()
    expect(said).to_contain_text("15 of 72")
    expect(off).to_have_count(15)

    box.fill("x")
    expect(page.locator(".notice")).to_contain_text("is not a head")
    page.locator("#ablation-all-on").click()
    expect(said).to_contain_text("All 72 heads are on")
    expect(off).to_have_count(0)

    page.locator("#ablation-compare textarea").fill("One.\nTwo <img src=x onerror=alert(1)>")
    expect(page.locator("#ablation-similar tbody tr")).to_have_count(2)
    page.locator("#attention-ablation-saliency > button").click()
    page.locator("#ablation-output input").click()
    page.get_by_role("option").nth(1).click()
    expect(page.locator("#ablation-explained caption")).to_contain_text("Two <img")
    expect(page.locator("#ablation-explained tbody tr")).to_have_count(10)
    expect(page.locator("#ablation-agreed")).to_contain_text("Spearman")
    assert page.locator("#ablation-explained img, #ablation-similar img").count() == 0
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate(ELSEWHERE) == []
    page.set_viewport_size({"width": 1280, "height": 800})


def two_at_once(page: Page, bundled: LoadedModel) -> None:
    """Opened by its link, what a reader changes, and what can't be had."""
    left, right = (RunCache().get(bundled, text) for text in (TEXT, TEXT.replace("old", "young")))
    page.locator("#attention-compare-button").click()
    said = page.locator(".compare-said.block")
    expect(said).to_contain_text("Layer 3, head 6.")

    # the bar's sentence, one word changed: the word beside the one it was, and plain subtraction
    unfold(page.locator("#attention-compare-controls"))
    page.get_by_role("button", name="Copy the first sentence").click()
    expect(said).to_contain_text("no weight differs")
    page.locator("#compare-text textarea").fill(TEXT.replace("old", "young"))
    expect(page.locator("#compare-difference")).to_contain_text("old → young")
    data = page.evaluate(PLOT.format("difference"))
    assert data["zmin"] == -data["zmax"]
    expected = right.attentions[2, 5] - left.attentions[2, 5]
    np.testing.assert_allclose(
        page.evaluate(f"Array.from({PLOT.format('difference')}.z, row => [...row])"), expected, atol=6e-5
    )

    # by contribution, the shares of the norms; and back to the weights
    page.locator("#compare-measure").get_by_text("contribution").click()
    expect(said).to_contain_text("by contribution")
    page.wait_for_url(re.compile("compare_measure=contribution"))
    page.locator("#compare-measure").get_by_text("attention weight").click()
    expect(said).not_to_contain_text("by contribution")

    # the head that differs most opens at a press, and stands in the menus and in the link
    first = page.locator("button.compare-pick").first
    layer, head = (part.split(" ")[1] for part in first.inner_text().split(":")[0].split(", "))
    first.click()
    expect(said).to_contain_text(f"Layer {layer}, head {head}.")
    expect(page.locator("#compare-layer input")).to_have_value(f"layer {layer}")
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("compare_layer") == [str(int(layer) - 1)])

    # no hub in reach: one sentence, and what is on the page stays; the way to a fine-tune is told
    page.locator("#compare-mode").get_by_text("Two models").click()
    status = page.locator("#compare-status")
    expect(status).to_contain_text("Choose the second model.")
    expect(page.locator("#compare-text")).to_have_count(0)
    page.locator("#compare-model input").click()
    page.get_by_role("option", name="BERT tiny, uncased").click()
    expect(status).to_contain_text("could not be downloaded")
    expect(said).to_contain_text(f"Layer {layer}, head {head}.")
    page.locator("#compare-mode").get_by_text("Before and after").click()
    expect(status).to_contain_text("Fine-tune lesson")

    # three pictures side by side on a big screen, one below the other, the difference first, on a phone
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.wait_for_function(
        f"{CORNERS}.every(([x, y], at, all) => !at || (all[at - 1][0] < x && Math.abs(all[at - 1][1] - y) < 2))"
    )
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(
        f"(([[x, left], [x2, right], [x3, difference]]) => difference < left && left < right"
        f" && Math.abs(x - x2) < 2 && Math.abs(x2 - x3) < 2)({CORNERS})"
    )


def many_heads_as_one(page: Page) -> None:
    """The worked example, the controls that count, the sums, and the link."""
    page.locator("#attention-rollout-button").click()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.locator("#bar-text textarea").fill("The unflappable banker smiled.")
    page.locator("#bar-pair textarea").fill("Nobody noticed it.")
    said, one = page.locator("#rollout-said"), page.locator("#rollout-row")
    expect(said).to_contain_text("Attention rollout through layers 1 to 2")
    expect(said).to_contain_text("every row sums to 1")
    expect(page.locator("#rollout-heatmap .heatmaplayer image")).to_have_count(1)
    expect(page.locator("#rollout-heatmap .barlayer .bartext")).to_have_count(12)  # 7 words of A, 5 of B
    expect(one).to_contain_text("Composition of banker (token 6) after layer 2, by rollout")
    expect(page.locator("#rollout-head")).to_have_count(0)
    expect(one).to_contain_text("assumed residual share 0.50")
    page.locator("#rollout-share").get_by_text("measured").click()
    expect(said).to_contain_text("residual share measured for each token")
    expect(page.locator("#rollout-residual")).to_have_count(0)
    page.wait_for_url(re.compile("join_share=measured"))

    unfold(page.locator("#attention-rollout-controls"))
    page.locator("#rollout-specials").get_by_text("hidden", exact=True).click()
    expect(said).to_contain_text(re.compile(r"\[CLS\] and \[SEP\] hidden, not renormalized: rows sum to 0\.\d\d on"))
    expect(page.locator("#rollout-heatmap .barlayer .bartext")).to_have_count(9)
    page.locator("#rollout-quarter").get_by_text("A → B").click()
    expect(said).to_contain_text("only from sentence A to sentence B")
    page.locator("#rollout-what input").click()
    page.get_by_role("option", name="maximum over the layers").click()
    expect(said).to_contain_text("The largest weight of head 3 over the 6 layers")
    expect(said).to_contain_text("not a distribution")
    expect(page.locator("#rollout-head")).to_be_visible()
    expect(page.locator("#rollout-layer")).to_have_count(0)
    expect(one).to_contain_text("Attention from banker (token 6)")
    page.wait_for_url(re.compile("part=rollout.*join=layers-max.*specials=hide.*quarter=A-B"))
    dark = page.evaluate("insideBert.looks.dark(true)")
    assert dark
    ink = page.locator("#rollout-heatmap .bartext").first.evaluate("text => getComputedStyle(text).fill")
    assert ink == "rgb(236, 234, 228)"  # the dark page's ink
