"""The choices of "Train": the task, its data, the recipe, and what a run leaves on the page."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from demos.bert.model.catalogue import ModelSpec
from demos.lessons.finetune.train.start import MODEL
from demos.page.links import Link
from demos.page.view import CONTROL, Control, On, choice, linked, menu, options, slider, switch, unlinked
from demos.training.data.splits import MAX_TRAIN, Splits
from demos.training.export.recipe_file import Recipe, chosen_recipe
from demos.training.form_values import (
    FROZEN_EMBEDDINGS,
    HUB,
    OWN,
    RECIPE,
    UPLOAD,
    fitting,
    read_dataset,
    shown_settings,
)
from demos.training.presets import FORMER, PRESETS, recipe_for
from demos.training.results.history import Record
from demos.training.settings import Settings
from demos.widgets.run_controller.run_controller import RunChoices
from demos.widgets.seed_box.seed_box import seed_choice
from demos.widgets.tasks.registry import BOXES, VIEWS, bundled

MOST_LAYERS = 24  # of any model in the catalogue
ELSEWHERE = [("your own file", UPLOAD), ("a data set from the Hub", HUB)]
DATA = [*(offer for kind in VIEWS for offer in bundled(kind)), *ELSEWHERE]
CARDS = [(f"{view.word}\n{view.scheme}", kind) for kind, view in VIEWS.items()]
TRAINS = [
    ("everything", "all"),
    ("everything but the embeddings", FROZEN_EMBEDDINGS),
    ("the upper layers", "top"),
    ("LoRA: low-rank updates", "lora"),
    ("only the head, encoder frozen", "head"),
]
RATES = [(f"{rate:.0e}".replace("e-0", "e-"), rate) for rate in (2e-5, 3e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 3e-3, 1e-2)]
POOLINGS = [("mean", "mean"), ("[CLS]", "cls"), ("max", "max"), ("no pooling", "none")]
WIDTHS = [("none", "0"), ("64", "64"), ("256", "256"), ("256 + 64", "256,64")]
RANKS = [(str(rank), rank) for rank in (1, 2, 4, 8, 16, 32)]
SCHEDULES = [(name, name) for name in ("linear", "cosine", "constant")]
OPTIMIZERS = [("AdamW", "adamw"), ("SGD", "sgd")]
DEFAULT = Settings()
INLINE: dict[str, Any] = {"elem_classes": "inline", "min_width": 100, "by_script": True}
WIDE: dict[str, Any] = {"min_width": 170, "by_script": True}
TRIES = tuple(f"try_{number}" for number in range(BOXES))  # the boxes of "Try it"
# The recipe's choices, by the names of `read_settings`
SETTINGS = {
    "pooling": "pooling", "hidden": "hidden", "dropout": "dropout", "trains": "trains", "top_layers": "top",
    "lora_rank": "rank", "optimizer": "opt", "learning_rate": "rate", "epochs": "epochs", "schedule": "schedule",
    "warmup": "warmup", "batch_size": "batch", "weight_decay": "decay", "max_length": "tokens",
    "class_weights": "weights", "contrast": "pairs", "seed": "seed",
}  # fmt: skip
PICKED = ("task", "data", "file", "test_file", "hub_asked", "columns", "most")  # which data
FORM = ("earlier", *PICKED, *SETTINGS.values())  # all that a run reads, with "hub" in the place of "hub_asked"
START = tuple("hub" if name == "hub_asked" else name for name in FORM)


def _text(**look: Any) -> Control:
    return Control(lambda _: gr.Textbox("", **look), lambda _, said: said or "", redraws=False)


def _amount(least: float, most: float, value: float, label: str, *, step: float = 1, **look: Any) -> Any:
    """A `slider` whose number a link may also say between the steps."""

    def read(_: On, said: Any) -> float:
        inside = max(least, min(float(value if said is None else said), most))
        return int(inside) if float(step).is_integer() else inside

    control: Control = slider(least, most, value, label, step=step, **look).metadata[CONTROL]
    return choice(value, replace(control, read=read))


def filled_in(preset: str, kind: str) -> list[Any]:
    """The values of RECIPE that a preset and a task set; the seed is no part of a preset."""
    return shown_settings(recipe_for(preset, kind))[:-1]


def _set(name: str, made: Any) -> Any:
    """A choice that a recipe or a task in a link brings along."""
    at = RECIPE.index(name)
    presets = {preset: filled_in(preset, "sentence")[at] for preset in PRESETS if preset != "quick"}
    tasks = {kind: filled_in("quick", kind)[at] for kind in VIEWS}
    return linked(made, Link(follows=[("preset", presets), ("task", tasks)]))


@dataclass(frozen=True)
class TrainChoices(RunChoices):
    """A link may hold all but the last ones, in this order; a new task brings one of our data sets if none fits."""

    data: str = menu(DATA, OWN, "Data", by_script=True, elem_id="finetune-pick", scale=2, min_width=190, render=False)
    task: str = options(
        CARDS, "sentence", "Task", by_script=True, show_label=False, elem_id="finetune-task", scale=9, min_width=300
    )
    preset: str = linked(
        options(
            [(preset.title, key) for key, preset in PRESETS.items()],
            "quick",
            "Recipe",
            elem_id="finetune-preset",
            **INLINE,
        ),
        Link(former=FORMER),
    )
    pooling: str = _set(
        "pooling", options(POOLINGS, DEFAULT.pooling, "Sentence vector", elem_id="finetune-pooling", **INLINE)
    )
    hidden: str = _set("hidden", options(WIDTHS, "0", "Layers on top", elem_id="finetune-hidden", **INLINE))
    dropout: float = _set(
        "dropout", _amount(0, 0.5, DEFAULT.dropout, "Dropout in the layers on top", step=0.05, **WIDE)
    )
    trains: str = _set(
        "trains", menu(TRAINS, DEFAULT.trains, "Trainable parts", scale=3, elem_id="finetune-trains", **INLINE)
    )
    top: int = _set(
        "top_layers",
        _amount(  # as far as the model has them
            1,
            MOST_LAYERS,
            DEFAULT.top_layers,
            "Number of layers",
            visible=False,
            elem_id="finetune-top",
            scale=2,
            **INLINE,
        ),
    )
    rank: int = _set(
        "lora_rank", menu(RANKS, DEFAULT.lora_rank, "rank", visible=False, scale=1, elem_id="finetune-lora", **INLINE)
    )
    opt: str = _set(
        "optimizer",
        options(OPTIMIZERS, DEFAULT.optimizer, "Optimizer", info="AdamW with weight decay 0 is Adam.", **WIDE),
    )
    rate: float = _set("learning_rate", menu(RATES, DEFAULT.learning_rate, "Learning rate", scale=2, **INLINE))
    epochs: int = _set("epochs", _amount(1, 20, DEFAULT.epochs, "Epochs", scale=3, **INLINE))
    schedule: str = _set(
        "schedule",
        menu(SCHEDULES, DEFAULT.schedule, "Learning-rate schedule", scale=2, elem_id="finetune-schedule", **INLINE),
    )
    warmup: float = _set("warmup", _amount(0, 0.5, DEFAULT.warmup, "Warm-up", step=0.05, scale=3, **INLINE))
    batch: int = _set("batch_size", _amount(4, 64, DEFAULT.batch_size, "Batch size", step=4, **WIDE))
    decay: float = _set("weight_decay", _amount(0, 0.1, DEFAULT.weight_decay, "Weight decay", step=0.01, **WIDE))
    tokens: int = _set(
        "max_length",
        _amount(8, 256, DEFAULT.max_length, "Maximum number of tokens", step=8, elem_id="finetune-tokens", **WIDE),
    )
    weights: bool = _set("class_weights", switch("Give rare classes more weight", DEFAULT.class_weights, **WIDE))
    most: int = _amount(50, MAX_TRAIN, MAX_TRAIN, "Maximum number of training examples", step=50, min_width=170)
    seed: int = seed_choice(DEFAULT.seed, min_width=170)
    hub: str = choice(
        "",
        _text(
            label="Data set on the Hub: owner/name or owner/name:config",
            max_length=200,
            elem_id="finetune-hub",
            scale=6,
            min_width=240,
        ),
    )
    columns: str = choice("", Control(lambda _: gr.Textbox("", visible="hidden"), lambda _, said: said or ""))
    pairs: bool = _set("contrast", switch("Learn from pairs of examples first", DEFAULT.contrast, **WIDE))

    file: Any = unlinked(None, redraws=True)
    test_file: Any = unlinked(None, redraws=True)
    hub_asked: str = unlinked("", redraws=True)  # the name that the reader pressed for; what a link says is only a text
    earlier: str = unlinked(MODEL, redraws=True, by_script=True)  # the number of a run to begin with, or MODEL
    history: Sequence[Record] = unlinked((), redraws=True)
    past: Sequence[Record] = unlinked(())  # the history, where one more run is no reason to draw
    trained: str = unlinked("")  # the run whose model "Try it" uses
    phase: str = unlinked("")
    returning: str = unlinked("")
    pause_says: str = unlinked("")
    try_0: str = unlinked("")
    try_1: str = unlinked("")
    try_2: str = unlinked("")

    @property
    def boxes(self) -> tuple[str, ...]:
        """The texts in the boxes of "Try it"."""
        return tuple(getattr(self, name) or "" for name in TRIES)

    @property
    def settings(self) -> list[Any]:
        """The values of `read_settings`."""
        return [getattr(self, SETTINGS[name]) for name in RECIPE]

    @property
    def picked(self) -> tuple[Any, ...]:
        """The choice of data, as `read_dataset` takes it before the seed; of the Hub, the data set that was fetched."""
        return tuple(getattr(self, name) for name in PICKED)

    def splits(self) -> Splits:
        """The data, or the task's first of our own. Raises UserError if they can't be had."""
        data, file, test_file, most = fitting(self.task, self.data), self.file, self.test_file, self.most
        return read_dataset(self.task, data, file, test_file, self.hub_asked, self.columns, most, self.seed)

    def recipe(self, spec: ModelSpec) -> Recipe:
        """The recipe for this model. Raises UserError if it does not fit it."""
        return chosen_recipe(spec, *self.picked, *self.settings)
