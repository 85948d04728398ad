"""Part "Train": pick a task, begin with a recipe, change one thing, press Start, watch it learn, try it."""

from __future__ import annotations

import json
import math
from typing import Any

import gradio as gr

from demos.errors import UserError
from demos.figures.training_code import code_of
from demos.figures.training_recipe import chain_html, preset_html, rate_html
from demos.lessons.finetune import train_layout as layout
from demos.page.curve import idle_message
from demos.page.lab import BENCHES, bench_of, bundled
from demos.page.lesson import Page, Part
from demos.page.services import Sentence
from demos.page.trainer import CHANGED, QUEUE, Trainer
from demos.training.asked import (
    AWAITED,
    HUB,
    RECIPE,
    UNNAMED,
    UPLOAD,
    fitting,
    read_dataset,
    read_settings,
    shown_settings,
)
from demos.training.data.sentences import Splits
from demos.training.data.sources import reader_of
from demos.training.presets import PRESETS, changed, recipe_for
from demos.training.settings import Settings
from demos.training.tasks.kinds import task_of

PICKED = ("task", "data", "file", "test_file", "hub", "most")  # what `read_dataset` takes before the seed
HIDE: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}


def build(page: Page) -> None:
    """Tasks above, the recipe beside the live curve, then what it learned, the data and the folds."""
    workshop = page.services.workshop
    trainer = Trainer(page.services, workshop)
    parts: dict[str, Any] = {
        "run": gr.State("", delete_callback=workshop.runs.discard),
        "kept": page.trained,
        "shown": gr.State({}),
        "history": page.history,
        "begun": gr.Textbox("", visible="hidden"),  # the run that is to be streamed
        "phase": gr.Textbox("", visible="hidden"),  # what a run's stream tells beside its curve
    }
    parts |= layout.tasks()
    with gr.Row(elem_classes="lab"):
        with gr.Column(min_width=320, scale=5, elem_classes="recipe"):
            parts |= layout.recipe()
            parts |= layout.more()
        with gr.Column(min_width=320, scale=8):
            parts |= layout.live(trainer.news)
    parts |= layout.results()
    parts |= layout.data()
    parts |= layout.folds()
    _wire_task(page, parts)
    _wire_recipe(page, trainer, parts)
    _wire_runs(page, trainer, parts)
    _keep(page, parts)


def _keep(page: Page, parts: dict[str, Any]) -> None:
    short = {
        "task": "task", "data": "data", "preset": "preset", "pooling": "pooling", "hidden": "hidden",
        "act": "activation", "dropout": "dropout", "trains": "trains", "top": "top_layers", "rank": "lora_rank",
        "opt": "optimizer", "rate": "learning_rate", "layers": "layer_decay", "epochs": "epochs",
        "schedule": "schedule", "warmup": "warmup", "batch": "batch_size", "decay": "weight_decay",
        "tokens": "max_length", "weights": "class_weights", "smooth": "label_smoothing", "precision": "precision",
        "most": "most", "seed": "seed",
    }  # fmt: skip
    page.keep(**{name: parts[part] for name, part in short.items()})


def _chosen(parts: dict[str, Any]) -> tuple[list[gr.Component], list[gr.Component]]:
    """(the data picker's, the recipe's), in the order of `read_dataset` and `read_settings`."""
    return [parts[name] for name in PICKED], [parts[name] for name in RECIPE]


def _wire_task(page: Page, parts: dict[str, Any]) -> None:
    """Another task: everything on the page becomes its own."""

    def show_task(kind: str, data: str, run: str, kept: str, shown: dict[str, Any], seed: Any) -> list[Any]:
        """The pooling, the try-it boxes, and what was learned on this task."""
        bench, data = bench_of(kind), fitting(kind, data)
        known = bool(kept and shown and shown["kind"] == kind)
        filled = [*bench.view.boxes, *[("", "")] * (len(parts["boxes"]) - len(bench.view.boxes))]
        boxes = [gr.update(label=label, value=sample, visible=bool(label)) for label, sample in filled]
        curve = gr.skip() if run else shown["curve"] if known else _idle(kind, data, seed)
        return [gr.update(visible=bench.pooled), gr.update(visible=known), curve, *boxes]

    # The menu changes in the browser alone: to the server all choices stay valid, also of events on their way.
    menus = json.dumps({kind: bundled(kind) for kind in BENCHES}).replace("<", "\\u003c")
    others = json.dumps(layout.ELSEWHERE)
    parts["task"].change(
        None,
        [parts["task"], parts["data"]],
        [parts["data"]],
        js=f"""(task, data) => {{
            const ours = ({menus})[task]; // a file that was chosen is of the task before
            const value = ours.some((choice) => choice[1] === data) ? data : ours[0][1];
            return {{ __type__: "update", choices: [...ours, ...{others}], value }};
        }}""",
        **HIDE,
    )
    shown = [parts[name] for name in ("pooling", "results", "curve")]
    page.on(
        [parts["task"].change],
        show_task,
        [parts[name] for name in ("task", "data", "run", "kept", "shown", "seed")],
        [*shown, *parts["boxes"]],
        trigger_mode="always_last",
        show_progress="hidden",
    )


def _idle(kind: str, data: str, seed: Any) -> Any:
    """Empty axes with what guessing reaches; nothing new where the data is not there yet."""
    if data in (UPLOAD, HUB):
        return gr.skip()
    return _axes(read_dataset(kind, data, None, None, "", 10**6, seed))


def _axes(dataset: Splits) -> str:
    task = task_of(dataset, Settings())
    return idle_message(task.metric, task.baseline(dataset)[1], len(task.labels))


