"""Matrices: self-attention for all tokens at once, all heads, and two tokens through one feed-forward network."""

import gradio as gr

from demos.bert.encoder.layer_trace import layer_ledger
from demos.bert.encoder.row_replaced import replace_row
from demos.lessons.encoder.choices import PICKER, Shared
from demos.lessons.encoder.matrices.figure import (
    Attended,
    attention_board,
    attention_summary,
    feed_forward_picture,
    shapes_table,
)
from demos.lessons.encoder.program_layer import matrices_code
from demos.page.view import Layout, On, Shown, View
from demos.widgets.matrix_picture.matrix_picture import matrix_picture
from demos.widgets.number_strips.number_strips import cells_picture


class Matrices(View):
    tab, order = "Matrices", 4
    look = (
        "A program does not go from token to token: a few matrix products compute self-attention for all of them at "
        "once. Point at a row or a column and follow it from matrix to matrix."
    )
    Choices = Shared

    def lay_out(self, at: Layout) -> None:
        at["board"] = matrix_picture("encoder-matrices-board", elem_classes="picture")
        at["said"] = gr.HTML("", elem_classes="encoder-told")
        at["pair"] = cells_picture("encoder-matrices-pair", PICKER, elem_classes="encoder-told")
        at.folds("Prints every shape, and the difference from the model's T1")

    def draw(self, on: On, c: Shared) -> Shown:
        ledger = layer_ledger(on.loaded, on.run, c.layer)
        attended = Attended(ledger, on.encoding, c.head, c.token)
        return {
            "board": attention_board(attended),
            "said": attention_summary(attended),
            "pair": feed_forward_picture(attended, replace_row(ledger, attended.row, attended.key)),
            "numbers": lambda: shapes_table(attended),
            "program": lambda: matrices_code(on.loaded.spec, on.encoding, c.layer, c.head),
        }
