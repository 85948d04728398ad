"""Input: from a token's number to the vector that the first layer reads, and what is lost when a part is missing."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import gradio as gr

from demos.bert.encoder.input import add_up, embedding_tables, select
from demos.bert.encoder.input_changed import Changes, change_input
from demos.lessons.encoder.input.figure import changes_figure, norm_figure, selection_figure, sum_figure
from demos.lessons.encoder.input.text import (
    TEXT,
    changes_table,
    changes_told,
    norm_told,
    numbers_html,
    selection_told,
    sum_told,
)
from demos.lessons.encoder.program_input import input_code
from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import Page, Part
from demos.page.services import Sentence, Services
from demos.widgets.token_picker.token_picker import pick

MAX_CHANGED = 128  # tokens; four passes of more would hold up everyone else
ORDERS = 50  # orders to choose from
KEPT = 64  # inputs whose changes are remembered, a few kilobytes each


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    with gr.Row(elem_classes="encoder-steps"):
        with gr.Column(elem_classes="encoder-half", min_width=320):
            row_said, row_plot = _step("encoder-input-row")
            sum_said, sum_plot = _step("encoder-input-sum")
        with gr.Column(elem_classes="encoder-half", min_width=320):
            norm_said, norm_plot = _step("encoder-input-norm")
            gr.HTML("<h3>What happens when a part is missing?</h3>", elem_classes="encoder-told")
            order = gr.Slider(1, ORDERS, 1, step=1, label="Another order of the words", elem_id="encoder-input-order")
            changed_plot = _plot("encoder-input-changes")
            changed_said = gr.HTML("", elem_classes="encoder-told", elem_id="encoder-input-changed")
    with gr.Accordion("The numbers", open=False, elem_id="encoder-input-numbers"):
        table = gr.HTML("")
        changed_table = gr.HTML("")
    formula_fold(__file__)
    with gr.Accordion("The code", open=False, elem_id="encoder-input-code"):
        program = gr.Code("", language="python", label="Prints this token's way to layer 0", lines=8)
    source_fold(__file__)

    @lru_cache(maxsize=KEPT)
    def changes_of(sentence: Sentence, seed: int) -> Changes:
        return computed_changes(services, sentence, seed)

    def changed(sentence: Sentence, token: float, seed: float) -> list[Any]:
        run = services.run(sentence)
        n = len(run.encoding)
        if n > MAX_CHANGED:
            return [None, TEXT.too_long(n, MAX_CHANGED), ""]
        found = changes_of(sentence, min(max(int(seed or 1), 1), ORDERS))
        return shown_changes(services, sentence, token, found)

    page.keep(order=order)
    token = page.choices["token"]
    outputs = [row_plot, row_said, sum_plot, sum_said, norm_plot, norm_said, table, program]
    page.draw(partial(shown_steps, services), [token], outputs, show_progress="hidden")
    page.draw(changed, [token, order], [changed_plot, changed_said, changed_table], show_progress="hidden")


def computed_changes(services: Services, sentence: Sentence, seed: int) -> Changes:
    """The four changes of this sentence: one pass of a batch."""
    loaded, run = services.loaded(sentence.model), services.run(sentence)
    tables = embedding_tables(loaded.model)
    return change_input(loaded, run, tables, add_up(tables, run.encoding), seed)


def shown_steps(services: Services, sentence: Sentence, token: float) -> list[Any]:
    """Steps 1 to 3, the numbers and the code, of one token; one beyond the sentence becomes its last word piece."""
    loaded, run = services.loaded(sentence.model), services.run(sentence)
    encoding, at = run.encoding, pick(run.encoding, token)
    tables = embedding_tables(loaded.model)
    ledger, selection = add_up(tables, encoding), select(tables, encoding.input_ids[at])
    pieces = loaded.tokenizer.convert_ids_to_tokens(list(selection.neighbours))
    return [
        selection_figure(selection, pieces),
        selection_told(selection, encoding, at),
        sum_figure(ledger, encoding, at),
        sum_told(ledger, at, loaded.spec),
        norm_figure(ledger, at),
        norm_told(ledger, run.hidden_states[0], at),
        numbers_html(selection, pieces, ledger, encoding, at),
        input_code(loaded.spec, encoding, at),
    ]


def shown_changes(services: Services, sentence: Sentence, token: float, changes: Changes) -> list[Any]:
    """The changes' picture, words and table."""
    loaded, encoding = services.loaded(sentence.model), services.run(sentence).encoding
    at = pick(encoding, token)
    return [
        changes_figure(changes, encoding, at),
        changes_told(changes, encoding, at, loaded.spec, loaded.spec.segments),
        changes_table(changes, encoding),
    ]


def _step(elem_id: str) -> tuple[gr.HTML, gr.Plot]:
    said = gr.HTML("", elem_classes="encoder-told")
    return said, _plot(elem_id)


def _plot(elem_id: str) -> gr.Plot:
    with gr.Column(elem_classes="attention-heatmap", elem_id=elem_id):
        return gr.Plot(show_label=False)


PART = Part(
    tab="Input",
    look=(
        "A token enters as a number. It picks one row of a matrix, a row for its segment and one for its position are "
        "added, and LayerNorm brings the sum to a common size."
    ),
    build=build,
    order=1,
)
