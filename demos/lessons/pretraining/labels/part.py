"""Supervised or not? Labels that are taken from a text, compared with one that a person assigned."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.pretraining.free_labels import FreeLabels, free_labels
from demos.files import DATA
from demos.lessons.pretraining.labels.figure import (
    answer_html,
    counts_html,
    labels_code,
    labels_html,
    numbers_html,
)
from demos.lessons.pretraining.wiring import SEEDS, count_on, own_text, seed_of_draw, text_of
from demos.page.layer_head_choices import clamp
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn
from demos.training.data.tables import Row, read_rows

OPENING = (
    "Grandmother kept her letters in a biscuit tin. On rainy Sundays she took them out and read one of them aloud. "
    "We never learned who had written it."
)
OTHERS = (
    "The second train to the coast leaves at half past nine.",
    "Fold the flour into the eggs, and do not stir too long.",
    "Most of the moons of Jupiter were found with small telescopes.",
    "He signed the contract and put the pen back in the drawer.",
)
SEED = 17
SHORT = 80  # characters of an opinion


@cache
def opinions() -> tuple[Row, ...]:
    """Short opinions of the bundled data set, with their labels."""
    rows = read_rows((DATA / "sentiment.tsv").read_bytes(), "sentiment.tsv")
    return tuple(row for row in rows if len(row.text) <= SHORT and row.split == "train")


def labelled(services: Services, sentence: Sentence, text: str, seed: Any) -> FreeLabels:
    """One pass over `text`, or over the bar's sentence if `text` is empty."""
    tokenizer = services.store.tokenizer(services.key(sentence.model))
    return free_labels(tokenizer, text_of(sentence, text), OTHERS, np.random.default_rng(clamp(seed, SEEDS)))


class Labels(View):
    tab, order = "Supervised or not?", 6
    look = (
        "Every row has an input and the label that must be predicted from it. Look at the last column: where "
        "did the label come from?"
    )

    @dataclass(frozen=True)
    class Choices:
        labels_text: str = own_text(OPENING, "labels-text", lines=1, max_lines=4, scale=5, min_width=300)
        labels_seed: int = seed_of_draw(SEED, "labels-seed")

    def lay_out(self, at: Layout) -> None:
        at["rows"] = gr.HTML("", elem_id="labels-rows", elem_classes="picture")
        at["counts"] = gr.HTML("", elem_id="labels-count")
        with gr.Row(elem_classes="labels-ask"):
            at.control("labels_text")
            again = gr.Button("Draw again", min_width=140, elem_id="labels-again")
        at["answer"] = gr.HTML("", elem_id="labels-said")
        with at.all_controls(set_elsewhere=True):
            seed = at.control("labels_seed")
        at.folds("Prints the labels of this draw")
        count_on(again, seed, SEEDS)

    @drawn(own_text="labels_text")
    def draw(self, on: On, c: Choices) -> Shown:
        """The table, the counts, the answer that follows, the fold's table and the program."""
        labels = labelled(on.services, on.sentence, c.labels_text, c.labels_seed)
        key, store = on.services.key(on.sentence.model), on.services.store
        read = store.tokenizer(key).convert_ids_to_tokens(labels.corruption.input_ids.tolist())
        return {
            "rows": lambda: labels_html(labels, read, opinions()[c.labels_seed % len(opinions())]),
            "counts": lambda: counts_html(labels),
            "answer": lambda: answer_html(labels),
            "numbers": lambda: numbers_html(labels, read),
            "program": lambda: labels_code(store.spec(key), labels.sentences, OTHERS, c.labels_seed),
        }
