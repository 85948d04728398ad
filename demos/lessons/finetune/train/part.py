"""Part "Train": pick a task and a recipe, change one setting, press Start, watch the training, try the model."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr

from demos.files import read_beside
from demos.lessons.finetune.train import layout
from demos.lessons.finetune.train.controller import CHANGED, Trainer, running_buttons
from demos.lessons.finetune.train.recipe import axes, wire_recipe
from demos.lessons.finetune.train.try_it import wire_examples
from demos.page.folds import all_controls, folds
from demos.page.lesson import IN_BROWSER, Page, Part, by_component
from demos.training.form_values import HUB, RECIPE, UPLOAD, fitting, read_dataset, shown_settings
from demos.training.presets import FORMER, IDLE, PRESETS, recipe_for
from demos.training.sources import READERS
from demos.widgets.file_picker.file_picker import offered
from demos.widgets.run_controller.run_controller import RunController
from demos.widgets.scripted.scripted import scripted
from demos.widgets.tasks.registry import VIEWS, bundled, view_of

SOMETIMES = tuple(dict.fromkeys(name for names in IDLE.values() for name in names))  # choices that not all tasks have
PICKED = ("task", "data", "file", "test_file", "hub", "columns", "most")  # what `read_dataset` takes before the seed


def build(page: Page) -> None:
    """Tasks above; the run beside the recipe; the data and the steps, in the curve's place until there is one; folds.

    Once a run has ended, "Try it" stands beside its curve, and what it learned below. style.css says what is where.
    """
    trainer = Trainer(page.services)
    controller = RunController(page.services.trainings, "train", trainer.work, running_buttons)
    parts: dict[str, Any] = {
        **controller.states(),
        "kept": page.trained,
        "shown": gr.State({}),
        "history": page.history,
        "phase": gr.Textbox("", visible="hidden"),  # a run's messages beside its curve
    }
    parts |= layout.tasks()
    with gr.Row(elem_classes="lab"):
        with gr.Column(min_width=0, elem_classes="lab-run"):
            parts |= layout.live(trainer.feeds.news)
        with gr.Column(min_width=0, elem_classes="lab-try"):
            parts |= layout.try_it()
        with gr.Column(min_width=0, elem_classes="recipe"):
            parts |= layout.recipe()
            with all_controls(page, __file__, set_elsewhere=True):
                parts |= layout.more()
        with gr.Column(min_width=0, elem_classes="lab-data"):
            parts["told"] = gr.HTML(elem_id="finetune-data", elem_classes="picture")
            page.show_look()
        with gr.Column(min_width=0, elem_classes="lab-walk"):
            parts["walk"] = scripted(read_beside(__file__, "walk.js"), "finetune-walk")
        parts |= layout.results()
    none = layout.TEXT.no_numbers()
    parts["numbers"], parts["code"] = folds(
        __file__, "Trains with this recipe and prints the test scores", numbers=none
    )
    _wire_task(page, parts)
    wire_recipe(page, trainer, parts, *_chosen(parts, "hub_asked"))
    _wire_runs(page, controller, trainer, parts)
    _keep(page, parts)


def _keep(page: Page, parts: dict[str, Any]) -> None:
    short = {  # the data before the task: a new task sets one of its own data sets if none fits
        "data": "data", "task": "task", "preset": "preset", "pooling": "pooling", "hidden": "hidden",
        "dropout": "dropout", "trains": "trains", "top": "top_layers", "rank": "lora_rank", "opt": "optimizer",
        "rate": "learning_rate", "epochs": "epochs", "schedule": "schedule", "warmup": "warmup", "batch": "batch_size",
        "decay": "weight_decay", "tokens": "max_length", "weights": "class_weights", "most": "most", "seed": "seed",
        "hub": "hub", "columns": "columns", "pairs": "contrast",
    }  # fmt: skip
    page.keep(**{name: parts[part] for name, part in short.items()})
    page.former["preset"] = FORMER
    brought = {
        "preset": {key: _by_control(key, "sentence") for key in PRESETS if key != "quick"},
        "task": {kind: _by_control("quick", kind) for kind in VIEWS},
    }
    page.follows |= {
        name: [(other, {key: values[part] for key, values in recipes.items()}) for other, recipes in brought.items()]
        for name, part in short.items() if part in RECIPE and part != "seed"
    }  # fmt: skip


def _by_control(preset: str, kind: str) -> dict[str, Any]:
    """The value of each control of the recipe for a preset and a task."""
    return dict(zip(RECIPE, shown_settings(recipe_for(preset, kind)), strict=True))


def _chosen(parts: dict[str, Any], hub: str) -> tuple[list[gr.Component], list[gr.Component]]:
    """(the data picker's, the recipe's), in the order of `read_dataset` and `read_settings`.

    `hub` is the Hub's box, where the reader presses Start, or the name that was pressed for: nothing else fetches.
    """
    return [parts[hub if name == "hub" else name] for name in PICKED], [parts[name] for name in RECIPE]


def _wire_task(page: Page, parts: dict[str, Any]) -> None:
    """Handle another task: everything on the page changes to it."""

    def show_task(
        kind: str, data: str, run: str, finished_run: str, shown: dict[str, Any], seed: Any
    ) -> dict[str, Any]:
        """The choices that apply to this task, the try-it boxes, and the results of its last run."""
        view, data = view_of(kind), fitting(kind, data)
        known = bool(finished_run and shown and shown["kind"] == kind)
        changes = {name: gr.update(visible=name not in IDLE.get(kind, ())) for name in SOMETIMES}
        changes["poolings"] = gr.update(visible=kind == "sentence")
        changes["results"] = gr.update(visible=known and "recalled" not in shown)
        for name, (label, sample) in zip(layout.TRIES, layout.tries(view), strict=True):
            changes[name] = gr.update(label=label, value=sample, visible=bool(label))
        if not run:
            changes |= {"curve": shown["curve"]} if known else _idle(kind, data, seed)
        return changes

    # The menu changes in the browser alone: to the server all choices stay valid, also of events on their way.
    menus = json.dumps({kind: bundled(kind) for kind in VIEWS}).replace("<", "\\u003c")
    others = json.dumps(layout.ELSEWHERE)
    parts["task"].change(
        None,
        [parts["task"], parts["data"]],
        [parts["data"]],
        js=f"""(task, data) => {{
            const ours = ({menus})[task]; // a file and the Hub stay: their columns may be this task's
            const others = {others};
            const known = [...ours, ...others].some((choice) => choice[1] === data);
            return {{ __type__: "update", choices: [...ours, ...others], value: known ? data : ours[0][1] }};
        }}""",
        **layout.HIDE,
    )
    parts["task"].input(  # those of the task before, unless they are brought along
        None,
        None,
        [parts["columns"]],
        js='() => { const { carried = "" } = insideBert; insideBert.carried = undefined; return carried; }',
        **IN_BROWSER,
    )
    picked = {kind: {"label": READERS[kind].forms, "elem_classes": offered(READERS[kind].endings)} for kind in VIEWS}
    parts["task"].change(
        None,
        [parts["task"]],
        [parts["file"], parts["test_file"]],
        js=f"""(task) => {{
            const {{ label, elem_classes }} = ({json.dumps(picked)})[task]; // what the dialogs offer
            return [{{ __type__: "update", label, elem_classes }}, {{ __type__: "update", elem_classes }}];
        }}""",
        **IN_BROWSER,
    )
    hub, requested = parts["hub"], parts["hub_asked"]
    gr.on(
        [hub.submit, parts["fetch"].click],
        None,
        [hub, requested],
        [requested],
        js="(hub, asked) => (hub.trim() === asked ? `${asked} ` : hub.trim())",  # pressed again: tried again
        **IN_BROWSER,
    )
    gr.on(
        [hub.change],
        None,
        [hub, requested],
        [requested],
        js='(hub, asked) => (hub.trim() === asked.trim() ? asked : "")',
        **IN_BROWSER,
    )
    page.on(
        [parts["task"].change],
        by_component(parts, show_task),
        [parts[name] for name in ("task", "data", "run", "kept", "shown", "seed")],
        [parts[name] for name in (*SOMETIMES, "poolings", "results", "curve", *layout.TRIES)],
        trigger_mode="always_last",
        show_progress="hidden",
    )


def _idle(kind: str, data: str, seed: Any) -> dict[str, Any]:
    """Empty axes with the score of guessing; no change if the data is not there yet."""
    if data in (UPLOAD, HUB):
        return {}
    return {"curve": axes(read_dataset(kind, data, None, None, "", "", 10**6, seed))}


def _wire_runs(page: Page, controller: RunController, trainer: Trainer, parts: dict[str, Any]) -> None:
    """Wire Start, Pause, Stop and the try-it boxes."""
    picked, recipe = _chosen(parts, "hub")
    run, tries, pause = parts["run"], [parts[name] for name in layout.TRIES], parts["pause"]
    inputs = [*page.sentence, parts["earlier"], *picked, *recipe]
    pressed = ("start", "pause", "stop")
    controller.wire(page, parts, [(parts["start"].click, {})], inputs, ("curve", "phase"), pressed)
    page.on(
        [parts["phase"].change],
        by_component(parts, trainer.finish),
        [parts["phase"], run, parts["task"], *tries],
        [parts[name] for name in CHANGED],
        show_progress="hidden",
    )
    page.on([pause.click], trainer.pause, [run, pause], [pause], show_progress="hidden")
    wire_examples(parts["try_examples"], parts["task"], parts["data"], tries)
    ask = [parts["ask"].click, *(box.submit for box in tries)]
    page.on(  # a press while an answer is awaited is about the text at that moment
        ask,
        trainer.answer,
        [parts["kept"], parts["shown"], *tries],
        [parts["answer"]],
        trigger_mode="always_last",
    )
    page.on(
        [page.returning.change],
        lambda reader, shown: {parts["shown"]: shown or trainer.recalled(reader)},
        [page.returning, parts["shown"]],
        [parts["shown"]],
        trigger_mode="multiple",
        show_progress="hidden",
    )


PART = Part(
    tab="Train",
    look="Choose a task and a recipe, change one setting under “All controls”, and click Start. Does the validation "
    "curve follow the training curve?",
    build=build,
    reads_sentence=False,
    order=1,
)
