"""The runs of "Train": the changes on the screen by each event, the results at the end, Pause and the try-it boxes."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any

import gradio as gr

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.once_cache import Recent
from demos.errors import UserError
from demos.figures.confusion import matrix_html
from demos.figures.recipe import cost_html
from demos.lessons.finetune.train.beside_scores import frozen_html, nothing_html
from demos.lessons.finetune.train.start import MODEL, Start, start_of
from demos.lessons.finetune.train.try_it import correct_answer
from demos.page.guards import OUR_FAULT, notice_html
from demos.page.services import Services
from demos.page.view import Shown
from demos.page.visitor import visitor
from demos.templates import templates
from demos.training.compute_cost import Cost, cost_of
from demos.training.data.splits import Splits
from demos.training.events import Event, Failed, Finished, Outcome, Result, Resumed, Started, Stopped
from demos.training.export.publisher import keep_publisher
from demos.training.export.recipe_file import Recipe, chosen_recipe
from demos.training.export.run_log import keep_log, log_of
from demos.training.form_values import read_dataset
from demos.training.learning.earlier import GONE
from demos.training.learning.failures import sentence_of
from demos.training.presets import learns_from_pairs
from demos.training.results.history import Record, record_of
from demos.training.results.last_curve import keep_curve, read_curve
from demos.training.results.learned_nothing import LearnedNothing, learned_nothing
from demos.training.service.background import BEAT_SECONDS
from demos.training.service.gpu_worker import CAN_PAUSE
from demos.training.settings import Settings
from demos.training.tasks.registry import task_of
from demos.widgets.live_curve.feeds import Feeds
from demos.widgets.live_curve.live_curve import CurveFeed, duration, failure_message, shown_now
from demos.widgets.live_curve.text import recipe_text
from demos.widgets.run_controller.run_controller import buttons, cpu_offer, guarded, lacks_gpu
from demos.widgets.tasks.registry import view_of

log = logging.getLogger(__name__)
TEXT = templates(__file__)

OVER, NO_GPU = "over", "ended without a GPU"  # a run's phases, in distinct marks
RESUMED, LAST = "goes on", " for good"
PAUSE, GO_ON = "Pause", "Continue"
MAX_ENDED = 256  # runs whose results a page may show
LEGEND = {"legend": {"train": "training (each batch, and smoothed)"}}
PAIRS = {"legend": {"train": "training (loss of the pairs; accuracy of the head as fitted last)"}}


class Trainer:
    """The runs of "Train", for all its learners.

    One run is three events: `RunController.begin` gives it an id, `work` sends its curve, `finish` its end. Between
    the few messages of `work` the curve requests its points itself (`feeds.news`).
    """

    def __init__(self, services: Services) -> None:
        self.services = services
        self.trainings = services.trainings
        self.feeds = Feeds()
        self.trainings.shared.curve = self.feeds.shown
        self._ended: Recent[Ended] = Recent(MAX_ENDED)

    def cost(self, model: str, dataset: Splits, settings: Settings) -> str:
        """The cost of Start, counted on the model, and its estimated time."""
        cost, seconds = self._expected(model, dataset, settings)
        return cost_html(cost, duration(seconds))

    def _expected(self, model: str, dataset: Splits, settings: Settings, on_cpu: bool = False) -> tuple[Cost, float]:
        """The cost of a training, and its estimated time in seconds."""
        loaded = self.services.loaded(model)
        cost = cost_of(dataset, loaded.tokenizer, loaded.model, settings)
        return cost, self.trainings.expected(loaded.spec.key, dataset, settings, cost, on_cpu).seconds

    def work(
        self, run: str, reader: str, model: str, earlier: str,
        kind: str, data: str, file: Any, test_file: Any, hub: str, columns: str, most: Any, *recipe: Any,
        on_cpu: bool = False,
    ) -> Iterator[dict[str, str]]:  # fmt: skip
        """The curve's message and the phase; the reason why a run can't start is shown in the place of its curve.

        `earlier` is the number of one of the reader's own runs to begin with, or "model". `on_cpu` takes the bundled
        model, which trains there in a minute.
        """
        over = {"phase": f"{run} {OVER}"}

        def messages() -> Iterator[dict[str, str]]:
            history = self.trainings.readers.history(reader)
            start = start_of(self.services, BUNDLED if on_cpu else model, history, MODEL if on_cpu else earlier)
            chosen = chosen_recipe(start.spec, kind, data, file, test_file, hub, columns, most, *recipe)
            chosen, settings = replace(chosen, earlier=start.downloaded), chosen.settings
            dataset = read_dataset(kind, chosen.data, file, test_file, hub, columns, most, settings.seed)
            # The time left begins with the time shown.
            cost, expected = self._expected(start.spec.key, dataset, settings, on_cpu)
            under_way = _Run(self, run, start, chosen, dataset, cost, expected, on_cpu)
            with self.feeds.showing(run, under_way.feed):
                yield from under_way.messages()
            if ended := under_way.conclude(reader):
                self._ended.put(run, ended)
            yield {"phase": f"{run} {NO_GPU}"} if under_way.lacks_gpu else over

        return guarded(messages, lambda message: over | {"curve": failure_message(message)})

    def finish(self, phase: str, run: str, kind: str, *boxes: str) -> Shown:
        """The changes when a run is over; for another run, or for a phase in between, only those that are due.

        `run` is the one that the page shows as under way, `kind` the task chosen by now: where that is another one,
        "Try it" answers the sample. After a failure, the run before it stays.
        """
        over, _, what = phase.partition(" ")
        if what.startswith(RESUMED):
            return {"pause": _pausing(not what.endswith(LAST))}
        changes: Shown = cpu_offer(True) if what == NO_GPU else {}
        if (ended := self._ended.get(over)) and ended.fault:
            changes["cost"] = notice_html(ended.fault)
        elif ended:
            changes |= {"kept": over, "history": ended.history}
            changes["answer"] = self._answered(over, ended.kind, boxes if kind == ended.kind else ())
        if over == run:
            changes |= {"run": "", **running_buttons(False)}
        return changes

    def _answered(self, run: str, kind: str, boxes: Sequence[str]) -> str:
        try:
            return self.answer(run, kind, *(boxes or [sample for _, sample in view_of(kind).boxes]))
        except UserError as error:  # the run is worth showing all the same
            return str(TEXT.no_answer(str(error)))

    def results(self, run: str, kind: str) -> Shown:
        """The results of a run for its own kind of task; for another kind, none are visible."""
        ended = self._ended.get(run)
        if ended is None or ended.kind != kind:
            return {"results": gr.update(visible=False), "numbers": TEXT.no_numbers()}
        return {"results": gr.update(visible=True), **ended.pictures}

    def last_curve(self, run: str, reader: str) -> dict[str, str]:
        """{"kind", "curve"} of a run that is over, or of the reader's last one on a reloaded page; {} without one."""
        if ended := self._ended.get(run):
            return {"kind": ended.kind, "curve": ended.curve}
        history = self.trainings.readers.history(reader)
        return read_curve(self.trainings.runs.folder(run or history[-1].run)) if run or history else {}

    def answer(self, run: str, kind: str, *boxes: str) -> str:
        """The trained model's answer to what the boxes hold. Raises UserError without one, or without the model."""
        if not run:
            raise UserError("Train a model first.")
        view = view_of(kind)
        filled = [box or "" for box in boxes[: len(view.boxes)]]
        example = view.example_of(filled)
        trained = self.trainings.runs.trained(run)
        (answer,) = trained.answers([example])
        correct = correct_answer(kind, trained.task.labels, filled)
        return view.answer(trained.task, answer, filled) + (TEXT.correct(correct) if correct else "")

    def pause(self, run: str, label: str) -> Any:
        """Pause or resume this reader's run, as the button says."""
        if not run:
            return gr.update(value=PAUSE)
        waits = label == GO_ON
        (self.trainings.runs.go_on if waits else self.trainings.runs.pause)(run)
        return gr.update(value=PAUSE if waits else GO_ON)