def _wire_recipe(page: Page, trainer: Trainer, parts: dict[str, Any]) -> None:
    """What the choices mean, before anything is trained."""
    picked, recipe = _chosen(parts)

    def awaited(data: str, file: Any, hub: str) -> str:
        """What is missing before there is any data; "" where nothing is."""
        return AWAITED if data == UPLOAD and not file else UNNAMED if data == HUB and not hub else ""

    def show(
        bar: Sentence, preset: str, kind: str, data: str, file: Any, test_file: Any, hub: str, most: Any, *rest: Any
    ) -> list[Any]:
        """The recipe's shapes, its learning rate and the data; needs no model in memory."""
        settings, data = read_settings(*rest), fitting(kind, data)
        spec = page.services.store.spec(bar.model)
        chosen = PRESETS.get(preset, PRESETS["quick"])
        moved = changed(settings, preset, kind)
        if not bench_of(kind).pooled:
            moved.pop("pooling", None)  # it does nothing here
        told = preset_html(chosen.title, chosen.told, moved)
        places = [gr.update(visible=data == UPLOAD), gr.update(visible=data == HUB)]
        missing = awaited(data, file, hub)
        if missing:
            return [told, *places, gr.skip(), gr.skip(), f"<p>{missing} {reader_of(kind).told}</p>", gr.skip()]
        dataset = read_dataset(kind, data, file, test_file, hub, most, settings.seed)
        task = task_of(dataset, settings)
        return [
            told,
            *places,
            rate_html(settings, settings.epochs * math.ceil(len(dataset.train) / settings.batch_size)),
            chain_html(kind, spec, settings, task.labels),
            bench_of(kind).view.told(dataset),
            code_of(spec, settings, data, kind),
        ]

    def show_cost(
        bar: Sentence, kind: str, data: str, file: Any, test_file: Any, hub: str, most: Any, *rest: Any
    ) -> str:
        """What Start would do, counted on the model."""
        try:
            settings = read_settings(*rest)
            dataset = read_dataset(kind, fitting(kind, data), file, test_file, hub, most, settings.seed)
        except UserError:  # `show` tells it
            return ""
        return trainer.cost(bar.model, dataset, settings)

    def show_idle(run: str, kept: str, shown: dict[str, Any], kind: str, data: str, *rest: Any) -> Any:
        """Empty axes with what guessing reaches, unless a run of this task is on them."""
        if run or (kept and shown and shown["kind"] == kind):
            return gr.skip()
        try:
            return _axes(read_dataset(kind, fitting(kind, data), *rest))
        except UserError:  # `show` tells it
            return gr.skip()

    def fill(preset: str, kind: str, seed: Any) -> list[Any]:
        """A preset's choices for a task; the seed is no part of it."""
        return [*shown_settings(recipe_for(preset, kind))[:-1], seed]

    data_moved = [parts[name].change for name in ("task", "data", "file", "test_file", "most")] + [parts["hub"].submit]
    moved = [*data_moved, parts["preset"].change, *[one.change for one in recipe]]
    shown = [parts[name] for name in ("preset_told", "files", "hubs", "drawn", "chain", "told", "code")]
    page.draw(show, [parts["preset"], *picked, *recipe], shown, triggers=moved, show_progress="hidden")
    page.draw(show_cost, [*picked, *recipe], [parts["cost"]], triggers=moved, show_progress="hidden")
    page.on(
        [page.settled.change, *data_moved[1:]],
        show_idle,
        [*[parts[name] for name in ("run", "kept", "shown")], *picked, parts["seed"]],
        [parts["curve"]],
        trigger_mode="always_last",
        show_progress="hidden",
    )
    chosen = [parts[name] for name in ("preset", "task", "seed")]
    page.on([parts["preset"].input, parts["task"].input], fill, chosen, recipe, show_progress="hidden")
    parts["trains"].change(
        None,
        [parts["trains"]],
        [parts["top_layers"], parts["lora_rank"]],
        js='(trains) => ["top", "lora"].map((one) => ({ __type__: "update", visible: trains === one }))',
        **HIDE,
    )


def _wire_runs(page: Page, trainer: Trainer, parts: dict[str, Any]) -> None:
    """Start, pause, stop, ask."""
    picked, recipe = _chosen(parts)
    run, begun, phase = (parts[name] for name in ("run", "begun", "phase"))
    quiet: dict[str, Any] = {"show_progress": "hidden"}
    buttons = [parts[name] for name in ("start", "pause", "stop")]
    page.on([parts["start"].click], trainer.begin, [run], [run, begun, *buttons], trigger_mode="once", **quiet)
    page.on(
        [begun.change], trainer.stream, [begun, *page.sentence, *picked, *recipe], [parts["curve"], phase],
        **quiet, **QUEUE,
    )  # fmt: skip
    page.on(
        [phase.change],
        trainer.finish,
        [phase, run, parts["kept"], parts["history"], *parts["boxes"]],
        [parts[name] for name in CHANGED],
        **quiet,
    )
    pause, stop = parts["pause"], parts["stop"]
    page.on([stop.click], trainer.stop, [run], [stop], show_progress="hidden")
    page.on([pause.click], trainer.pause, [run, pause], [pause], show_progress="hidden")
    asked = [parts["ask"].click, *[box.submit for box in parts["boxes"]]]
    page.on(asked, trainer.answer, [parts["kept"], parts["shown"], *parts["boxes"]], [parts["answer"]])


PART = Part(
    slug="train",
    tab="Train",
    look="Pick a task, begin with a recipe, change one thing, press Start: does the validation curve follow the "
    "training curve?",
    build=build,
)
