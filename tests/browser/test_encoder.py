"""Inside the encoder in real Chromium: the figures hold the model's own numbers, under the pointer too."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Locator, Page, expect

from demos.bert.encoder.input import add_up, embedding_tables
from demos.bert.encoder.layer_trace import LayerLedger, layer_ledger
from demos.bert.encoder.residual_stream import paths
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, RunCache

SHORT = "The robot sat down."
TEXT = "The banker sat on the bank <b> of the river."
Open = Callable[..., Page]

# Whether row `at` of the heatmap in `block` (or the thick path there) lies within `off` of what is expected.
HEAT = """([block, at, expected, off]) => {
    const data = document.querySelector(block + ' .js-plotly-plot')?._fullData;
    const row = data?.[0]?.z?.[at];
    return row?.length === expected.length && expected.every((value, i) => Math.abs(value - row[i]) <= off);
}"""
PATH = """([block, x, y, off]) => {
    const data = document.querySelector(block + ' .js-plotly-plot')?._fullData;
    const own = data?.find(trace => trace.line?.width === 4);
    return own?.x.length === x.length && x.every((value, i) => Math.abs(value - own.x[i]) <= off)
        && y.every((value, i) => Math.abs(value - own.y[i]) <= off);
}"""

# What is written in the figures of a block, and whether the first of them was drawn for a width.
WRITTEN = "(block) => [...document.querySelectorAll(`${block} .main-svg text`)].map((one) => one.textContent)"
WIDTH = "([block, width]) => Math.abs(document.querySelector(`${block} .js-plotly-plot`)._fullLayout.width - width) < 2"


def number(written: str | None) -> float:
    return float((written or "nan").replace("−", "-"))


def weights(board: Locator) -> np.ndarray:
    return np.array(board.locator("tbody [data-weight]").evaluate_all("found => found.map(one => +one.dataset.weight)"))


def point(page: Page, strip: Locator, at: int) -> None:
    """Put the pointer on the strip's number `at`."""
    strip.scroll_into_view_if_needed()
    box = strip.bounding_box()
    assert box
    count = strip.evaluate("one => one.numbers.length")
    page.mouse.move(box["x"] + box["width"] * (at + 0.5) / count, box["y"] + box["height"] / 2)


def holds(page: Page, block: str, row: int, expected: np.ndarray, off: float) -> None:
    """Wait until this row of a heatmap, as the browser holds it, is what is expected; fails where it never is."""
    page.wait_for_function(HEAT, arg=[block, row, expected.astype(float).tolist(), off])


def test_each_part_on_one_page(open_lesson: Open, bundled: LoadedModel, subtests: pytest.Subtests) -> None:
    run = RunCache().get(bundled, TEXT)
    bank = run.encoding.tokens.index("bank")
    page = open_lesson("encoder", part="selfattention", text=TEXT, token=bank, layer=0, head=4)
    expect(page.locator("#encoder-self_attention-button")).to_have_attribute("aria-selected", "true")
    page.wait_for_function("new URLSearchParams(location.search).get('part') === 'self_attention'")  # was its name
    with subtests.test("self-attention and the block"):
        self_attention_and_the_block(page, bundled)
    with subtests.test("input, position and stack"):
        input_position_and_stack(page, bundled)


def self_attention_and_the_block(page: Page, bundled: LoadedModel) -> None:
    run = RunCache().get(bundled, TEXT)
    bank, river = run.encoding.tokens.index("bank"), run.encoding.tokens.index("river")
    board = page.locator("#encoder-board")
    expect(board.locator("caption")).to_contain_text(f"bank (token {bank}) to each token, in layer 1, head 5")
    ledger = layer_ledger(bundled, run, 0)
    np.testing.assert_allclose(weights(board), ledger.attention.weights[4, bank], atol=1e-5)
    expect(page.locator("#encoder-closed")).to_contain_text("the results match")
    expect(page.locator("#encoder-concat .shares tbody tr")).to_have_count(13)  # twelve heads and the bias
    assert board.locator("caption b, .key b").all_text_contents() == ["bank"]  # <b> was typed, not made

    # a number under the pointer, and its product with the query's
    tip = page.locator("body > .cells-tip")
    point(page, board.locator('.cells[data-name="k of river"]'), 9)
    expect(tip).to_contain_text("k of river, component 9:")
    key, query, product = (number(part) for part in re.findall(r"[:= qk] ?(−?\d+\.\d{4})", tip.inner_text()))
    assert (key, query) == (
        round(float(ledger.attention.key[4, river, 9]), 4),
        round(float(ledger.attention.query[4, bank, 9]), 4),
    )
    assert abs(product - key * query) < 1e-3

    # the same by keyboard: one stop for Tab, arrows along the numbers and among the strips
    tip.evaluate("(tip) => (tip.hidden = true)")
    assert board.locator('[tabindex="0"]').count() == 1
    key_strip = board.locator('.cells[data-name="k of river"]')
    key_strip.focus()
    page.keyboard.press("Home")
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    expect(tip).to_contain_text("k of river, component 9:")
    expect(key_strip).to_have_attribute("aria-valuetext", tip.inner_text())
    page.keyboard.press("ArrowUp")
    expect(board.locator('.cells[data-name="k of the"]').last).to_be_focused()
    expect(tip).to_contain_text("k of the, component 9:")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowLeft")
    expect(board.locator("button[data-token]").nth(river - 1)).to_be_focused()
    page.keyboard.press("Enter")  # becomes the query, and what was redrawn has the focus still
    expect(board.locator("caption")).to_contain_text(f"the (token {river - 1})")
    expect(board.locator("button[data-token]").nth(river - 1)).to_be_focused()
    assert board.locator('[tabindex="0"]').count() == 1
    expect(tip).to_be_hidden()

    # a key is clicked and becomes the query; a decoder's mask; padding
    board.locator(f'button[data-token="{river}"]').click()
    expect(board.locator("caption")).to_contain_text(f"river (token {river})")
    expect(page.locator("#encoder-token [aria-checked=true]")).to_contain_text("river")
    page.get_by_label("Causal mask").check()
    n = len(run.encoding)
    expect(board.locator("tr.unseen")).to_have_count(n - 1 - river)
    masked = layer_ledger(bundled, run, 0, causal=True).attention
    np.testing.assert_allclose(weights(board), masked.weights[4, river], atol=1e-5)
    assert (weights(board)[river + 1 :] == 0).all()

    # the block, on the same token; one number's calculation follows the pointer, a click keeps it
    page.locator("#encoder-parts").get_by_role("tab", name="The block").click()
    picture = page.locator("#encoder-block-picture")
    expect(picture.locator("caption")).to_contain_text(f"river (token {river}) through layer 1")
    check_column(picture, ledger, run, river, 17)
    h = picture.locator('tr[data-step="h"] .cells')
    point(page, h, 200)
    expect(picture.locator(".at-number")).to_have_text("200")
    check_column(picture, ledger, run, river, 200)
    page.mouse.down()
    page.mouse.up()
    expect(page.locator("#encoder-number input[type=number]")).to_have_value("200")
    page.wait_for_url(re.compile("number=200"))
    page.mouse.move(5, 5)
    expect(picture.locator(".at-number")).to_have_text("200")
    page.locator("#encoder-layer input[type=number]").fill("4")
    page.locator("#encoder-layer input[type=number]").press("Enter")
    expect(picture.locator("caption")).to_contain_text("through layer 4")
    check_column(picture, layer_ledger(bundled, run, 3), run, river, 200)
    expect(page.locator("#encoder-block-told")).to_contain_text("the results match")