@dataclass(frozen=True)
class Ended:
    """A run that is over, for every page that shows it."""

    kind: str  # of task
    curve: str  # its last message
    history: Sequence[Record] = ()  # the reader's
    pictures: Shown = field(default_factory=dict)  # what it learned
    fault: str = ""  # a sentence on why there is no model


class _Run:
    """One run of one learner, from its first message to its last table."""

    def __init__(
        self,
        trainer: Trainer,
        run: str,
        start: Start,
        recipe: Recipe,
        dataset: Splits,
        cost: Cost,
        expected: float,
        on_cpu: bool,
    ) -> None:
        self.trainer, self.run, self.start, self.recipe, self.dataset = trainer, run, start, recipe, dataset
        self.expected, self.nbytes, self.on_cpu = expected, cost.memory.total, on_cpu
        self.key, self.kind, self.settings = recipe.model, recipe.task, recipe.settings
        self.view = view_of(self.kind)
        axes = {"data": dataset.name, "clip": self.settings.clip}
        scored = task_of(dataset, self.settings).batch_metric  # where a batch is too few for the metric
        axes |= {"legend": {"train": f"training (each batch, and smoothed) ({scored})"}} if scored else LEGEND
        if learns_from_pairs(self.settings, self.kind):
            axes |= PAIRS
        description = recipe_text(start.title, self.view.word, self.settings)
        self.feed = CurveFeed(run, dataset.name, "examples", axes, self.view.watcher(dataset), description)
        self.started: Started | None = None
        self.ended: Finished | Stopped | None = None
        self.lacks_gpu = False

    def messages(self) -> Iterator[dict[str, str]]:
        """Add the new points to the curve."""
        trainings = self.trainer.trainings
        folder = self.start.folder or self.trainer.services.store.folder(self.key)
        what = self.run, self.dataset, self.key, folder, self.settings
        events = trainings.fine_tune(*what, expected=self.expected, nbytes=self.nbytes, on_cpu=self.on_cpu)
        with closing(shown_now(self._with_reason(events), self.feed, BEAT_SECONDS)) as shown:  # type: ignore[type-var]
            for event in shown:
                if isinstance(event, Started):
                    self.started = event
                if isinstance(event, Finished | Stopped):
                    self.ended = event
                self.lacks_gpu = lacks_gpu(event)
                changes = {"curve": self.feed.message()}
                if isinstance(event, Resumed):  # with the step, since a text is heard only when it changes
                    last = LAST if event.reason == "time" else ""
                    changes["phase"] = f"{self.run} {RESUMED} at {event.step}{last}"
                yield changes

    def _with_reason(self, events: Iterator[Event]) -> Iterator[Event]:
        """The training's events; a failure for want of the run to begin with is reported."""
        record, runs = self.start.record, self.trainer.trainings.runs
        with closing(events):  # type: ignore[type-var]
            for event in events:
                gone = isinstance(event, Failed) and record is not None and not runs.has(record.run)
                yield Failed(GONE) if gone else event

    def conclude(self, reader: str) -> Ended | None:
        """End the run: note its results for the reader, and draw them once for every page that requests them."""
        if self.ended is None or self.started is None:
            return None
        try:
            result, stopped = self.ended.result, self.ended.reason if isinstance(self.ended, Stopped) else ""
            losses = [loss for _, loss, *_ in self.feed.steps]
            nothing = learned_nothing(self.dataset, self.settings, self.started, result, losses, self.feed.looks)
            self._log(self.started, result, stopped, nothing)
            pictures = self._pictures(result, bool(stopped), self.started.steps_per_epoch)
            pictures["scores"] += nothing_html(nothing)
            pictures["scores"] += frozen_html(self.trainer.services, self.start, self.recipe, self.dataset)
            readers = self.trainer.trainings.readers
            readers.add(reader, self._record(self.start.title, self.started, result, stopped, readers.history(reader)))
            return Ended(self.kind, self.feed.message(), readers.history(reader), pictures)
        except Exception as error:  # a disk that is full now, a picture that breaks: the run before stays
            log.exception("the results of a run could not be shown")
            self.trainer.trainings.runs.discard(self.run)
            return Ended(self.kind, self.feed.message(), fault=sentence_of(error) or OUR_FAULT)

    def _log(self, started: Started, result: Outcome, stopped: str, nothing: LearnedNothing | None) -> None:
        """Save the recipe beside the model, for readers who download it."""
        done = self.recipe, self.start.spec, self.dataset, started, self.feed.looks, result, stopped
        evidence = nothing.evidence if nothing else ""
        log_file = log_of(*done, earlier=self.start.description, learned_nothing=evidence)
        folder = self.trainer.trainings.runs.folder(self.run)
        if folder.is_dir():  # else it was put out meanwhile
            keep_log(folder, log_file)
            keep_publisher(folder, visitor())
            keep_curve(folder, self.kind, self.feed.message())

    def _record(self, title: str, started: Started, result: Outcome, stopped: str, history: Sequence[Record]) -> Record:
        number = max((record.number for record in history), default=0) + 1
        done = (title, self.kind, self.dataset, self.settings, started, result)
        return record_of(self.run, number, *done, self.feed.steps, self.feed.looks, stopped)

    def _pictures(self, result: Outcome, stopped: bool, per_epoch: int) -> Shown:
        """The scores, what is taken for what (classes as a table to press), the mistakes, the tables."""
        if isinstance(result, Result):
            shown = {"matrix": gr.update(value=matrix_html(result, self.dataset.test), visible=True)}
        else:
            shown = {"matrix": gr.update(value="", visible=False), "figure": self.view.figure(result)}
        return shown | {
            "picture": gr.update(visible="figure" in shown),
            "scores": self.view.scores(result, stopped),
            "mistakes": self.view.mistakes(result),
            "numbers": self.view.numbers(result, self.feed.looks, per_epoch),
        }


def _pausing(running: bool) -> Any:
    return gr.update(value=PAUSE, interactive=running and CAN_PAUSE)


def running_buttons(running: bool) -> Shown:
    """Start, or Stop and Pause."""
    return {**buttons(running), "pause": _pausing(running)}
