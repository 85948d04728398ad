"""Part "Export": the trained model as a folder for transformers, the run as a program and as a command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from demos.errors import UserError
from demos.figures.run_table import run_title
from demos.figures.short_text import short
from demos.files import read_beside
from demos.lessons.finetune.export.hub import Publishing, hub_section
from demos.lessons.finetune.export.model_zips import Zips
from demos.page.folds import fold, formula_fold, source_fold
from demos.page.lesson import Page, Part, by_component, with_sentence
from demos.page.services import Sentence, Services
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
TAKING: dict[str, Any] = {"concurrency_id": "keep", "concurrency_limit": 2}
SAVE = '() => { setTimeout(() => document.querySelector("#export-file a[download]")?.click(), 400); }'


class Keeper:
    """The part's handlers, for all its readers. Each reader's page remembers which run is theirs.

    A handler is given the reader's last run, their history and the number that they picked.
    """

    def __init__(self, services: Services, zips: Zips) -> None:
        self.services, self.runs, self.zips = services, services.trainings.runs, zips

    def taken(self, run: str) -> tuple[Trained, Log]:
        """The run's model and what is known of it. Raises UserError where either is gone."""
        if not run:
            raise UserError(NO_RUN)
        trained, log = self.runs.trained(run), read_log(self.runs.folder(run))
        if log is None:
            raise UserError(GONE)
        return trained, log

    def recipe(self, bar: Sentence, run: str) -> tuple[Recipe, Log | None]:
        """The last run's recipe; before one, the first that "Train" offers, on the bar's model."""
        if not self.runs.has(run):
            return Recipe(model=self.services.key(bar.model)), None
        _, log = self.taken(run)
        return repeated(log), log

    def picked(self, run: str, history: Sequence[Record], number: str | None) -> str:
        """The id of the reader's run of this number; of the last one where there is none.

        A number and no id comes from the browser, which could send another reader's.
        """
        return next((record.run for record in history if str(record.number) == number), run)

    def show(self, bar: Sentence, run: str, history: Sequence[Record] = (), number: str = "") -> dict[str, Any]:
        """The runs to pick from, newest first, and the outputs for the picked one, or for the last if it is gone."""
        picked = self.picked(run, history, number)
        shown = picked if self.runs.has(picked) else run
        here = [record for record in reversed(history) if self.runs.has(record.run)]
        choices = [(run_title(record, last=record.run == run), str(record.number)) for record in here]
        value = next((str(record.number) for record in here if record.run == shown), None)
        recipe, log = self.recipe(bar, shown)
        changes = {
            "number": gr.update(choices=choices, value=value, visible=len(choices) > 1),
            "button": gr.update(interactive=log is not None),
            "file": gr.update(value=None, visible=False),
            "script": script_of(recipe, log),
            "command": command_of(recipe),
        }
        room = TEXT.gone([record.number for record in history if record not in here], MAX_MODELS)
        if log is None:
            about = room if history else TEXT.invitation(self.services.store.spec(recipe.model).title)
            return changes | {"told": about, "loaded": "", "card": "There is no model card before a run."}
        trained, _ = self.taken(shown)
        config = trained.model.encoder.config
        how = how_loaded(trained.task, config)
        names = [short(name, NAME_LENGTH) for name in (log.base_title, log.data_name)]
        return changes | {
            "told": TEXT.run(log, *names, last=run == shown) + room,
            "loaded": TEXT.loaded(how),
            "card": _body(card(log, form_of(trained.task, config), how)),
        }

    def zipped(self, run: str, history: Sequence[Record] = (), number: str = "") -> Iterator[dict[str, Any]]:
        """The picked run's zip, and its progress until it is there."""
        run = self.picked(run, history, number)
        for step in self.zips.steps(run, *self.taken(run)):
            if isinstance(step, str):
                yield {"progress": TEXT.progress(step)}
            else:
                yield {"progress": "", "file": gr.update(value=str(step), visible=True)}

    def recipe_file(self, bar: Sentence, run: str, history: Sequence[Record] = (), number: str = "") -> tuple[str, str]:
        """The picked run's recipe as a file for the command."""
        recipe, _ = self.recipe(bar, self.picked(run, history, number))
        return "bert-recipe.json", recipe_json(recipe)


def _body(text: str) -> str:
    """A card without its front matter, one size of heading down."""
    body = text.split("\n---\n", 1)[-1]
    return re.sub(r"^(#+ )", r"##\1", body, flags=re.MULTILINE)


def build(page: Page) -> None:
    """The run and its download, the same as program and command, the card, the Hub."""
    parts: dict[str, Any] = {
        "number": gr.Dropdown([], label="Run to export", filterable=False, visible=False, elem_id="export-number"),
        "told": gr.HTML(elem_id="export-told", elem_classes="picture"),
    }
    with gr.Row(elem_classes="export-row"):
        parts["button"] = gr.Button(
            "Download the folder (zip)", variant="primary", elem_id="export-download", scale=0, min_width=290
        )
        progress = gr.HTML(elem_id="export-made")
    file = gr.File(visible=False, label="Contents of the folder", interactive=False, elem_id="export-file", height=90)
    keeper = Keeper(page.services, Zips(file.GRADIO_CACHE))
    picked = [page.trained, page.history, parts["number"]]
    parts |= {"file": file, "loaded": gr.HTML(elem_id="export-loaded")}
    gr.HTML(TEXT.contents(CONTENTS), elem_id="export-contents")
    gr.HTML(TEXT.title("The same run without this page"))
    parts["command"] = gr.Code(
        language="shell", label="As a command", interactive=False, wrap_lines=True, elem_id="export-command"
    )
    gr.Markdown(read_beside(__file__, "command.md"), elem_classes="export-words")
    with takeaway_row():
        file_button(page, "Recipe (JSON)", keeper.recipe_file, picked)
    with fold(__file__, "program", "As a program"):
        parts["script"] = gr.Code(language="python", show_label=False, label="As a program", interactive=False)
    hub_section(Publishing(keeper.runs, keeper.taken), keeper.picked, picked)
    with fold(__file__, "card", "The model card"):
        parts["card"] = gr.Markdown()
    formula_fold(__file__)
    source_fold(__file__)
    show, shown = by_component(parts, keeper.show), list(parts.values())
    page.draw(show, picked, shown, triggers=[parts["number"].input])
    page.on([page.trained.change], with_sentence(show), [*page.sentence, *picked[:2]], shown)  # the newest
    zipped = by_component({"progress": progress, "file": file}, keeper.zipped)
    alone: dict[str, Any] = {"trigger_mode": "once", "show_progress": "hidden"}
    page.on([parts["button"].click], zipped, picked, [progress, file], **TAKING, **alone).then(
        None, None, None, js=SAVE, api_visibility="private", show_progress="hidden"
    )


PART = Part(
    tab="Export",
    look="Download the model as a folder that transformers can load, and the run as a program that gives the same "
    "numbers.",
    build=build,
    reads_sentence=False,
    order=5,
    former="keep",
)
