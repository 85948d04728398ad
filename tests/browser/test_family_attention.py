"""Attention of several models in a real browser: three kinds are three pictures, and the link keeps the choice."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from playwright.sync_api import Frame, Page, expect

from demos.bert.family.attentions import of_our_translator
from demos.bert.family.members import AGREEMENT
from demos.bert.translation.transformer_places import CROSS, DECODER, ENCODER
from tests.browser.bertviz import opacities, visible
from tests.browser.events import Asked

FRAME = "#family-bertviz iframe"
OTHER = "the small dogs sleep behind the green school"


def frame_of(page: Page, rows: int, columns: int) -> Frame:
    """bertviz's frame once it has so many tokens on the left and on the right."""
    frame = page.query_selector(FRAME).content_frame()  # type: ignore[union-attr]
    assert frame is not None
    frame.wait_for_function(
        "([m, n]) => document.querySelectorAll('#left text').length === m"
        " && document.querySelectorAll('#right text').length === n",
        arg=[rows, columns],
    )
    return frame


def test_three_kinds_are_three_pictures(page: Page, open_lesson: Callable[..., Page]) -> None:
    asked = Asked(page)
    open_lesson("family", part="attention")
    page.wait_for_selector(f"{FRAME}[data-drawn]")
    kinds = of_our_translator(AGREEMENT).kinds
    for kind, title in ((CROSS, "Cross"), (DECODER, "Decoder"), (ENCODER, "Encoder")):
        page.locator("#family-attention-kind label", has_text=title).click()
        weights = kinds[kind].weights
        frame = frame_of(page, *weights.shape[2:])
        np.testing.assert_allclose(opacities(frame), visible(weights[1]) / 4**0.25, atol=0.005)
    assert "attention=encoder" in page.url

    frame.locator("#layer").select_option("0")  # bertviz's own menu, and its squares
    expect(page).to_have_url(re.compile("layer=0"))  # at once; the layer's weights come later
    asked.since_last()
    expect(page.locator("#family-attention-said")).to_contain_text("There is no mask")
    frame.locator("#all-heads").click()
    drawn = opacities(frame)
    first = kinds[ENCODER].weights[0, 0]
    np.testing.assert_allclose(drawn[0], visible(first), atol=0.005)
    assert not np.nansum(drawn[1:])

    page.locator("#family-attention-text textarea").fill("the zebra sleeps")
    expect(page.locator("#lesson-family .notice", has_text="“zebra” is not among")).to_be_visible()
    page.locator("#family-attention-text textarea").fill(OTHER)
    n = of_our_translator(OTHER).kinds[ENCODER].weights.shape[-1]
    frame_of(page, n, n)
    page.reload()
    page.wait_for_selector(f"{FRAME}[data-drawn]")
    frame_of(page, n, n)
    expect(page.locator("#family-attention-kind input:checked")).to_have_value(ENCODER)
