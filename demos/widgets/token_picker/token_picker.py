"""The token picker: the sentence's tokens as chips, one of them chosen, with the mouse or the arrow keys."""

from typing import Any

import gradio as gr

from demos.bert.model.encoding import Encoding
from demos.files import read_beside
from demos.page.lesson import IN_BROWSER
from demos.page.view import Control, On, choice
from demos.widgets.scripted.scripted import scripted
from demos.widgets.token_picker.figure import PICKED_AMONG

SCRIPT = read_beside(__file__, "script.js")  # for any radio group of elements with `data-token`


def token_picker(label: str, elem_id: str, value: int = 1, *, link: str = "") -> tuple[gr.HTML, gr.Number]:
    """(what one sees, which `picker_html` fills; the chosen token's number, which a lesson reads and keeps).

    A click or an arrow key on a chip changes the number. `link` is its name there, where the browser alone sets it.
    """
    index = _index(value)
    return picker_of(index, label, elem_id, link=link), index


def picker_of(index: gr.Component, label: str, elem_id: str, *, link: str = "") -> gr.HTML:
    """The visible part of a picker whose choice `index` holds."""
    chips = scripted(SCRIPT, elem_id, elem_classes="token-picker", label=label, link=link)
    chips.select(None, None, [index], js=f"() => insideBert.picked[{elem_id!r}]()", **IN_BROWSER)
    return chips


def token_choice(value: int) -> Any:
    """A view's choice of a token, by its place in the sentence; a place beyond its end is handled as in `pick`."""

    def last(on: On, _: Any) -> int:
        return min(len(on.encoding), PICKED_AMONG) - 1

    return choice(value, Control(lambda _: _index(value), lambda on, said: pick(on.encoding, said), last))


def _index(value: int) -> gr.Number:
    return gr.Number(value, precision=0, minimum=0, maximum=PICKED_AMONG - 1, visible="hidden")


def pick(encoding: Encoding, index: Any) -> int:
    """`index` as a token of this sentence: a place beyond its end means its last token that is not special."""
    last = min(len(encoding), PICKED_AMONG) - 1
    at = int(index or 0)
    if 0 <= at <= last:
        return at
    own = [number for number in range(last + 1) if not encoding.special_tokens_mask[number]]
    return own[-1] if own else last
