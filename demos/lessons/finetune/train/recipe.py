"""The choices of "Train" explained before a training: shapes, rate, data, cost, program, empty axes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from functools import cache
from typing import Any

import gradio as gr

from demos.errors import UserError
from demos.figures.recipe import chain_html, preset_html, rate_html, rate_text
from demos.figures.short_text import short
from demos.figures.training_program import program_of, steps_of
from demos.lessons.finetune.train import layout
from demos.lessons.finetune.train.controller import Trainer
from demos.lessons.finetune.train.few_shot import few_shot_html
from demos.lessons.finetune.train.start import menu, start_html, start_of
from demos.page.lesson import IN_BROWSER, Page, by_component
from demos.page.services import Sentence
from demos.training.data.benchmarks import GLUE
from demos.training.data.columns.mapping import with_sheet
from demos.training.data.hub_data import NotFetchedError
from demos.training.data.splits import Splits, validation_as_test
from demos.training.example_lengths import lengths_of
from demos.training.export.recipe_file import chosen_recipe
from demos.training.form_values import AWAITED, HUB, UPLOAD, fitting, read_dataset, shown_settings
from demos.training.look import look_at, look_at_hub
from demos.training.presets import PRESETS, changed, learns_from_pairs, recipe_for
from demos.training.results.history import Record
from demos.training.settings import Settings
from demos.training.sources import SOURCES, reader_of
from demos.training.tasks.registry import task_of
from demos.widgets.column_picker.figure import picker_html
from demos.widgets.live_curve.live_curve import idle_message
from demos.widgets.tasks.examples import lent_html
from demos.widgets.tasks.registry import own_tokenizer, view_of
from demos.widgets.tasks.task_view import TaskView

SHOWN = ("preset_told", "files", "hubs", "earlier_told", "walk", "drawn", "chain", "told", "code")
TEXT_LENGTH = 300  # characters of an example as T5 would read it
UNFETCHED = "Enter the name of a data set on the Hub (owner/name) and click Fetch; it is downloaded only then."


def axes(dataset: Splits) -> str:
    """Empty axes with the baseline on this data."""
    task = task_of(dataset, Settings())
    validation = validation_as_test(dataset)
    beaten = task.baseline(validation), len(task.labels), task.mean_loss(validation)
    return idle_message(task.metric, *beaten, task.loss_name)


def data_html(view: TaskView, dataset: Splits, tokenizer: Any, model: str) -> str:
    """The data, tokenized by the chosen model's tokenizer or, if that is not at hand, by the bundled one."""
    lent = lent_html(model) if view.cut and tokenizer is None else ""
    return view.data(dataset, tokenizer or own_tokenizer()) + lent


def column_html(kind: str, data: str, file: Any, test_file: Any, hub: str, columns: str, *drawn: Any) -> str:
    """The column picker of a file or a data set of the Hub; "" for one of which nothing can be made, as the data says.

    `drawn` is what `read_dataset` takes beside these.
    """
    try:
        look = look_at(file, kind, columns) if data == UPLOAD else look_at_hub(hub, kind, columns)
        sheet = with_sheet("", look.sheet) if look.sheet else ""
        likely = look_at(file, chosen=sheet) if data == UPLOAD else look
    except UserError:
        return ""
    if look.mapping is None:
        return ""
    refused = ""
    if not look.problem:
        try:
            read_dataset(kind, data, file, test_file, hub, columns, *drawn)
        except UserError as error:
            refused = str(error)
    task = view_of(likely.kind).word if likely.kind != kind and likely.sure and not look.rating else ""
    return picker_html(look, reader_of(kind).columns, columns, refused, task, own_tokenizer())


