"""bertviz's views in real Chromium, of other inputs: pairs, hostile text, long ones, a phone, a file of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, Page, expect

from demos.bert.attention.queries_keys import queries_and_keys
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import RunCache
from demos.lessons.attention.heads.figure_standalone import Standalone
from tests.browser.bertviz import HOSTILE, PAIR, drawn, opacities, press, visible


def test_a_pairs_quarters_and_text_that_stays_text(open_lesson: Callable[..., Page], bundled: LoadedModel) -> None:
    run = RunCache().get(bundled, HOSTILE, PAIR)
    b = run.encoding.sentence_b_start
    page = open_lesson("attention", text=HOSTILE, pair=PAIR, lines="all")
    frame = drawn(page, "head 0")
    expect(frame.locator("#left text")).to_contain_text(["[CLS]", "<", "/", "script"])
    assert frame.locator("#view img, #view script").count() == 0
    assert page.locator("#lesson-attention img").count() == 0
    press(page.get_by_role("button", name="The numbers"))
    expect(page.locator(".attention-table").first).to_contain_text("script")
    quarters = [np.s_[:, :b, :b], np.s_[:, b:, b:], np.s_[:, :b, b:], np.s_[:, b:, :b]]
    for number, quarter in enumerate(quarters, start=1):
        frame.locator("#filter").select_option(str(number))
        np.testing.assert_allclose(opacities(frame), visible(run.attentions[0][quarter]) / 12**0.25, atol=2e-3)
    assert frame.locator("#left text").all_text_contents() == list(run.encoding.tokens[b:])


def test_a_long_input_is_cut_and_a_phone_scrolls_one_way(page: Page, open_lesson: Callable[..., Page]) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_lesson("attention", text="sand " * 200)
    caption = page.locator("#attention-frame .attention-caption.block")
    frame = drawn(page, "head 0")
    expect(frame.locator("#left text")).to_have_count(128)
    expect(caption).to_contain_text("Only the first 128 of 202 tokens")
    page.locator("#attention-heatmap").scroll_into_view_if_needed()
    expect(page.locator("#attention-heatmap .heatmaplayer image")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    press(page.locator("#attention-view").get_by_text("Neuron view"))
    drawn(page, "neuron 0")
    expect(frame.locator("#collapsed #leftText text")).to_have_count(64)
    expect(caption).to_contain_text("Only the first 64 of 202 tokens")
    press(page.locator("#attention-view").get_by_text("Model view"))
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
    file.write_text(Standalone(run, "head", 1, 4, vectors, "MiniLM <i>", "all").html(), encoding="utf-8")
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
    page.locator("#layer").select_option(index=5)
    np.testing.assert_allclose(opacities(page), visible(run.attentions[5]) / 12**0.25, atol=2e-3)
    page.get_by_role("button", name="Neuron view").click()
    expect(page.locator("#layer")).to_have_value("5")
    page.locator("#collapsed #leftText g").nth(1).hover()
    page.get_by_role("button", name="Model view").click()
    expect(page.locator(".attn_background")).to_have_count(72)
    expect(page.locator("#attn_background_0_3 ~ g line").first).to_be_attached()
    assert (asked, faults) == ([file.as_uri()], [])
    context.close()
