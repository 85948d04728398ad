"""Inside the encoder in real Chromium: the figures on the page hold the model's own numbers, part by part."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from playwright.sync_api import Page, expect

from demos.bert.inputs import add_up, embedding_tables
from demos.bert.models import LoadedModel
from demos.bert.run import RunCache
from demos.bert.stack import paths

TEXT = "The robot sat down."
Open = Callable[..., Page]
# Whether row `at` of the heatmap in `block` (or the thick path there) lies within `off` of what is expected.
HEAT = """([block, at, expected, off]) => {
    const data = document.querySelector(block + ' .js-plotly-plot')?._fullData;
    const row = data?.[0]?.z?.[at];
    return row?.length === expected.length && expected.every((value, i) => Math.abs(value - row[i]) <= off);
}"""
PATH = """([block, x, y, off]) => {
    const data = document.querySelector(block + ' .js-plotly-plot')?._fullData;
    const own = data?.find(trace => trace.line.width === 4);
    return own?.x.length === x.length && x.every((value, i) => Math.abs(value - own.x[i]) <= off)
        && y.every((value, i) => Math.abs(value - own.y[i]) <= off);
}"""


def holds(page: Page, block: str, row: int, expected: np.ndarray, off: float) -> None:
    """Wait until this row of a heatmap, as the browser holds it, is what is expected; fails where it never is."""
    page.wait_for_function(HEAT, arg=[block, row, expected.astype(float).tolist(), off])


def test_input_position_and_stack(open_lesson: Open, bundled: LoadedModel) -> None:
    run = RunCache().get(bundled, TEXT)
    ledger = add_up(embedding_tables(bundled.model), run.encoding)
    page = open_lesson("encoder", text=TEXT, part="input", token=2)
    told = page.locator("#encoder-input")
    expect(told).to_contain_text("robot (token 2) is number 8,957 of 30,522")
    holds(page, "#encoder-input-norm", 3, run.hidden_states[0, 2], 1e-5)

    page.locator('.pick[data-token="3"]').click()
    expect(told).to_contain_text("sat (token 3) is number")
    expect(page.locator("#encoder-input-changed")).to_contain_text("For sat (token 3)")
    holds(page, "#encoder-input-sum", 3, ledger.total[3], 1e-6)
    holds(page, "#encoder-input-changes", 3, np.ones(len(run.encoding) + 1), 1e-5)  # a bag of words

    page.get_by_role("tab", name="Position").click()
    page.locator("#encoder-position-robot").click()
    small = page.locator("#encoder-position-small td")
    expect(small).to_have_count(17)
    expect(small).to_contain_text(["0.8415", "0.5403", "0.0998", "0.9950", "0.9093", "-0.4161", "0.1987", "0.9801"])
    expect(page.locator("#encoder-position-wished")).to_contain_text("there is none for position 512")

    page.get_by_role("tab", name="The stack").click()
    expect(page.locator("#encoder-stack-told")).to_contain_text("sat (token 3): 6 layers")
    x, y = paths(run).points[:, 3].T.tolist()
    page.wait_for_function(PATH, arg=["#encoder-stack-path", x, y, 1e-4])
