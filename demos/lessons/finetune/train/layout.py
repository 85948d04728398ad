"""The controls and pictures of "Train": task and data, the recipe, the live curve, the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from demos.files import read_beside
from demos.lessons.finetune.train.controller import PAUSE
from demos.lessons.finetune.train.poolings import poolings_html
from demos.lessons.finetune.train.start import MODEL
from demos.lessons.finetune.train.try_it import examples_menu
from demos.templates import templates
from demos.training.data.splits import MAX_TRAIN
from demos.training.form_values import FROZEN_EMBEDDINGS, HUB, OWN, UPLOAD
from demos.training.presets import PRESETS
from demos.training.settings import Settings
from demos.training.sources import reader_of
from demos.widgets.column_picker.column_picker import column_picker
from demos.widgets.file_picker.file_picker import file_picker
from demos.widgets.live_curve.live_curve import live_curve
from demos.widgets.run_controller.run_controller import cpu_button
from demos.widgets.scripted.scripted import scripted
from demos.widgets.seed_box.seed_box import seed_box
from demos.widgets.tasks.registry import BOXES, VIEWS, bundled
from demos.widgets.tasks.task_view import TaskView

TEXT = templates(__file__)
RATES = [2e-5, 3e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 3e-3, 1e-2]
ELSEWHERE = [("your own file", UPLOAD), ("a data set from the Hub", HUB)]
TRAINS = [
    ("everything", "all"),
    ("everything but the embeddings", FROZEN_EMBEDDINGS),
    ("the upper layers", "top"),
    ("LoRA: low-rank updates", "lora"),
    ("only the head, encoder frozen", "head"),
]
HIDE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}  # of what the browser does alone
MOST_LAYERS = 24  # of any model in the catalogue
DEFAULT = Settings()
TRIES = tuple(f"try-{number}" for number in range(BOXES))
INLINE: dict[str, Any] = {"elem_classes": "inline", "min_width": 100}


def tasks() -> dict[str, Any]:
    """The tasks in a row, and which data."""
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="lab-top"):
        cards = [(f"{view.word}\n{view.scheme}", kind) for kind, view in VIEWS.items()]
        parts["task"] = gr.Radio(
            cards, value="sentence", label="Task", show_label=False, elem_id="finetune-task", scale=9, min_width=300
        )
        everything = [choice for kind in VIEWS for choice in bundled(kind)]
        parts["data"] = gr.Dropdown(
            [*everything, *ELSEWHERE], value=OWN, label="Data", filterable=False,
            elem_id="finetune-pick", scale=2, min_width=190,
        )  # fmt: skip
    with gr.Row(visible=False) as parts["files"]:
        reader = reader_of("sentence")
        for name, label in (("file", reader.forms), ("test_file", "a separate test file (optional)")):
            parts[name] = file_picker(label, reader.endings, height=110, min_width=240)
    with gr.Row(visible=False) as parts["hubs"]:
        parts["hub"] = gr.Textbox(
            "", label="Data set on the Hub: owner/name or owner/name:config", max_length=200, elem_id="finetune-hub",
            scale=6, min_width=240,
        )  # fmt: skip
        parts["fetch"] = gr.Button("Fetch", elem_id="finetune-fetch", scale=1, min_width=110)
    parts["picker"], parts["columns"] = column_picker("finetune-columns")
    # the name that the reader pressed for; what a link says is only a text
    parts["hub_asked"] = gr.Textbox("", visible="hidden")
    return parts


def _menu(choices: list[Any], field: str, label: str, **options: Any) -> gr.Dropdown:
    return gr.Dropdown(choices, value=getattr(DEFAULT, field), label=label, filterable=False, **options, **INLINE)


def recipe() -> dict[str, Any]:
    """The presets, and which parts are trained; the rest is in `more`."""
    names = [(preset.title, key) for key, preset in PRESETS.items()]
    parts: dict[str, Any] = {
        "preset": gr.Radio(names, value="quick", label="Recipe", elem_id="finetune-preset", **INLINE),
        "preset_told": gr.HTML(elem_classes="preset-told"),
        "chain": gr.HTML(elem_id="finetune-chain"),
    }
    # Not in the fold: of several changes to a component that is not on the page, gradio keeps one.
    with gr.Row(elem_classes="pairs"):
        parts["trains"] = _menu(TRAINS, "trains", "Trainable parts", scale=3, elem_id="finetune-trains")
        parts["top_layers"] = gr.Slider(  # as far as the model has them
            1, MOST_LAYERS, DEFAULT.top_layers, step=1, label="Number of layers", visible=False, elem_id="finetune-top",
            scale=2, **INLINE,
        )  # fmt: skip
        ranks = [(str(rank), rank) for rank in (1, 2, 4, 8, 16, 32)]
        parts["lora_rank"] = _menu(ranks, "lora_rank", "rank", visible=False, scale=1, elem_id="finetune-lora")
    return parts


def more() -> dict[str, Any]:
    """The controls that are seldom moved, in the fold "All controls"; the recipe sets them."""
    wide: dict[str, Any] = {"min_width": 170}
    poolings = [("mean", "mean"), ("[CLS]", "cls"), ("max", "max"), ("no pooling", "none")]
    widths = [("none", "0"), ("64", "64"), ("256", "256"), ("256 + 64", "256,64")]
    optimizers = [("AdamW", "adamw"), ("SGD", "sgd")]
    parts: dict[str, Any] = {}
    with gr.Row(elem_classes="pairs", elem_id="finetune-speed"):
        rates = [(f"{rate:.0e}".replace("e-0", "e-"), rate) for rate in RATES]
        parts["learning_rate"] = _menu(rates, "learning_rate", "Learning rate", scale=2)
        parts["epochs"] = gr.Slider(1, 20, DEFAULT.epochs, step=1, label="Epochs", scale=3, **INLINE)
    parts |= {
        "earlier": gr.Dropdown(
            [("the pre-trained model", MODEL)],
            value=MODEL,
            label="Start from",
            filterable=False,
            visible=False,
            elem_id="finetune-earlier",
            **INLINE,
        ),
        "earlier_told": gr.HTML(elem_id="finetune-earlier-told"),
        "pooling": gr.Radio(
            poolings, value=DEFAULT.pooling, label="Sentence vector", elem_id="finetune-pooling", **INLINE
        ),
        "hidden": gr.Radio(widths, value="0", label="Layers on top", elem_id="finetune-hidden", **INLINE),
    }
    with gr.Row(elem_classes="pairs"):
        schedules = ["linear", "cosine", "constant"]
        parts["schedule"] = _menu(schedules, "schedule", "Learning-rate schedule", scale=2, elem_id="finetune-schedule")
        parts["warmup"] = gr.Slider(0, 0.5, DEFAULT.warmup, step=0.05, label="Warm-up", scale=3, **INLINE)
    parts["drawn"] = gr.HTML(elem_id="finetune-rate")
    parts["poolings"] = gr.HTML(poolings_html(), elem_id="finetune-poolings")
    with gr.Row():
        return parts | {
            "batch_size": gr.Slider(4, 64, DEFAULT.batch_size, step=4, label="Batch size", **wide),
            "max_length": gr.Slider(
                8, 256, DEFAULT.max_length, step=8, label="Maximum number of tokens", elem_id="finetune-tokens", **wide
            ),
            "dropout": gr.Slider(0, 0.5, DEFAULT.dropout, step=0.05, label="Dropout in the layers on top", **wide),
            "weight_decay": gr.Slider(0, 0.1, DEFAULT.weight_decay, step=0.01, label="Weight decay", **wide),
            "class_weights": gr.Checkbox(DEFAULT.class_weights, label="Give rare classes more weight", **wide),
            "contrast": gr.Checkbox(DEFAULT.contrast, label="Learn from pairs of examples first", **wide),
            "optimizer": gr.Radio(
                optimizers,
                value=DEFAULT.optimizer,
                label="Optimizer",
                info="AdamW with weight decay 0 is Adam.",
                **wide,
            ),
            "most": gr.Slider(50, MAX_TRAIN, MAX_TRAIN, step=50, label="Maximum number of training examples", **wide),
            "seed": seed_box(DEFAULT.seed, **wide),
        }


def live(news: Callable[[Any], str]) -> dict[str, Any]:
    """Start, Pause, Stop and the cost, which keep their place; below, the curve, fed by `news`."""
    with gr.Row(elem_classes="lab-buttons"):
        start = gr.Button("Start", variant="primary", elem_id="finetune-start", min_width=110)
        pause = gr.Button(PAUSE, interactive=False, elem_id="finetune-pause", min_width=110)
        stop = gr.Button("Stop early", interactive=False, elem_id="finetune-stop", min_width=110)
    cost = gr.HTML(elem_id="finetune-cost")
    on_cpu = cpu_button(elem_id="finetune-on-cpu")
    curve = live_curve(news, elem_id="finetune-curve", elem_classes="picture", in_rooms=True)
    return {"start": start, "pause": pause, "stop": stop, "cost": cost, "on_cpu": on_cpu, "curve": curve}


def try_it() -> dict[str, Any]:
    """The trained model's answer to a text of the reader's own; beside the curve, once there is a result."""
    gr.HTML(TEXT.title("Try it"))
    parts: dict[str, Any] = {"try_examples": examples_menu()}
    for name, (label, sample) in zip(TRIES, tries(VIEWS["sentence"]), strict=True):
        parts[name] = gr.Textbox(
            sample, label=label, visible=bool(label), lines=1, max_lines=6, elem_id=f"finetune-{name}"
        )
    parts["ask"] = gr.Button("Run the trained model", elem_id="finetune-ask")
    parts["answer"] = gr.HTML(elem_id="finetune-answer")
    return parts


def results() -> dict[str, Any]:
    """The results of a run; hidden until there is one."""
    parts: dict[str, Any] = {}
    with gr.Column(visible=False, elem_id="finetune-results", elem_classes="lab-results") as parts["results"]:
        gr.HTML(TEXT.title("Test results"))
        parts["scores"] = gr.HTML(elem_classes="said")
        parts["matrix"] = scripted(read_beside(__file__, "matrix.js"), "finetune-matrix")
        with gr.Column(visible=False) as parts["picture"]:
            parts["figure"] = gr.Plot(label="Confusion matrix", show_label=False)
        gr.HTML(TEXT.title("Errors"))
        parts["mistakes"] = gr.HTML(elem_id="finetune-mistakes")
        gr.HTML(TEXT.deeper())
    return parts


def tries(view: TaskView) -> list[tuple[str, str]]:
    """(label, sample) of each of the TRIES; ("", "") of those that a task does not need."""
    return [*view.boxes, *[("", "")] * BOXES][:BOXES]
