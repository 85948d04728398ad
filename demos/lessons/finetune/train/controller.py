"""The runs of "Train": the changes on the screen by each event, the results at the end, Pause and the try-it boxes."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
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
from demos.page.visitor import visitor
from demos.templates import templates
from demos.training.compute_cost import Cost, cost_of
from demos.training.data.splits import Splits
from demos.training.events import Event, Failed, Finished, Outcome, Result, Resumed, Started, Stopped
from demos.training.export.publisher import keep_publisher
from demos.training.export.recipe_file import Recipe
from demos.training.export.run_log import keep_log, log_of
from demos.training.form_values import fit_model, fitting, max_train_of, read_dataset, read_settings
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

# What changes when a run is over. `run` is the id of the one under way, `kept` of the one done, `shown` what the page
# shows of that: {"kind": of task, "curve": its last message}.
CHANGED = (
    "run", "kept", "shown", "start", "pause", "stop", "results", "scores", "matrix", "picture", "figure", "mistakes",
    "numbers", "answer", "cost", "history", "on_cpu",
)  # fmt: skip
OVER, NO_GPU = "over", "ended without a GPU"  # a run's phases, in distinct marks
RESUMED, LAST = "goes on", " for good"
PAUSE, GO_ON = "Pause", "Continue"
MAX_ENDED = 64  # runs whose end a page may ask for
LEGEND = {"legend": {"train": "training (each batch, and smoothed)"}}
PAIRS = {"legend": {"train": "training (loss of the pairs; accuracy of the head as fitted last)"}}


class Trainer:
    """The runs of "Train", for all its learners.

    One run is three events: `RunController.begin` gives it an id, `work` sends its curve, `finish` all that is told at
    its end. Between the few messages of `work` the curve asks for its points itself (`feeds.news`).
    """

    def __init__(self, services: Services) -> None:
        self.services = services
        self.trainings = services.trainings
        self.feeds = Feeds()
        self.trainings.shared.curve = self.feeds.shown
        self._ended: Recent[_Ended] = Recent(MAX_ENDED)

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
        self, run: str, reader: str, text: str, pair: str, model: str, earlier: str,
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
            key, settings = start.spec.key, fit_model(read_settings(*recipe), start.spec.num_layers)
            dataset = read_dataset(kind, fitting(kind, data), file, test_file, hub, columns, most, settings.seed)
            files = str(file or ""), str(test_file or ""), (hub or "").strip(), columns or ""
            data_of_run = fitting(kind, data), *files, max_train_of(most)
            recipe_of_run = Recipe(key, kind, *data_of_run, settings, start.downloaded)
            cost, expected = self._expected(key, dataset, settings, on_cpu)  # the time left begins with the time shown
            under_way = _Run(self, run, start, recipe_of_run, dataset, cost, expected, on_cpu)
            with self.feeds.showing(run, under_way.feed):
                yield from under_way.messages()
            if ended := under_way.conclude(reader):
                self._ended.put(run, ended)
            yield {"phase": f"{run} {NO_GPU}"} if under_way.lacks_gpu else over

        return guarded(messages(), lambda message: over | {"curve": failure_message(message)})

    def finish(self, phase: str, run: str, kind: str, *boxes: str) -> dict[str, Any]:
        """The changes when a run is over; for another run, or for a phase in between, only those that are due.

        `kind` is the task chosen by now: where it is another one, what was learned waits until the reader is back.
        """
        ended, _, what = (phase or "").partition(" ")
        if what.startswith(RESUMED):
            return {"pause": _pausing(not what.endswith(LAST))}
        run_over = self._ended.get(ended)
        changes = self._changes(ended, run_over, kind, boxes) if run_over else {}
        if what == NO_GPU:
            changes |= cpu_offer(True)
        if ended == run:
            changes |= {"run": "", **running_buttons(False)}
        return changes

    def _changes(self, run: str, ended: _Ended, kind: str, boxes: Sequence[str]) -> dict[str, Any]:
        """The page at the end of a run; after a failure, the run before it stays."""
        if "kept" not in ended.changes:
            return dict(ended.changes)
        shown = {"kind": ended.kind, "curve": ended.curve}
        here = kind == ended.kind  # else the boxes are another task's
        try:
            filled = boxes if here else [sample for _, sample in view_of(ended.kind).boxes]
            answer = self.answer(run, shown, *filled)
        except UserError as error:  # the run is worth showing all the same
            answer = TEXT.no_answer(str(error))
        return ended.changes | {"shown": shown, "results": gr.update(visible=here), "answer": answer}

    def recalled(self, reader: str) -> dict[str, Any]:
        """The value of `shown` for the reader's last run on a reloaded page; {} if it can't be drawn again.

        "recalled" says that its curve alone is there: what it learned is in the other parts.
        """
        history = self.trainings.readers.history(reader)
        curve = read_curve(self.trainings.runs.folder(history[-1].run)) if history else {}
        return curve and {**curve, "recalled": True}

    def answer(self, run: str, shown: dict[str, Any], *boxes: str) -> str:
        """The trained model's answer to what the boxes hold. Raises UserError without one, or without the model."""
        if not run or not shown:
            raise UserError("Train a model first.")
        view = view_of(shown["kind"])
        filled = [box or "" for box in boxes[: len(view.boxes)]]
        example = view.example_of(filled)
        trained = self.trainings.runs.trained(run)
        (answer,) = trained.answers([example])
        correct = correct_answer(shown["kind"], trained.task.labels, filled)
        return view.answer(trained.task, answer, filled) + (TEXT.correct(correct) if correct else "")

    def pause(self, run: str, label: str) -> Any:
        """Pause or resume this reader's run, as the button says."""
        if not run:
            return gr.update(value=PAUSE)
        waits = label == GO_ON
        (self.trainings.runs.go_on if waits else self.trainings.runs.pause)(run)
        return gr.update(value=PAUSE if waits else GO_ON)


@dataclass(frozen=True)
class _Ended:
    """The end of a run, kept for every page that requests it."""

    kind: str  # of task
    curve: str  # its last message
    changes: dict[str, Any]  # by name, "kept" among them where there is a model


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
        axes: dict[str, Any] = {"data": dataset.name, "clip": self.settings.clip}
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

    def conclude(self, reader: str) -> _Ended | None:
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
            changes = pictures | {"kept": self.run, "history": readers.history(reader)}
        except Exception as error:  # a disk that is full now, a picture that breaks: the run before stays
            log.exception("the results of a run could not be shown")
            self.trainer.trainings.runs.discard(self.run)
            changes = {"cost": notice_html(sentence_of(error) or OUR_FAULT)}
        return _Ended(self.kind, self.feed.message(), changes)

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

    def _pictures(self, result: Outcome, stopped: bool, per_epoch: int) -> dict[str, Any]:
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


def running_buttons(running: bool) -> dict[str, Any]:
    """Start, or Stop and Pause."""
    return {**buttons(running), "pause": _pausing(running)}
