"""Matrices: self-attention for all tokens at once, all heads, and two tokens through one feed-forward network."""

from __future__ import annotations

from functools import partial
from typing import Any

import gradio as gr

from demos.bert.encoder.layer_trace import layer_ledger
from demos.bert.encoder.row_replaced import replace_row
from demos.lessons.encoder.matrices.figure import (
    View,
    attention_board,
    attention_summary,
    feed_forward_picture,
    shapes_table,
)
from demos.lessons.encoder.program_layer import matrices_code
from demos.page.folds import folds
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.matrix_picture.matrix_picture import matrix_picture
from demos.widgets.number_strips.number_strips import cells_picture
from demos.widgets.token_picker.token_picker import pick


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    parts: dict[str, gr.Component] = {
        "board": matrix_picture("encoder-matrices-board", elem_classes="picture"),
        "said": gr.HTML("", elem_classes="encoder-told"),
        "pair": cells_picture("encoder-matrices-pair", "encoder-token", elem_classes="encoder-told"),
    }
    parts["numbers"], parts["program"] = folds(__file__, "Prints every shape, and the difference from the model's T1")
    choices = [page.choices[name] for name in ("token", "layer", "head")]
    show = by_component(parts, partial(drawn, page.services))
    page.draw(show, choices, list(parts.values()), show_progress="hidden")


def drawn(services: Services, sentence: Sentence, token: float, layer: float, head: float) -> dict[str, Any]:
    """The new values by component. A token, layer or head beyond this sentence's or model's becomes its last one."""
    run, loaded = services.run(sentence), services.loaded(sentence.model)
    ledger = layer_ledger(loaded, run, clamp(layer, run.num_layers))
    view = View(ledger, run.encoding, clamp(head, run.num_heads), pick(run.encoding, token))
    return {
        "board": attention_board(view),
        "said": attention_summary(view),
        "pair": feed_forward_picture(view, replace_row(ledger, view.row, view.key)),
        "numbers": lambda: shapes_table(view),
        "program": lambda: matrices_code(loaded.spec, run.encoding, ledger.layer, view.head),
    }


PART = Part(
    tab="Matrices",
    look=(
        "A program does not go from token to token: a few matrix products compute self-attention for all of them at "
        "once. Point at a row or a column and follow it from matrix to matrix."
    ),
    build=build,
    order=4,
)
