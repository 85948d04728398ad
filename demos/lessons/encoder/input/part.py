"""Input: from a token's id to the input vector of the first layer, and the effect of leaving a part out."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import gradio as gr

from demos.bert.encoder.input import add_up, embedding_tables, select
from demos.bert.encoder.input_changed import Changes, change_input
from demos.figures.strips import strips_figure
from demos.lessons.encoder.input.figure import changes_figure, norm_strips, one_hot_board, selection_strips, sum_strips
from demos.lessons.encoder.input.text import (
    TEXT,
    changes_summary,
    changes_table,
    norm_summary,
    numbers_html,
    one_hot_summary,
    selection_summary,
    sum_summary,
)
from demos.lessons.encoder.program_input import input_code
from demos.page.folds import code_fold, fold, formula_fold, source_fold
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.widgets.matrix_picture.matrix_picture import matrix_picture
from demos.widgets.token_picker.token_picker import pick

MAX_CHANGED = 128  # tokens; four passes of more would hold up everyone else
ORDERS = 50  # orders to choose from
MAX_CACHED = 64  # inputs whose changes are remembered, a few kilobytes each


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    steps: dict[str, gr.Component] = {}
    changed: dict[str, gr.Component] = {}
    with gr.Row(elem_classes="encoder-steps"):
        with gr.Column(elem_classes="encoder-half", min_width=320):
            for name, label in (
                ("row", "One row of the embedding matrix"),
                ("sum", "The sum of the embeddings"),
                ("norm", "LayerNorm of the sum"),
            ):
                steps[name], steps[f"{name}_said"] = _plot(name, label), gr.HTML("", elem_classes="encoder-told")
        with gr.Column(elem_classes="encoder-half", min_width=320):
            steps["one_hot"] = matrix_picture("encoder-input-one-hot")
            steps["one_hot_said"] = gr.HTML("", elem_classes="encoder-told")
            gr.HTML("<h3>What happens when a part is missing?</h3>", elem_classes="encoder-told")
            changed["plot"] = _plot("changes", "Change of each vector without a part")
            order = gr.Slider(1, ORDERS, 1, step=1, label="Shuffle again", elem_id="encoder-input-order")
            changed["said"] = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-input-changed")
    with fold(__file__, "numbers", "The numbers"):
        steps["table"], changed["table"] = gr.HTML(""), gr.HTML("")
    formula_fold(__file__)
    steps["program"] = code_fold(__file__, "Prints this token's input to layer 1, step by step")
    source_fold(__file__)
    page.keep(order=order)

    @lru_cache(maxsize=MAX_CACHED)
    def changes_of(sentence: Sentence, seed: int) -> Changes:
        return computed_changes(page.services, sentence, seed)

    def changes(sentence: Sentence, token: float, seed: float) -> dict[str, Any]:
        n = len(page.services.run(sentence).encoding)
        if n > MAX_CHANGED:
            return {"plot": None, "said": TEXT.too_long(n, MAX_CHANGED), "table": ""}
        return shown_changes(page.services, sentence, token, changes_of(sentence, clamp(seed, ORDERS + 1) or 1))

    token = page.choices["token"]
    for parts, show, inputs in (
        (steps, partial(shown_steps, page.services), [token]),
        (changed, changes, [token, order]),
    ):
        page.draw(by_component(parts, show), inputs, list(parts.values()), show_progress="hidden")


def computed_changes(services: Services, sentence: Sentence, seed: int) -> Changes:
    """The four changes of this sentence: one pass of a batch."""
    loaded, run = services.loaded(sentence.model), services.run(sentence)
    tables = embedding_tables(loaded.model)
    return change_input(loaded, run, tables, add_up(tables, run.encoding), seed)


def shown_steps(services: Services, sentence: Sentence, token: float) -> dict[str, Any]:
    """Steps 1 to 3, the numbers and the code, of one token; one beyond the sentence becomes its last word piece."""
    loaded, run = services.loaded(sentence.model), services.run(sentence)
    encoding, at = run.encoding, pick(run.encoding, token)
    tables = embedding_tables(loaded.model)
    ledger, selection = add_up(tables, encoding), select(tables, encoding.input_ids[at])
    pieces = loaded.tokenizer.convert_ids_to_tokens(list(selection.neighbours))
    row, total, norm = selection_strips(selection, pieces), sum_strips(ledger, encoding, at), norm_strips(ledger, at)
    return {
        "row_said": selection_summary(selection, encoding, at),
        "row": strips_figure(row),
        "one_hot": one_hot_board(ledger, encoding, selection.vocabulary, at),
        "one_hot_said": one_hot_summary(encoding, selection.vocabulary),
        "sum_said": sum_summary(ledger, at, loaded.spec),
        "sum": strips_figure(total),  # on one scale: longer vectors are the stronger ones
        "norm_said": norm_summary(ledger, run.hidden_states[0], at),
        "norm": strips_figure(norm),
        "table": lambda: numbers_html([*row, *total, *norm], ledger, encoding),
        "program": lambda: input_code(loaded.spec, encoding, at),
    }


def shown_changes(services: Services, sentence: Sentence, token: float, changes: Changes) -> dict[str, Any]:
    """The changes' picture, words and table."""
    spec, encoding = services.loaded(sentence.model).spec, services.run(sentence).encoding
    at = pick(encoding, token)
    return {
        "plot": changes_figure(changes, encoding, at),
        "said": changes_summary(changes, encoding, at, spec),
        "table": lambda: changes_table(changes, encoding),
    }


def _plot(name: str, label: str) -> gr.Plot:
    with gr.Column(elem_classes=["attention-heatmap", "picture"], elem_id=f"encoder-input-{name}"):
        return gr.Plot(label=label, show_label=False)


PART = Part(
    tab="Input",
    look=(
        "A token enters the model as a number, its id. The id selects one row of the embedding matrix. A vector for "
        "the segment and one for the position are added, and LayerNorm normalizes the sum."
    ),
    build=build,
    order=1,
)
