"""Input: from a token's id to the input vector of the first layer, and the effect of leaving a part out."""

from dataclasses import dataclass
from functools import lru_cache

import gradio as gr
import numpy as np

from demos.bert.encoder.input import add_up, embedding_tables, input_states, select
from demos.bert.encoder.input_changed import Changes, change_input
from demos.bert.model.encoding import check_length, encode
from demos.errors import UserError
from demos.figures.strips import strips_figure
from demos.lessons.encoder.choices import OfToken
from demos.lessons.encoder.input.figure import (
    TEXT,
    changes_figure,
    changes_summary,
    changes_table,
    norm_strips,
    norm_summary,
    numbers_html,
    one_hot_board,
    one_hot_summary,
    selection_strips,
    sum_strips,
    sum_summary,
)
from demos.lessons.encoder.program_input import input_code
from demos.page.guards import notice_html
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, slider
from demos.widgets.matrix_picture.matrix_picture import matrix_picture
from demos.widgets.token_picker.token_picker import pick

MAX_CHANGED = 128  # tokens; four passes of more would hold up everyone else
ORDERS = 50  # orders to choose from
MAX_CACHED = 64  # inputs whose changes are remembered, a few kilobytes each


class Input(View):
    tab, order = "Input", 1
    look = (
        "A token enters the model as a number, its id. The id selects one row of the embedding matrix. A vector for "
        "the segment and one for the position are added, and LayerNorm normalizes the sum."
    )

    @dataclass(frozen=True)
    class Choices(OfToken):
        order: int = slider(1, ORDERS, 1, "Shuffle again", elem_id="encoder-input-order")

    def lay_out(self, at: Layout) -> None:
        with gr.Row(elem_classes="encoder-steps"):
            with gr.Column(elem_classes="encoder-half", min_width=320):
                for name, label in (
                    ("row", "One row of the embedding matrix"),
                    ("sum", "The sum of the embeddings"),
                    ("norm", "LayerNorm of the sum"),
                ):
                    at[name] = _plot(name, label, "strips")
                    at[f"{name}_said"] = gr.HTML("", elem_classes="encoder-told")
            with gr.Column(elem_classes="encoder-half", min_width=320):
                at["one_hot"] = matrix_picture("encoder-input-one-hot")
                at["one_hot_said"] = gr.HTML("", elem_classes="encoder-told")
                gr.HTML("<h3>What happens when a part is missing?</h3>", elem_classes="encoder-told")
                at["plot"] = _plot("changes", "Change of each vector without a part")
                at.control("order")
                at["said"] = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-input-changed")
        at.folds("Prints this token's input to layer 1, step by step", numbers=["numbers", "changed_numbers"])

    @drawn(by=("token",))
    def draw(self, on: On, c: Choices) -> Shown:
        """Steps 1 to 3, the numbers and the code."""
        tables, encoding = embedding_tables(on.loaded.model), on.encoding
        ledger, selection = add_up(tables, encoding), select(tables, encoding.input_ids[c.token])
        pieces = on.loaded.tokenizer.convert_ids_to_tokens(list(selection.neighbours))
        row, total = selection_strips(selection, pieces), sum_strips(ledger, encoding, c.token)
        norm = norm_strips(ledger, c.token)
        return {
            "row_said": TEXT.selection(selection, encoding.tokens[c.token], c.token),
            "row": strips_figure(row),
            "one_hot": one_hot_board(ledger, encoding, selection.vocabulary, c.token),
            "one_hot_said": one_hot_summary(encoding, selection.vocabulary),
            "sum_said": sum_summary(ledger, c.token, on.loaded.spec),
            "sum": strips_figure(total),  # on one scale: longer vectors are the stronger ones
            "norm_said": norm_summary(ledger, input_states(on.loaded, encoding), c.token),
            "norm": strips_figure(norm),
            "numbers": lambda: numbers_html([*row, *total, *norm], ledger, encoding),
            "program": lambda: input_code(on.loaded.spec, encoding, c.token),
        }

    @drawn("plot", "said", "changed_numbers", by=("token", "order"))
    def draw_changes(self, on: On, c: Choices) -> Shown:
        """The changes of all vectors where a part is left out."""
        try:
            check_length(on.encoding, MAX_CHANGED)
        except UserError as error:
            return {"plot": None, "said": notice_html(str(error)), "changed_numbers": ""}
        changes = changes_of(on.services, on.sentence, c.order)
        return {
            "plot": changes_figure(changes, on.encoding, c.token),
            "said": changes_summary(changes, on.encoding, c.token, on.loaded.spec),
            "changed_numbers": lambda: changes_table(changes, on.encoding),
        }


@lru_cache(maxsize=MAX_CACHED)
def changes_of(services: Services, sentence: Sentence, seed: int) -> Changes:
    """The four changes of this sentence: one pass of a batch."""
    on = On(services, sentence)
    tables = embedding_tables(on.loaded.model)
    return change_input(on.loaded, on.encoding, tables, add_up(tables, on.encoding), seed)


def _plot(name: str, label: str, *kinds: str) -> gr.Plot:
    with gr.Column(elem_classes=["attention-heatmap", "picture", *kinds], elem_id=f"encoder-input-{name}"):
        return gr.Plot(label=label, show_label=False)


def answer(services: Services, sentence: Sentence, token: float) -> Answer:
    """The lengths of the three vectors of one token; a model without segments has a zero there."""
    loaded = services.loaded(sentence.model)
    encoding = encode(loaded.tokenizer, sentence.text, sentence.text_pair)
    ledger, at = add_up(embedding_tables(loaded.model), encoding), pick(encoding, token)
    vectors = {"word": ledger.word, "position": ledger.position, "segment": ledger.segment}
    lengths = {name: 0.0 if rows is None else float(np.linalg.norm(rows[at])) for name, rows in vectors.items()}
    return Answer(facts={"token": at, "piece": encoding.tokens[at], **lengths})
