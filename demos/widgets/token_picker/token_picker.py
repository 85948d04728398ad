"""The token picker: the sentence's tokens as chips, one of them chosen, with the mouse or the arrow keys."""

from __future__ import annotations

from typing import Any

import gradio as gr

from demos.bert.model.encoding import Encoding
from demos.files import read_beside
from demos.page.lesson import IN_BROWSER
from demos.widgets.scripted.scripted import scripted
from demos.widgets.token_picker.figure import PICKED_AMONG

SCRIPT = read_beside(__file__, "script.js")  # for any radio group of elements with `data-token`


def token_picker(label: str, elem_id: str, value: int = 1) -> tuple[gr.HTML, gr.Number]:
    """(what one sees, which `picker_html` fills; the chosen token's number, which a lesson reads and keeps).

    A click or an arrow key on a chip changes the number.
    """
    index = gr.Number(value, precision=0, minimum=0, maximum=PICKED_AMONG - 1, visible="hidden")
    chips = scripted(SCRIPT, elem_id, elem_classes="token-picker", label=label)
    chips.select(None, None, [index], js=f"() => insideBert.picked[{elem_id!r}]()", **IN_BROWSER)
    return chips, index


def pick(encoding: Encoding, index: Any) -> int:
    """`index` as a token of this sentence: what lies beyond its end means its last token that is not special."""
    last = min(len(encoding), PICKED_AMONG) - 1
    at = int(index or 0)
    if 0 <= at <= last:
        return at
    own = [number for number in range(last + 1) if not encoding.special_tokens_mask[number]]
    return own[-1] if own else last
