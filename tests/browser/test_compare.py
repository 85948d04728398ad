"""Two at once in real Chromium, the network cut: opened by its link, what a reader changes, and what can't be had."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import Page, expect

from demos.bert.models import LoadedModel
from demos.bert.run import RunCache

TEXT = "The old miller counted his sacks."
PLOT = "document.querySelector('#compare-{} .js-plotly-plot')._fullData[0]"


def test_two_at_once(open_lesson: Callable[..., Page], bundled: LoadedModel) -> None:
    left, right = (RunCache().get(bundled, text) for text in (TEXT, TEXT.replace("old", "young")))
    page = open_lesson("attention", part="compare", text=TEXT, compare_text="x", compare_layer="2", compare_head="5")
    said = page.locator(".compare-said.block")
    expect(said).to_contain_text("Layer 2, head 5.")

    # the bar's sentence, one word changed: the word beside the one it was, and plain subtraction
    page.get_by_role("button", name="Copy from the bar").click()
    expect(said).to_contain_text("no weight differs")
    page.locator("#compare-text textarea").fill(TEXT.replace("old", "young"))
    expect(page.locator("#compare-difference")).to_contain_text("old → young")
    data = page.evaluate(PLOT.format("difference"))
    assert data["zmin"] == -data["zmax"]
    expected = right.attentions[2, 5] - left.attentions[2, 5]
    np.testing.assert_allclose(
        page.evaluate(f"Array.from({PLOT.format('difference')}.z, row => [...row])"), expected, atol=6e-5
    )

    # the head that differs most opens at a press, and stands in the menus and in the link
    first = page.locator("button.compare-pick").first
    layer, head = (part.split(" ")[1] for part in first.inner_text().split(":")[0].split(", "))
    first.click()
    expect(said).to_contain_text(f"Layer {layer}, head {head}.")
    expect(page.locator("#compare-layer input")).to_have_value(f"layer {layer}")
    page.wait_for_url(lambda url: parse_qs(urlsplit(url).query).get("compare_layer") == [layer])

    # no hub in reach: one sentence, and what is on the page stays; the way to a fine-tune is told
    page.locator("#compare-mode").get_by_text("Two models").click()
    status = page.locator("#compare-status")
    expect(status).to_contain_text("Choose the second model.")
    expect(page.locator("#compare-text")).to_have_count(0)
    page.locator("#compare-model input").click()
    page.get_by_role("option", name="BERT tiny, uncased").click()
    expect(status).to_contain_text("could not be fetched")
    expect(said).to_contain_text(f"Layer {layer}, head {head}.")
    page.locator("#compare-mode").get_by_text("Before and after").click()
    expect(status).to_contain_text("Fine-tune tab")

    # three pictures side by side on a big screen, one below the other, the difference first, on a phone
    def corners() -> list[tuple[float, float]]:
        boxes = [page.locator(f"#compare-{side}").bounding_box() for side in ("left", "right", "difference")]
        return [(box["x"], box["y"]) for box in boxes if box]

    page.set_viewport_size({"width": 1920, "height": 1080})
    (x1, y1), (x2, y2), (x3, y3) = corners()
    assert x1 < x2 < x3
    assert abs(y1 - y2) < 2 > abs(y2 - y3)
    page.set_viewport_size({"width": 390, "height": 844})
    (x1, y1), (x2, y2), (x3, y3) = corners()
    assert y3 < y1 < y2
    assert abs(x1 - x2) < 2 > abs(x2 - x3)
