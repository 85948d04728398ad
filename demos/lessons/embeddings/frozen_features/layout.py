"""The layout of "Frozen features": its components, and the menus' answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr

from demos.bert.embeddings.frozen_features import CONCAT_ALL, MAX_DIMENSION, width_of
from demos.bert.embeddings.pooling import POOLER, Choice
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.lessons.embeddings.frozen_features.text import TEXT
from demos.page.folds import all_controls
from demos.page.lesson import Page
from demos.training.data.labelled_sentences import EMOTIONS, FILE, MAX_ROWS, OWN_SPLIT, SEEDS, SST2, TWO, Labelled
from demos.widgets.file_picker.file_picker import file_picker
from demos.widgets.pooling_menus.pooling_menus import LAST, pooling_menus, read_choice

SOURCES = [
    ("Emotion: six classes", EMOTIONS),
    ("Joy or sadness", TWO),
    (f"SST-2, {MAX_ROWS:,} rows", SST2),
    ("your own file", FILE),
]
AWAITED = (
    f"Choose a file with a text column and a label column; up to {MAX_ROWS:,} rows are used. The "
    "train.tsv of Alammar's guide works."
)
BESIDE = ("all layers concatenated", CONCAT_ALL)
MENUS = ("source", "file", "split", "pooling", "layer", "standardise")
FILLED = (
    "status", "file", "split", "layer", "about", "bars", "said", "tuned", "lstm", "learn", "recipe",
    "grid_said", "grid", "take", "wrong", "confusion", "mistakes", "numbers", "code",
)  # fmt: skip
GRID_FILLED = ("filling", "grid_status", "start", "stop", "grid_said", "grid", "take", "numbers")


@dataclass(frozen=True)
class Answers:
    """The menus' answers, in the order of MENUS, and the id of the reader's own fine-tuned run."""

    source: str
    file: str | None
    split: str
    pooling: str
    layer: str
    standardise: bool
    run: str

    def choice(self, loaded: LoadedModel) -> Choice:
        """The vector picked. Raises UserError as `read_choice` does, and for one too wide to be fitted."""
        if self.layer != CONCAT_ALL or self.pooling == POOLER:
            return read_choice(loaded, self.pooling, LAST if self.layer == CONCAT_ALL else self.layer)
        choice = Choice(read_choice(loaded, self.pooling, LAST).pooling, CONCAT_ALL)
        config = loaded.model.config
        wide = width_of(choice, config.num_hidden_layers, config.hidden_size)
        if wide > MAX_DIMENSION:
            raise UserError(f"All layers concatenated have {wide:,} numbers here; the limit is {MAX_DIMENSION:,}.")
        return choice


def laid_out(page: Page) -> dict[str, Any]:
    """The part's components above its folds, by name."""
    parts: dict[str, Any] = {"filling": gr.State("")}
    with gr.Row(elem_classes="features-top"):
        with gr.Column(scale=3, min_width=330):
            parts["bars"] = gr.Plot(
                label="Accuracy of each classifier", show_label=False, elem_id="features-bars", elem_classes="picture"
            )
            parts["status"] = gr.HTML("", elem_classes="said features-status")
            parts["said"] = gr.HTML("", elem_classes="said", elem_id="features-said")
        with gr.Column(scale=2, min_width=330):
            parts["source"] = gr.Radio(SOURCES, value=EMOTIONS, label="Sentences")
            parts["file"] = file_picker("CSV, Excel or JSON", height=110, visible=False)
            parts["pooling"], parts["layer"] = pooling_menus(page.services)
            parts["layer"].choices = [*parts["layer"].choices, BESIDE]
            with all_controls(page, __file__), gr.Row():
                parts["split"] = gr.Dropdown(
                    split_choices(True), value=OWN_SPLIT, label="Split", filterable=False, min_width=150
                )
                parts["standardise"] = gr.Checkbox(True, label="Standardize each dimension", min_width=150)
            parts["about"] = gr.HTML("", elem_classes="said")
            parts["tuned"] = gr.HTML("", elem_classes="said", elem_id="features-tuned")
            parts["lstm"] = gr.HTML("", elem_classes="said", elem_id="features-lstm")
            with gr.Row(elem_classes="lab-buttons"):
                parts["learn"] = gr.Button("Train an LSTM too", min_width=150, elem_id="features-learn")
    gr.HTML(TEXT.recipe_heading())
    parts["recipe"] = gr.HTML("", elem_id="features-recipe")
    gr.HTML(TEXT.grid_heading())
    with gr.Row():
        with gr.Column(scale=3, min_width=330):
            parts["grid_said"] = gr.HTML("", elem_classes="said", elem_id="features-grid-said")
            parts["grid_status"] = gr.HTML("", elem_classes="said features-status")
        with gr.Column(scale=1, min_width=330), gr.Row():
            parts["start"] = gr.Button("Fit all choices", variant="primary", min_width=200, elem_id="features-start")
            parts["stop"] = gr.Button("Stop", interactive=False, min_width=90, elem_id="features-stop")
            parts["take"] = gr.Button("Use the best choice", visible=False, min_width=200, elem_id="features-take")
    parts["grid"] = gr.Plot(
        label="Cross-validated accuracy of every choice", show_label=False, visible=False, elem_id="features-grid"
    )
    with gr.Row():
        with gr.Column(min_width=330):
            parts["wrong"] = gr.HTML("")
            parts["confusion"] = gr.Plot(label="Confusion matrix of the held-out sentences", show_label=False)
        with gr.Column(min_width=330):
            gr.HTML(TEXT.mistakes_heading())
            parts["mistakes"] = gr.HTML("", elem_id="features-mistakes")
    return parts


def split_choices(own: bool) -> list[tuple[str, str]]:
    """The file's own split, where it has one, and those drawn by a seed."""
    drawn = [(f"drawn, seed {seed}", str(seed)) for seed in range(SEEDS)]
    return [("from the file", OWN_SPLIT), *drawn] if own else drawn


def split_update(data: Labelled, requested: str, used: str) -> Any:
    """The split menu for these sentences; its value only where it must move, so that it stays under the hand."""
    new_value = {} if requested == used else {"value": used}
    return gr.update(choices=split_choices(data.own_test is not None), **new_value)
