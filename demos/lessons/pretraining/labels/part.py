"""Supervised or not? Labels that are taken from a text, compared with one that a person assigned."""

from __future__ import annotations

from functools import cache, partial
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
from demos.lessons.pretraining.wiring import SEEDS, count_on, text_of
from demos.page.folds import all_controls, folds
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part, by_component
from demos.page.services import Sentence, Services
from demos.training.data.tables import Row, read_rows
from demos.widgets.seed_box.seed_box import seed_box

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


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    services = page.services
    rows = gr.HTML("", elem_id="labels-rows", elem_classes="picture")
    counts = gr.HTML("", elem_id="labels-count")
    with gr.Row(elem_classes="labels-ask"):
        text = gr.Textbox(
            OPENING, label="Your text (if empty: the sentence at the top of the page)", lines=1,
            max_lines=4, scale=5, min_width=300,
            elem_id="labels-text",
        )  # fmt: skip
        again = gr.Button("Draw again", min_width=140, elem_id="labels-again")
    answer = gr.HTML("", elem_id="labels-said")
    with all_controls(page, __file__, set_elsewhere=True):
        seed = seed_box(SEED, "Seed of the draw", elem_id="labels-seed")
    numbers, code = folds(__file__, "Prints the labels of this draw")
    page.keep(labels_text=text, labels_seed=seed)
    count_on(again, seed, SEEDS)
    outputs = {"rows": rows, "counts": counts, "answer": answer, "numbers": numbers, "code": code}
    page.draw(
        by_component(outputs, partial(drawn, services)),
        [text, seed],
        list(outputs.values()),
        triggers=[text.change, seed.change],
        show_progress="hidden",
        own_text=text,
    )


@cache
def opinions() -> tuple[Row, ...]:
    """Short opinions of the bundled data set, with their labels."""
    rows = read_rows((DATA / "sentiment.tsv").read_bytes(), "sentiment.tsv")
    return tuple(row for row in rows if len(row.text) <= SHORT and row.split == "train")


def labelled(services: Services, sentence: Sentence, text: str, seed: Any) -> FreeLabels:
    """One pass over `text`, or over the bar's sentence if `text` is empty."""
    tokenizer = services.store.tokenizer(services.key(sentence.model))
    return free_labels(tokenizer, text_of(sentence, text), OTHERS, np.random.default_rng(clamp(seed, SEEDS)))


def drawn(services: Services, sentence: Sentence, text: str, seed: Any) -> dict[str, Any]:
    """The table, the counts, the answer that follows, the fold's table and the program."""
    labels = labelled(services, sentence, text, seed)
    key, number = services.key(sentence.model), clamp(seed, SEEDS)
    read = services.store.tokenizer(key).convert_ids_to_tokens(labels.corruption.input_ids.tolist())
    return {
        "rows": lambda: labels_html(labels, read, opinions()[number % len(opinions())]),
        "counts": lambda: counts_html(labels),
        "answer": lambda: answer_html(labels),
        "numbers": lambda: numbers_html(labels, read),
        "code": lambda: labels_code(services.store.spec(key), labels.sentences, OTHERS, number),
    }


PART = Part(
    tab="Supervised or not?",
    look=(
        "Every row has an input and the label that must be predicted from it. Look at the last column: where "
        "did the label come from?"
    ),
    build=build,
    order=6,
)
