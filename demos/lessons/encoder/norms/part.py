"""Batch norm or layer norm: the values that each mean is taken over, and the effect of another sentence."""

from __future__ import annotations

import csv
from functools import cache, partial
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.embeddings.similarity import sentences_of
from demos.bert.encoder.batch_norm import (
    States,
    Statistics,
    batch_states,
    batch_statistics,
    changes,
    layer_statistics,
    running_statistics,
)
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.files import read_asset
from demos.lessons.encoder.norms.figure import FEATURES, batch_figure, changes_figure
from demos.lessons.encoder.norms.program import norms_code
from demos.page.folds import all_controls, folds
from demos.page.layer_head_choices import clamp, moving_slider
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.templates import templates

TEXT = templates(__file__)
WRITTEN = "The bank raised its rates.\nShe swam.\nA heron stood by the water."
OTHER = "Nobody laughed!"
MOST_SENTENCES, MOST_TOKENS = 5, 14
IN_TRAINING, PASSES = 4, 5  # sentences in each batch that the running statistics are of; how often they are read


def build(page: Page) -> None:
    """The batch with both frames, the sentences beside it, and the changes below."""
    parts: dict[str, Any] = {}
    with gr.Row():
        with gr.Column(scale=6, min_width=340, elem_classes=["attention-heatmap", "picture"]):
            parts["batch"] = gr.Plot(label="The batch", show_label=False, elem_id="norms-batch")
        with gr.Column(scale=4, min_width=320):
            sentences = gr.Textbox(WRITTEN, label="Sentences of the batch, one per line", lines=3, max_lines=5,
                                   elem_id="norms-sentences")  # fmt: skip
            other = gr.Textbox(OTHER, label="Replace the last sentence with", max_lines=1, elem_id="norms-other")
            row = moving_slider(1, 40, 2, label="Token (row)", elem_id="norms-row")
            feature = gr.Slider(1, FEATURES, 4, step=1, label="Feature (column)", elem_id="norms-feature")
            parts["told"] = gr.HTML("", elem_id="norms-told", elem_classes="encoder-told")
            page.show_look()
            with all_controls(page, __file__):
                padding = gr.Checkbox(True, label="Padding counts in batch norm", elem_id="norms-padding")
    with gr.Row():
        with gr.Column(scale=6, min_width=340):
            parts["changes"] = gr.Plot(label="Change of the first sentence's outputs", show_label=False)
        with gr.Column(scale=4, min_width=320):
            parts["said"] = gr.HTML("", elem_id="norms-said", elem_classes="encoder-told")
    parts["numbers"], parts["program"] = folds(__file__, "Both methods on this batch, with PyTorch's own classes")
    parts["row"] = row
    page.keep(norms_batch=sentences, norms_other=other, norms_padding=padding, norms_row=row, norms_feature=feature)
    show = by_component(parts, partial(drawn, page.services))
    page.draw(show, [sentences, other, padding, row, feature], list(parts.values()), show_progress="hidden")


def drawn(
    services: Services, sentence: Sentence, typed: str, other: str, padding: bool, row: float, feature: float
) -> dict[str, Any]:
    """All outputs for a batch, another last sentence, and a row and a column."""
    loaded = services.loaded(sentence.model)
    texts = sentences_of(typed)
    if not 2 <= len(texts) <= MOST_SENTENCES:
        raise UserError(f"Type 2 to {MOST_SENTENCES} sentences, one per line.")
    if not (replaced := sentences_of(other)):
        raise UserError("Type a sentence that replaces the last one.")
    before, after = states_of(loaded, texts), states_of(loaded, [*texts[:-1], replaced[0]])
    n = before.real.shape[1]
    at, column = clamp(float(row or 1) - 1, before.real.size), clamp(float(feature or 1) - 1, FEATURES)
    place = divmod(at, n)
    counted = np.ones_like(before.real) if padding else before.real
    by_layer, by_batch = layer_statistics(before.values), batch_statistics(before.values, counted)
    running = running_of(loaded, padding)
    output_changes = changes(before, after, running, padding)
    cell = float(before.values[place][column])
    selected_cell = {
        "token": before.tokens[place[0]][place[1]],
        "feature": column + 1,
        "value": cell,
        "width": before.values.shape[-1],
        "count": int(counted.sum()),
        "layer": (float(by_layer.mean[place]), float(by_layer.variance[place])),
        "batch": (float(by_batch.mean[column]), float(by_batch.variance[column])),
        "running": (float(running.mean[column]), float(running.variance[column])),
    }
    return {
        "batch": batch_figure(before, at, column, padding),
        "told": TEXT.summary(selected_cell, padding, int((~before.real).sum())),
        "changes": changes_figure(output_changes),
        "said": TEXT.said(output_changes, texts[0], texts[-1], replaced[0]),
        "numbers": lambda: TEXT.numbers(
            list(
                zip(output_changes.tokens, output_changes.layer, output_changes.train, output_changes.test, strict=True)
            ),
            selected_cell,
        ),
        "program": lambda: norms_code(loaded.spec, texts),
        "row": gr.update(maximum=before.real.size, value=at + 1),
    }


def states_of(loaded: LoadedModel, texts: list[str]) -> States:
    """The batch of these sentences, each cut to MOST_TOKENS tokens."""
    return batch_states(loaded, [encode(loaded.tokenizer, text, max_length=MOST_TOKENS) for text in texts])


@cache
def training_texts() -> tuple[tuple[str, ...], ...]:
    """The page's own sentences in batches of IN_TRAINING."""
    rows = csv.DictReader(read_asset("data/sentences.tsv").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    texts = [row["sentence"] for row in rows]
    return tuple(tuple(texts[at : at + IN_TRAINING]) for at in range(0, len(texts) - IN_TRAINING + 1, IN_TRAINING))


def running_of(loaded: LoadedModel, padding: bool) -> Statistics:
    """The running statistics after PASSES over the page's own sentences."""
    return running_statistics([states_of(loaded, list(texts)) for texts in training_texts()] * PASSES, padding)


PART = Part(
    tab="Batch norm or layer norm",
    look=(
        "Both methods subtract a mean and divide by a standard deviation. Layer norm computes both over the features "
        "of one token (horizontal frame), batch norm over all tokens of the batch (vertical frame). With batch norm, "
        "the other sentences affect the result."
    ),
    build=build,
    reads_sentence=False,
    order=9,
)
