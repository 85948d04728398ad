"""Batch norm or layer norm: the values that each mean is taken over, and the effect of another sentence."""

import csv
from dataclasses import dataclass
from functools import cache

import gradio as gr
import numpy as np

from demos.bert.embeddings.similarity import sentences_of
from demos.bert.encoder.batch_norm import (
    States,
    batch_states,
    batch_statistics,
    changes,
    layer_statistics,
    running_statistics,
)
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.files import read_asset
from demos.lessons.encoder.norms.figure import FEATURES, batch_figure, changes_figure, norms_code
from demos.page.view import Layout, On, Shown, View, slider, switch, words
from demos.templates import templates

TEXT = templates(__file__)
WRITTEN = "The bank raised its rates.\nShe swam.\nA heron stood by the water."
OTHER = "Nobody laughed!"
MOST_SENTENCES, MOST_TOKENS = 5, 14
IN_TRAINING, PASSES = 4, 5  # sentences in each batch that the running statistics are of; how often they are read


class Norms(View):
    tab, order, reads_sentence = "Batch norm or layer norm", 9, False
    look = (
        "Both methods subtract a mean and divide by a standard deviation. Layer norm computes them over all features "
        "of one token (horizontal frame), batch norm over one feature of all tokens of the batch (vertical frame). "
        "Replace the last sentence: with which method do the outputs of the first sentence change?"
    )

    @dataclass(frozen=True)
    class Choices:
        norms_batch: str = words(
            WRITTEN, "Sentences of the batch, one per line", lines=3, max_lines=5, elem_id="norms-sentences"
        )
        norms_other: str = words(OTHER, "Replace the last sentence with", max_lines=1, elem_id="norms-other")
        norms_row: int = slider(
            1,
            MOST_SENTENCES * MOST_TOKENS,
            2,
            "Token (row)",
            last=lambda on, c: rows_of(on, c),
            elem_id="norms-row",
            buttons=[],
        )
        norms_feature: int = slider(1, FEATURES, 4, "Feature (column)", elem_id="norms-feature")
        norms_padding: bool = switch("Padding counts in batch norm", True, elem_id="norms-padding")

    def lay_out(self, at: Layout) -> None:
        with gr.Row():
            with gr.Column(scale=6, min_width=340, elem_classes=["attention-heatmap", "picture"]):
                at.plot("batch", "The batch", elem_id="norms-batch")
            with gr.Column(scale=4, min_width=320):
                for name in ("norms_batch", "norms_other", "norms_row", "norms_feature"):
                    at.control(name)
                at["told"] = gr.HTML("", elem_id="norms-told", elem_classes="encoder-told")
                at.look()
                with at.all_controls():
                    at.control("norms_padding")
        with gr.Row():
            with gr.Column(scale=6, min_width=340):
                at.plot("changes", "Change of the first sentence's outputs")
            with gr.Column(scale=4, min_width=320):
                at["said"] = gr.HTML("", elem_id="norms-said", elem_classes="encoder-told")
        at.folds("Both methods on this batch, with PyTorch's own classes")

    def draw(self, on: On, c: Choices) -> Shown:
        texts, padding = sentences_of(c.norms_batch), c.norms_padding
        if not 2 <= len(texts) <= MOST_SENTENCES:
            raise UserError(f"Type 2 to {MOST_SENTENCES} sentences, one per line.")
        if not (replaced := sentences_of(c.norms_other)):
            raise UserError("Type a sentence; it replaces the last sentence of the batch.")
        before, after = states_of(on.loaded, texts), states_of(on.loaded, [*texts[:-1], replaced[0]])
        at, column = min(c.norms_row, before.real.size) - 1, c.norms_feature - 1
        place = divmod(at, before.real.shape[1])
        counted = np.ones_like(before.real) if padding else before.real
        by_layer, by_batch = layer_statistics(before.values), batch_statistics(before.values, counted)
        running = running_statistics(
            [states_of(on.loaded, list(texts)) for texts in training_texts()] * PASSES, padding
        )
        output_changes = changes(before, after, running, padding)
        selected_cell = {
            "token": before.tokens[place[0]][place[1]],
            "feature": c.norms_feature,
            "value": float(before.values[place][column]),
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
                    zip(
                        output_changes.tokens,
                        output_changes.layer,
                        output_changes.train,
                        output_changes.test,
                        strict=True,
                    )
                ),
                selected_cell,
            ),
            "program": lambda: norms_code(on.loaded.spec, texts),
        }


def rows_of(on: On, c: Norms.Choices) -> int:
    """The tokens of the batch, padding included."""
    lengths = [len(encoding) for encoding in encodings_of(on.loaded, sentences_of(c.norms_batch))]
    return len(lengths) * max(lengths)


def encodings_of(loaded: LoadedModel, texts: list[str]) -> list[Encoding]:
    """These sentences, each cut to MOST_TOKENS tokens."""
    return [encode(loaded.tokenizer, text, max_length=MOST_TOKENS) for text in texts]


def states_of(loaded: LoadedModel, texts: list[str]) -> States:
    """The batch of these sentences."""
    return batch_states(loaded, encodings_of(loaded, texts))


@cache
def training_texts() -> tuple[tuple[str, ...], ...]:
    """The page's own sentences in batches of IN_TRAINING."""
    rows = csv.DictReader(read_asset("data/sentences.tsv").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    texts = [row["sentence"] for row in rows]
    return tuple(tuple(texts[at : at + IN_TRAINING]) for at in range(0, len(texts) - IN_TRAINING + 1, IN_TRAINING))