def wire_recipe(page: Page, trainer: Trainer, parts: dict[str, Any], picked: list[Any], recipe: list[Any]) -> None:
    """The handlers that explain the choices before a training."""
    store = page.services.store

    def show(bar: Sentence, preset: str, earlier: str, history: list[Record], kind: str, *form: Any) -> dict[str, Any]:
        """The start, the recipe's shapes, its learning rate and the data; needs no model in memory."""
        start = start_of(page.services, bar.model, history, earlier)
        spec = start.spec
        chosen = replace(chosen_recipe(spec, kind, *form), earlier=start.downloaded)
        settings, about = chosen.settings, PRESETS.get(preset, PRESETS["quick"])
        shown: dict[str, Any] = {
            "preset_told": lambda: (
                preset_html(about.title, about.description, changed(settings, preset, kind))
                + (few_shot_html() if learns_from_pairs(settings, kind) else "")
            ),
            "files": gr.update(visible=chosen.data == UPLOAD),
            "hubs": gr.update(visible=chosen.data == HUB),
        }
        missing = {UPLOAD: "" if chosen.file else AWAITED, HUB: "" if chosen.hub else UNFETCHED}.get(chosen.data)
        if missing:
            tasks = [task for task in GLUE if task.kind == kind and chosen.data == HUB]
            return shown | {"told": layout.TEXT.awaited(missing, reader_of(kind).requirement, kind, tasks)}
        try:
            dataset = chosen.dataset()
        except UserError as error:
            of_file = chosen.data == UPLOAD and look_at(chosen.file, kind, chosen.columns).mapping is not None
            if not of_file and (chosen.data != HUB or isinstance(error, NotFetchedError)):
                raise
            return shown | {"told": layout.TEXT.awaited("", reader_of(kind).requirement)}  # the column picker says why
        task = task_of(dataset, settings)
        at_hand = store.tokenizer_at_hand(spec.key)
        steps = settings.epochs * math.ceil(len(dataset.train) / settings.batch_size)

        @cache
        def code() -> str:
            return program_of(spec, chosen, start.program(task))

        def walk() -> str:
            name = chosen.data if chosen.data in SOURCES else "task"
            return layout.TEXT.walk(
                start.title,
                kind,
                settings,
                learns_from_pairs(settings, kind),
                rate_text(settings.learning_rate),
                steps_of(code()),
                task.labels,
                *(short(text, TEXT_LENGTH) for text in task.as_text(dataset.train[0], name)),
            )

        def chain() -> str:
            tokenizer = at_hand or own_tokenizer()
            unpooled = settings.pooling == "none"
            longest = lengths_of(dataset, tokenizer, settings.max_length).longest if unpooled else 0
            return chain_html(kind, spec, settings, task.labels, longest)

        return shown | {
            "earlier_told": lambda: start_html(page.services, start, history, task),
            "walk": walk,
            "drawn": lambda: rate_html(settings, steps),
            "chain": chain,
            "told": lambda: data_html(view_of(kind), dataset, at_hand, spec.title),
            "code": code,
        }

    def show_columns(
        _: Sentence, kind: str, data: str, file: Any, test_file: Any, hub: str, columns: str, most: Any, seed: Any
    ) -> str:
        """Wire the roles of the columns of a reader's own file or of a data set from the Hub."""
        there = {UPLOAD: file, HUB: (hub or "").strip()}.get(data)
        return column_html(kind, data, file, test_file, hub, columns, most, seed) if there else ""

    def show_cost(bar: Sentence, earlier: str, history: list[Record], *form: Any) -> str:
        """The cost of Start, counted on the model."""
        try:
            spec = start_of(page.services, bar.model, history, earlier).spec
            chosen = chosen_recipe(spec, *form)
            dataset = chosen.dataset()
        except UserError:  # `show` tells it
            return ""
        return trainer.cost(spec.key, dataset, chosen.settings)

    def show_idle(
        run: str, finished_run: str, shown: dict[str, Any], returning: str, kind: str, data: str, *rest: Any
    ) -> Any:
        """Empty axes with the score of guessing, unless a run of this task is on them, or was before a reload."""
        if run:
            return gr.skip()
        last = shown or trainer.recalled(returning)
        if last and last["kind"] == kind:
            return gr.skip() if finished_run and shown else last["curve"]
        try:
            return axes(read_dataset(kind, fitting(kind, data), *rest))
        except UserError:  # `show` tells it
            return idle_message("score", ("", math.nan), 0) if data in (UPLOAD, HUB) else gr.skip()

    def fill(preset: str, kind: str, seed: Any) -> list[Any]:
        """A preset's choices for a task; the seed is no part of it."""
        return [*shown_settings(recipe_for(preset, kind))[:-1], seed]

    data_moved = [parts[name].change for name in ("task", "data", "file", "test_file", "columns", "most", "hub_asked")]
    moved = [*data_moved, parts["preset"].change, *[control.change for control in (parts["earlier"], *recipe)]]
    shown = [parts[name] for name in SHOWN]
    form = [parts["earlier"], page.history, *picked, *recipe]
    page.draw(by_component(parts, show), [parts["preset"], *form], shown, triggers=moved, show_progress="hidden")
    counted = [*moved, parts["kept"].change]  # after a run, now with its speed
    page.draw(show_cost, form, [parts["cost"]], triggers=counted, show_progress="hidden", pure=False)
    read = [*picked, parts["seed"]]
    page.draw(show_columns, read, [parts["picker"]], triggers=data_moved, show_progress="hidden")
    page.on(
        [page.settled.change, *data_moved[1:]],
        show_idle,
        [*[parts[name] for name in ("run", "kept", "shown")], page.returning, *picked, parts["seed"]],
        [parts["curve"]],
        for_all=True,
        trigger_mode="always_last",
        show_progress="hidden",
    )
    page.on(
        [page.history.change],
        lambda history, number: menu(page.services, history, number),
        [page.history, parts["earlier"]],
        [parts["earlier"], parts["earlier_told"]],
        trigger_mode="always_last",
        show_progress="hidden",
    )
    filled_by = [parts[name] for name in ("preset", "task", "seed")]
    page.on([parts["preset"].input, parts["task"].input], fill, filled_by, recipe, show_progress="hidden")
    # Only the browser narrows the choices, as for the data menu: the server still accepts the others, since events
    # may be on their way. One update sets the whole slider: Gradio keeps only one if it is not on the page yet.
    depths = {key: min(spec.num_layers, layout.MOST_LAYERS) for key, spec in store.catalogue.items()}
    listed = json.dumps(depths).replace("<", "\\u003c")
    gr.on(
        [parts["trains"].change, page.model.change, page.settled.change],
        None,
        [page.model, parts["trains"], parts["top_layers"]],
        [parts["top_layers"], parts["lora_rank"]],
        js=f"""(model, trains, value) => {{
            const maximum = ({listed})[model] ?? {layout.MOST_LAYERS};
            const now = (name) => ({{ __type__: "update", visible: trains === name }});
            return [{{ ...now("top"), maximum, value: Math.min(value, maximum) }}, now("lora")];
        }}""",
        **IN_BROWSER,
    )
