"""Part "Train": pick a task and a recipe, change one setting, press Start, watch the training, try the model."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

import gradio as gr

from demos.errors import UserError
from demos.figures.recipe import chain_html, preset_html, rate_html, rate_text
from demos.figures.short_text import short
from demos.figures.training_program import program_of, steps_of
from demos.files import read_beside
from demos.lessons.finetune.train import layout
from demos.lessons.finetune.train.choices import FORM, PICKED, START, TRIES, TrainChoices
from demos.lessons.finetune.train.controller import Trainer, running_buttons
from demos.lessons.finetune.train.data import axes, column_html, data_html
from demos.lessons.finetune.train.few_shot import few_shot_html
from demos.lessons.finetune.train.poolings import measured
from demos.lessons.finetune.train.start import offers_of, start_from_model, start_from_run, start_of
from demos.lessons.finetune.train.try_it import wire_examples
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, drawn
from demos.training.data.benchmarks import GLUE
from demos.training.data.hub_data import NotFetchedError
from demos.training.example_lengths import lengths_of
from demos.training.form_values import AWAITED, HUB, UPLOAD
from demos.training.look import look_at
from demos.training.presets import PRESETS, changed, learns_from_pairs
from demos.training.service.background import Changes
from demos.training.sources import SOURCES, reader_of
from demos.training.tasks.registry import task_of
from demos.widgets.live_curve.live_curve import idle_message
from demos.widgets.run_controller.run_controller import RunController
from demos.widgets.scripted.scripted import scripted
from demos.widgets.tasks.registry import own_tokenizer, view_of

TEXT_LENGTH = 300  # characters of an example as T5 would read it
UNFETCHED = "Enter the name of a data set on the Hub (owner/name) and click Fetch; it is downloaded only then."
RESULTS = ("results", "scores", "matrix", "picture", "figure", "mistakes", "numbers")
CLASSES = 6


def runs(services: Services) -> RunController:
    """The part's runs, for all its readers."""
    trainer = services.shared(Trainer)

    def work(run: str, reader: str, on: On, c: TrainChoices, on_cpu: bool = False) -> Iterator[Changes]:
        picked = replace(c, hub_asked=c.hub).picked
        return trainer.work(run, reader, on.sentence.model, c.earlier, *picked, *c.settings, on_cpu=on_cpu)

    return RunController(services.trainings, "train", work, running_buttons)