def check_column(picture: Locator, ledger: LayerLedger, run: Run, token: int, at: int) -> None:
    """The column beside the strips shows number `at` of x, T1 to T5 and H, which is the next hidden state."""
    shown = {
        key: number(picture.locator(f'tr[data-step="{key}"] .at').text_content())
        for key in ("t1", "t2", "t3", "t4", "t5", "h")
    }
    for key, value in shown.items():
        assert abs(value - float(getattr(ledger.block, key)[token, at])) < 1e-4, key
    assert abs(shown["h"] - float(run.hidden_states[ledger.layer + 1, token, at])) < 1e-4


def input_position_and_stack(page: Page, bundled: LoadedModel) -> None:
    run = RunCache().get(bundled, SHORT)
    ledger = add_up(embedding_tables(bundled.model), run.encoding)
    page.locator("#bar-text textarea").fill(SHORT)
    page.locator("#encoder-input-button").click()
    expect(page.locator('#encoder-token [data-token="2"]')).to_contain_text("robot")  # the new sentence's
    page.locator('#encoder-token [data-token="2"]').click()
    told = page.locator("#encoder-input")
    expect(told).to_contain_text("robot (token 2) has id 8,957 in a vocabulary of 30,522")
    holds(page, "#encoder-input-norm", 3, run.hidden_states[0, 2], 1e-5)

    page.locator('.pick[data-token="3"]').click()
    expect(told).to_contain_text("sat (token 3) has id")
    expect(page.locator("#encoder-input-changed")).to_contain_text("For sat (token 3)")
    holds(page, "#encoder-input-sum", 3, ledger.total[3], 1e-6)
    holds(page, "#encoder-input-changes", 3, np.ones(len(run.encoding) + 1), 1e-5)  # a bag of words

    page.get_by_role("tab", name="Position").click()
    page.locator("#encoder-position-robot").click()
    small = page.locator("#encoder-position-small td")
    expect(small).to_have_count(17)
    expect(small).to_contain_text(["0.8415", "0.5403", "0.0998", "0.9950", "0.9093", "−0.4161", "0.1987", "0.9801"])
    expect(page.locator("#encoder-position-wished")).to_contain_text("there is none for position 512")

    page.get_by_role("tab", name="The stack").click()
    expect(page.locator("#encoder-residual_stream-told")).to_contain_text("sat (token 3): over 6 layers")
    x, y = paths(run).points[:, 3].T.tolist()
    page.wait_for_function(PATH, arg=["#encoder-residual_stream-path", x, y, 1e-4])


def test_a_figure_that_changes_stays_and_is_as_if_drawn_anew(open_lesson: Open, bundled: LoadedModel) -> None:
    block, figures = "#encoder-residual_stream", "#encoder-residual_stream .js-plotly-plot"
    bank = RunCache().get(bundled, TEXT).encoding.tokens.index("bank")
    page = open_lesson("encoder", part="residual_stream", text=TEXT, token=bank)
    expect(page.locator(f"{figures} .main-svg text", has_text="6 bank")).to_have_count(1)
    anew = page.evaluate(WRITTEN, block)

    page = open_lesson("encoder", part="residual_stream", text=TEXT, token=1)
    expect(page.locator(f"{figures} .main-svg text", has_text="6 the")).to_have_count(1)
    page.locator(figures).evaluate_all("(all) => all.forEach((one) => (one.stood = true))")
    page.locator(f'#encoder-token [data-token="{bank}"]').click()
    expect(page.locator(f"{figures} .main-svg text", has_text="6 bank")).to_have_count(1)
    assert page.locator(figures).evaluate_all("(all) => all.map((one) => one.stood)") == [True, True]
    assert page.evaluate(WRITTEN, block) == anew != []

    # its block becomes narrower, and no window does
    page.locator(figures).first.evaluate("(one) => (one.style.width = '400px')")
    page.wait_for_function(WIDTH, arg=[block, 400])
