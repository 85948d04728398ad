"""Part "Export": the trained model as a folder for transformers, the run as a program and as a command."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import gradio as gr

from demos.errors import UserError
from demos.figures.run_table import run_title
from demos.figures.short_text import short
from demos.files import read_beside
from demos.lessons.finetune.export.hub import Publishing, hub_section
from demos.lessons.finetune.export.model_zips import Zips
from demos.page.folds import fold
from demos.page.lesson import IN_BROWSER
from demos.page.progress import EventOptions
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, unlinked
from demos.templates import templates
from demos.training.export.card import card
from demos.training.export.folder import CONTENTS
from demos.training.export.recipe_file import Recipe, recipe_json
from demos.training.export.run_log import Log, read_log
from demos.training.export.script import command_of, repeated, script_of
from demos.training.export.transformers_folder import form_of, how_loaded
from demos.training.learning.model import Trained
from demos.training.results.history import Record
from demos.training.service.readers import MAX_MODELS
from demos.training.service.runs import GONE
from demos.widgets.takeaway.takeaway import file_button, takeaway_row

TEXT = templates(__file__)
NAME_LENGTH = 60  # of a data set or a model
NO_RUN = "Train a model first; you can then download its folder here."
TAKING: EventOptions = {"concurrency_id": "keep", "concurrency_limit": 2}
SAVE = '() => { setTimeout(() => document.querySelector("#export-file a[download]")?.click(), 400); }'
BYTES, BITS = 4, 32  # of a float32
BUNDLED_MILLIONS = 22.7  # weights of the bundled encoder, as the question says


def taken(services: Services, run: str) -> tuple[Trained, Log]:
    """The run's model and its log. Raises UserError if either is gone."""
    if not run:
        raise UserError(NO_RUN)
    runs = services.trainings.runs
    trained, log = runs.trained(run), read_log(runs.folder(run))
    if log is None:
        raise UserError(GONE)
    return trained, log


def recipe_of(services: Services, bar: Sentence, run: str) -> tuple[Recipe, Log | None]:
    """The run's recipe; before one, the first that "Train" offers, on the bar's model."""
    if not services.trainings.runs.has(run):
        return Recipe(model=services.pretrained_key(bar.model)), None
    _, log = taken(services, run)
    return repeated(log), log


def picked(run: str, history: Sequence[Record], number: str | None) -> str:
    """The id of the reader's run of this number; of the last one where there is none.

    A number and no id comes from the browser, which could send another reader's.
    """
    return next((record.run for record in history if str(record.number) == number), run)


def zipped(
    services: Services, zips: Zips, run: str, history: Sequence[Record] = (), number: str = ""
) -> Iterator[Shown]:
    """The picked run's zip, and its progress until it is there."""
    run = picked(run, history, number)
    for step in zips.steps(run, *taken(services, run)):
        if isinstance(step, str):
            yield {"progress": TEXT.progress(step)}
        else:
            yield {"progress": "", "file": gr.update(value=str(step), visible=True)}


def recipe_file(
    services: Services, bar: Sentence, run: str, history: Sequence[Record] = (), number: str = ""
) -> tuple[str, str]:
    """The picked run's recipe as a file for the command."""
    recipe, _ = recipe_of(services, bar, picked(run, history, number))
    return "bert-recipe.json", recipe_json(recipe)


def _body(text: str) -> str:
    """A card without its front matter, one size of heading down."""
    body = text.split("\n---\n", 1)[-1]
    return re.sub(r"^(#+ )", r"##\1", body, flags=re.MULTILINE)