class Train(View):
    tab, order, reads_sentence = "Train", 1, False
    look = (
        "Choose a task and a recipe, change one setting under “All controls”, and click Start. Does the validation "
        "curve follow the training curve?"
    )
    Choices = TrainChoices

    def lay_out(self, at: Layout) -> None:
        """Tasks above; the run beside the recipe; the data and the steps, in the curve's place until there is one.

        Once a run has ended, "Try it" is beside its curve, and what it learned below. style.css says what is where.
        """
        trainer, parts = at.page.services.shared(Trainer), layout.tasks(at)
        with gr.Row(elem_classes="lab"):
            with gr.Column(min_width=0, elem_classes="lab-run"):
                parts |= layout.live(at, trainer.feeds.news)
            with gr.Column(min_width=0, elem_classes="lab-try"):
                parts |= layout.try_it(at)
            with gr.Column(min_width=0, elem_classes="recipe"):
                layout.recipe(at)
                with at.all_controls(set_elsewhere=True):
                    poolings = layout.more(at)
            with gr.Column(min_width=0, elem_classes="lab-data"):
                at["rows"] = gr.HTML(elem_id="finetune-data", elem_classes="picture")
                at.look()
            with gr.Column(min_width=0, elem_classes="lab-walk"):
                at["walk"] = scripted(read_beside(__file__, "walk.js"), "finetune-walk")
            layout.results(at)
        at.folds("Trains with this recipe and prints the test scores")
        at.hold("history", at.page.history)
        at.hold("past", at.page.history)
        at.hold("trained", at.page.trained)
        at.hold("returning", at.page.returning)
        layout.wire_task(at, poolings)
        layout.wire_recipe(at)
        layout.wire_hub(at, parts["fetch"])
        self._wire_runs(at, parts)

    def _wire_runs(self, at: Layout, parts: Mapping[str, gr.Component]) -> None:
        """Wire Start, Pause, Stop and "Try it"."""
        page, quiet = at.page, {"show_progress": "hidden"}
        phase = at.hold("phase", gr.Textbox("", visible="hidden"))  # a run's messages beside its curve
        page.services.shared(runs).wire(at, parts, START, ("curve", "phase"))
        over = {name: parts[name] for name in ("start", "pause", "stop", "on_cpu", "answer")}
        over |= {"run": at.controls["run"], "kept": page.trained, "history": page.history, "cost": at["cost"]}
        at.answers(phase.change, finish, over, **quiet)
        at.answers(parts["pause"].click, pause, {"pause": parts["pause"]}, **quiet)
        boxes = [at.controls[name] for name in TRIES]
        wire_examples(parts["try_examples"], at.controls["task"], at.controls["data"], boxes)
        presses = [parts["ask"].click, *(box.submit for box in boxes)]  # about the text at that moment
        at.answers(presses, try_model, {"answer": parts["answer"]}, trigger_mode="always_last")

    @drawn(by=("preset", "past", *FORM))
    def draw(self, on: On, c: TrainChoices) -> Shown:
        """The recipe's shapes, its learning rate, the steps, the data and the program; needs no model in memory."""
        start = start_of(on.services, on.sentence.model, c.past, c.earlier)
        spec = start.spec
        chosen = replace(c.recipe(spec), earlier=start.downloaded)
        kind, settings, about = chosen.task, chosen.settings, PRESETS[c.preset]
        shown: Shown = {
            "about": lambda: (
                preset_html(about.title, about.description, changed(settings, c.preset, kind))
                + (few_shot_html() if learns_from_pairs(settings, kind) else "")
            )
        }
        missing = {UPLOAD: "" if chosen.file else AWAITED, HUB: "" if chosen.hub else UNFETCHED}.get(chosen.data)
        if missing:
            tasks = [task for task in GLUE if task.kind == kind and chosen.data == HUB]
            return shown | {"rows": layout.TEXT.awaited(missing, reader_of(kind).requirement, kind, tasks)}
        try:
            dataset = chosen.dataset()
        except UserError as error:
            of_file = chosen.data == UPLOAD and look_at(chosen.file, kind, chosen.columns).mapping is not None
            if not of_file and (chosen.data != HUB or isinstance(error, NotFetchedError)):
                raise
            return shown | {"rows": layout.TEXT.awaited("", reader_of(kind).requirement)}  # the column picker says why
        task = task_of(dataset, settings)
        at_hand = on.services.store.tokenizer_at_hand(spec.key)
        steps = settings.epochs * math.ceil(len(dataset.train) / settings.batch_size)

        @cache
        def program() -> str:
            return program_of(spec, chosen, start.program(task))

        def walk() -> str:
            name = chosen.data if chosen.data in SOURCES else "task"
            return layout.TEXT.walk(
                start.title,
                kind,
                settings,
                learns_from_pairs(settings, kind),
                rate_text(settings.learning_rate),
                steps_of(program()),
                task.labels,
                *(short(text, TEXT_LENGTH) for text in task.as_text(dataset.train[0], name)),
            )

        def chain() -> str:
            tokenizer = at_hand or own_tokenizer()
            unpooled = settings.pooling == "none"
            longest = lengths_of(dataset, tokenizer, settings.max_length).longest if unpooled else 0
            return chain_html(kind, spec, settings, task.labels, longest)

        return shown | {
            "walk": walk,
            "rates": lambda: rate_html(settings, steps),
            "chain": chain,
            "rows": lambda: data_html(view_of(kind), dataset, at_hand, spec.title),
            "program": program,
        }

    @drawn("cost", by=("history", *FORM), pure=False)  # after a run, now with its speed
    def cost(self, on: On, c: TrainChoices) -> Shown:
        """The cost of Start, counted on the model."""
        try:
            spec = start_of(on.services, on.sentence.model, c.history, c.earlier).spec
            chosen = c.recipe(spec)
            dataset = chosen.dataset()
        except UserError:  # `draw` says it
            return {"cost": ""}
        return {"cost": on.services.shared(Trainer).cost(spec.key, dataset, chosen.settings)}

    @drawn("picker", by=(*PICKED, "seed"))
    def picker(self, on: On, c: TrainChoices) -> Shown:
        """The roles of the columns of a reader's own file or of a data set from the Hub."""
        there = {UPLOAD: c.file, HUB: c.hub_asked.strip()}.get(c.data)
        return {"picker": column_html(*c.picked, c.seed) if there else ""}

    @drawn("curve", by=(*PICKED, "seed", "run", "begun", "trained", "returning"), pure=False)
    def curve(self, on: On, c: TrainChoices) -> Shown:
        """Empty axes with the score of guessing, unless a run of this task is on them, or was before a reload."""
        if c.run or on.services.shared(runs).is_elsewhere(c.returning, c.begun):
            return {}
        last = on.services.shared(Trainer).last_curve(c.trained, c.returning)
        if last and last["kind"] == c.task:
            return {"curve": last["curve"]}
        try:
            return {"curve": axes(c.splits())}
        except UserError:  # `draw` says it
            return {"curve": idle_message("score", ("", math.nan), 0)} if c.data in (UPLOAD, HUB) else {}

    @drawn("start", by=("history", *FORM), limits=("earlier",))
    def start(self, on: On, c: TrainChoices) -> Shown:
        """The menu of what a training may begin with, and the line under it."""
        offers = offers_of(on.services, c.history, c.earlier)
        start = start_of(on.services, on.sentence.model, c.history, offers["value"])
        if start.record is None:
            return {"earlier": offers, "start": start_from_model(on.services, c.history)}
        try:
            chosen = c.recipe(start.spec)
            task = task_of(chosen.dataset(), chosen.settings)
        except UserError:  # `draw` says it
            return {"earlier": offers, "start": ""}
        return {"earlier": offers, "start": start_from_run(start, task)}

    @drawn(*RESULTS, by=("task", "trained", "history"))
    def learned(self, on: On, c: TrainChoices) -> Shown:
        """The results of the reader's last run if it is one of this task."""
        return on.services.shared(Trainer).results(c.trained, c.task)