class Export(View):
    tab, order, former, reads_sentence = "Export", 5, "keep", False
    look = (
        "Download the model as a folder that transformers can load, and the run as a program that gives the same "
        "numbers."
    )

    @dataclass(frozen=True)
    class Choices:
        run: str = unlinked("", redraws=True)  # the reader's last
        history: tuple[Record, ...] = unlinked(())
        number: str | None = unlinked(None, redraws=True)  # of the run to export

    def lay_out(self, at: Layout) -> None:
        page, services = at.page, at.page.services
        number = gr.Dropdown([], label="Run to export", filterable=False, visible=False, elem_id="export-number")
        number.allow_custom_value = True  # `draw` says to the browser alone what it offers
        reader = [at.hold("run", page.trained), at.hold("history", page.history), at.hold("number", number)]
        at["told"] = gr.HTML(elem_id="export-told", elem_classes="picture")
        with gr.Row(elem_classes="export-row"):
            at["button"] = button = gr.Button(
                "Download the folder (zip)", variant="primary", elem_id="export-download", scale=0, min_width=290
            )
            progress = gr.HTML(elem_id="export-made")
        at["file"] = file = gr.File(
            visible=False, label="Contents of the folder", interactive=False, elem_id="export-file", height=90
        )
        at["loaded"] = gr.HTML(elem_id="export-loaded")
        gr.HTML(TEXT.contents(CONTENTS), elem_id="export-contents")
        gr.HTML(TEXT.title("The same run without this page"))
        at["command"] = gr.Code(
            language="shell", label="As a command", interactive=False, wrap_lines=True, elem_id="export-command"
        )
        gr.Markdown(read_beside(__file__, "command.md"), elem_classes="export-words")
        with takeaway_row():
            file_button(page, "Recipe (JSON)", partial(recipe_file, services), reader)
        with fold(__file__, "program", "As a program"):
            at["script"] = gr.Code(language="python", show_label=False, label="As a program", interactive=False)
        hub_section(Publishing(services.trainings.runs, partial(taken, services)), picked, reader)
        with fold(__file__, "card", "The model card"):
            at["card"] = gr.Markdown()
        at.folds(numbers=())
        page.trained.change(None, None, [number], js="() => null", **IN_BROWSER)  # the last one is shown then
        zips, filled = partial(zipped, services, Zips(file.GRADIO_CACHE)), {"progress": progress, "file": file}
        alone: EventOptions = {"trigger_mode": "once", "show_progress": "hidden"}
        page.on([button.click], zips, reader, filled, **TAKING | alone).then(
            None, None, None, js=SAVE, api_visibility="private", show_progress="hidden"
        )

    @drawn(limits=("number",), show_progress="minimal")
    def draw(self, on: On, c: Choices) -> Shown:
        """The runs to pick from, newest first, and the outputs for the picked one, or for the last if it is gone."""
        runs = on.services.trainings.runs
        wanted = picked(c.run, c.history, c.number)
        shown = wanted if runs.has(wanted) else c.run
        here = [record for record in reversed(c.history) if runs.has(record.run)]
        choices = [(run_title(record, last=record.run == c.run), str(record.number)) for record in here]
        value = next((str(record.number) for record in here if record.run == shown), None)
        recipe, log = recipe_of(on.services, on.sentence, shown)
        changes = {
            "number": limit(choices=choices, value=value, visible=len(choices) > 1),
            "button": gr.update(interactive=log is not None),
            "file": gr.update(value=None, visible=False),
            "script": script_of(recipe, log),
            "command": command_of(recipe),
        }
        room = TEXT.gone([record.number for record in c.history if record not in here], MAX_MODELS)
        if log is None:
            about = room if c.history else TEXT.invitation(on.services.store.spec(recipe.model).title)
            return changes | {"told": about, "loaded": "", "card": "There is no model card before a run."}
        trained, _ = taken(on.services, shown)
        config = trained.model.encoder.config
        how = how_loaded(trained.task, config)
        names = [short(name, NAME_LENGTH) for name in (log.base_title, log.data_name)]
        return changes | {
            "told": TEXT.run(log, *names, last=shown == c.run) + room,
            "loaded": TEXT.loaded(how),
            "card": _body(card(log, form_of(trained.task, config), how)),
        }


def answer(services: Services, sentence: Sentence) -> Answer:
    """The bytes of the bundled encoder, in millions; and those of the reader's."""
    count = sum(weights.numel() for weights in services.loaded(sentence.model).model.parameters())
    facts = {"parameters": f"{count:,}", "size": count * BYTES / 1e6}
    mistakes = {"changed": 0.0, "byte": BUNDLED_MILLIONS, "bits": BUNDLED_MILLIONS * BITS}
    return Answer(number=BUNDLED_MILLIONS * BYTES, facts=facts, mistakes=mistakes)