def finish(on: On, c: TrainChoices) -> Shown:
    """The end of a run, or a phase in between."""
    return on.services.shared(Trainer).finish(c.phase, c.run, c.task, *c.boxes)


def pause(on: On, c: TrainChoices) -> Shown:
    """Pause the run, or continue it, as the button says."""
    return {"pause": on.services.shared(Trainer).pause(c.run, c.pause_says)}


def try_model(on: On, c: TrainChoices) -> Shown:
    """The trained model's answer to the texts in the boxes."""
    kind = next((record.kind for record in c.history if record.run == c.trained), c.task)
    return {"answer": on.services.shared(Trainer).answer(c.trained, kind, *c.boxes)}


def measured_facts() -> dict[str, object]:
    """The cost and accuracy of each pooling, measured once (see assets/data/pooling.md), as the answer's facts."""
    results = measured()
    facts: dict[str, object] = {"seeds": results["seeds"]}
    for pooling, row in results["poolings"].items():
        facts |= {f"{pooling}_head": f"{row['head']:,}", f"{pooling}_seconds": f"{row['seconds']:.0f}"}
        facts[f"{pooling}_accuracy"] = f"{row['accuracy']:.1%}"
    return facts


def answer(services: Services, sentence: Sentence) -> Answer:
    """The weights of a linear classifier with and without pooling, without its biases."""
    _, tokens, width = services.run(sentence).hidden_states.shape
    sizes = {"pooled": CLASSES * width, "unpooled": CLASSES * tokens * width}
    return Answer(facts=measured_facts() | {"tokens": tokens} | {name: f"{size:,}" for name, size in sizes.items()})
