"""Part "How much data?": 5 to 100% of the data, from the model's weights, from random ones, and without BERT."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gradio as gr
import numpy as np

from demos.bert.model.catalogue import BUNDLED
from demos.errors import UserError
from demos.files import DATA, read_asset
from demos.lessons.finetune.learning_curve.figure import accuracy_figure
from demos.lessons.finetune.learning_curve.text import TEXT, made_html, numbers_html, proof_html
from demos.page.guards import notice_html
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, menu, options, unlinked
from demos.training.data.splits import MAX_TRAIN
from demos.training.form_values import AWAITED
from demos.training.learning_curve import (
    MAX_SECONDS,
    SCRATCH_SEEDS,
    SHARES,
    STARTS,
    Measured,
    Measurement,
    Progress,
    checked,
    empty,
    expected_seconds,
    jobs,
    measured_from,
)
from demos.training.service.background import Changes
from demos.training.sources import SOURCES, load_file
from demos.training.tasks.classification.data import Dataset
from demos.widgets.file_picker.file_picker import file_picker, shown_for
from demos.widgets.live_curve.live_curve import duration
from demos.widgets.run_controller.run_controller import RunChoices, RunController, buttons, cpu_button, guarded
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

SAMPLES = DATA / "learning_curve.json"
KINDS = ("sentence", "pair")
FILES = {"file-sentence": "sentence", "file-pair": "pair"}  # a reader's own, by what it holds
SEEDS = 1
SHOW_SECONDS = 0.5  # between two lines of progress
DATA_SETS = [
    *((source.title, key) for key, source in SOURCES.items() if source.kind in KINDS),
    ("Your own file: sentences", "file-sentence"),
    ("Your own file: pairs", "file-pair"),
]
KEYS = ((0.25, "guess"), (0.5, "little"), (0.75, "half"), (1.01, "most"))


@lru_cache(maxsize=1)
def samples() -> tuple[str, Mapping[str, Measured]]:
    """(the command that measured them, the results by data key)."""
    plain = json.loads(SAMPLES.read_text(encoding="utf-8"))
    return plain["command"], {key: measured_from(document) for key, document in plain["measured"].items()}


def read_data(data: str, file: str | None) -> Dataset | None:
    """The data set of a menu's entry; None while a file is awaited. Raises UserError if it can't be used here."""
    if data in FILES:
        return checked(load_file(FILES[data], file), SEEDS) if file else None
    return checked(SOURCES[data].load(0, MAX_TRAIN), SEEDS)


def expected(services: Services, model: str, dataset: Dataset, seeds: int, on_cpu: bool = False) -> float:
    """The seconds that the measurement is going to take."""
    return expected_seconds(services.trainings, services.loaded(model), dataset, seeds, on_cpu)


def cost_html(services: Services, model: str, dataset: Dataset, seeds: int) -> str:
    seconds = expected(services, model, dataset, seeds)
    return TEXT.cost(
        models=len(SHARES) * (seeds + SCRATCH_SEEDS),
        random_models=len(SHARES) * SCRATCH_SEEDS,
        random_seeds=SCRATCH_SEEDS,
        seconds=duration(seconds),
        most=duration(MAX_SECONDS) if seconds > MAX_SECONDS else "",
    )


class Measurements:
    """Those under way, of all readers."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._running: set[str] = set()  # one that is removed ends

    def run(self, job: str, reader: str, on: On, c: LearningCurve.Choices, on_cpu: bool = False) -> Iterator[Changes]:
        """Yield the changes as the measurement grows; results before a failure stay.

        `on_cpu` takes the bundled model, which trains there in minutes.
        """

        def failed(message: str) -> Changes:
            return _over() | {"status": notice_html(message)}

        model = BUNDLED if on_cpu else on.sentence.model
        return guarded(lambda: self._measured(job, model, c, on_cpu), failed)

    def _measured(self, job: str, model: str, c: LearningCurve.Choices, on_cpu: bool) -> Generator[Changes, None, None]:
        self._running.add(job)
        try:
            dataset = read_data(c.amount, c.file)
            if dataset is None:
                raise UserError(AWAITED)
            key = self.services.pretrained_key(model)
            yield {"status": TEXT.begun()}
            measured: Measured | None = None
            with closing(self._steps(key, dataset, c.seeds, job, on_cpu)) as steps:
                shown_at = 0.0
                for progress in steps:
                    grown = measured is None or len(progress.measured.points) > len(measured.points)
                    measured = progress.measured
                    if not grown and time.monotonic() - shown_at < SHOW_SECONDS:
                        continue
                    shown_at = time.monotonic()
                    number, left = min(progress.done + 1, progress.total), duration(progress.seconds_left)
                    status = {"status": TEXT.progress(number, progress.total, progress.status, left)}
                    yield status | (_grown(measured) if grown else {})
            trained = sum(point.series in STARTS for point in measured.points) if measured else 0
            seconds = duration(measured.seconds) if measured else ""
            status = {"status": TEXT.ended(trained, len(jobs(dataset, c.seeds)), seconds)}
            yield _over() | (_grown(measured) if measured else {}) | status
        finally:
            self._running.discard(job)

    def _steps(self, key: str, dataset: Dataset, count: int, job: str, on_cpu: bool) -> Generator[Progress, None, None]:
        """The measurement, which ends where the job is no longer among those under way."""
        store, trainings = self.services.store, self.services.trainings
        seconds = expected(self.services, key, checked(dataset, count), count, on_cpu)
        known = key, store.spec(key).title, store.folder(key)
        measurement = Measurement(trainings, *known, seconds, lambda: job not in self._running, on_cpu=on_cpu)
        return measurement.of(dataset, count)

    def stop(self, job: str) -> None:
        """Request that this measurement ends at its next step, with its results so far."""
        self._running.discard(job)


def _drawn(measured: Measured, own: bool, how: str = "") -> dict[str, Callable[[], Any]]:
    """The picture, its conclusion, its origin, its numbers."""
    some = bool(measured.points)
    return {
        "figure": lambda: accuracy_figure(measured),
        "proof": lambda: proof_html(measured) if some else "",
        "made": lambda: made_html(measured, own) if some else TEXT.unmeasured(),
        "numbers": lambda: numbers_html(measured, how),
    }


def _over() -> Changes:
    return {"run": "", **buttons(running=False)}


def _grown(measured: Measured) -> Changes:
    return {"own": measured} | {name: draw() for name, draw in _drawn(measured, own=True).items()}


def controller_of(services: Services) -> RunController:
    """The part's runs, for all its readers."""
    measurements = Measurements(services)
    return RunController(services.trainings, "learning_curve", measurements.run, stop=measurements.stop)


class LearningCurve(View):
    tab, order, former, reads_sentence = "How much data?", 4, "amount", False
    look = (
        "How few examples does a pre-trained model need? It is compared with the same architecture trained from "
        "random weights, and with a bag-of-words classifier. All are trained on the same parts of the data."
    )

    @dataclass(frozen=True)
    class Choices(RunChoices):
        amount: str = menu(DATA_SETS, "emotion", "Data", scale=3, min_width=200)
        seeds: int = options(
            [("1 seed", 1), ("2 seeds", 2), ("3 seeds", 3)], SEEDS, "Number of seeds", scale=3, min_width=250
        )
        file: str | None = unlinked(None, redraws=True)
        own: Measured | None = unlinked(None)  # the reader's last measurement

    def lay_out(self, at: Layout) -> None:
        at.plot("figure", "Accuracy by training examples", elem_id="learning_curve-figure", elem_classes="picture")
        with gr.Row(elem_classes="learning_curve-row"):
            amount = at.control("amount")
            at.control("seeds")
            start = gr.Button("Run", variant="primary", scale=1, min_width=110, elem_id="learning_curve-run")
            stop = gr.Button("Stop early", interactive=False, scale=1, min_width=190, elem_id="learning_curve-stop")
        file = at.hold("file", file_picker("CSV, Excel or JSON", height=110, visible=False))
        shown_for(amount, file, *FILES)
        buttons = {"start": start, "stop": stop, "on_cpu": cpu_button(elem_id="learning_curve-on-cpu")}
        at["proof"] = gr.HTML(elem_id="learning_curve-proof")
        with gr.Row(elem_classes="learning_curve-said"):
            at["made"] = gr.HTML(elem_id="learning_curve-made", min_width=300)
            at["status"] = gr.HTML(elem_id="learning_curve-status", min_width=300)
        with takeaway_row():
            picture_buttons("#learning_curve-figure", "bert-how-much-data")
        at.folds()
        at.hold("own")
        changed = ["run", *buttons, "own", *at]
        at.page.services.shared(controller_of).wire(at, buttons, ("amount", "file", "seeds"), changed)

    def draw(self, on: On, c: Choices) -> Shown:
        """The results for this data, and the cost of Run; nothing moves under a measurement."""
        services, model = on.services, on.sentence.model
        if c.run or services.shared(controller_of).is_elsewhere(c.reader, c.begun):
            return {}
        dataset = read_data(c.amount, c.file)
        if dataset is None:
            return {"status": TEXT.awaited(AWAITED)}
        notes = TEXT.notes(dataset.notes if c.amount in FILES else ())
        shown: Shown = {"status": lambda: notes + cost_html(services, model, dataset, c.seeds)}
        if c.own is not None and c.own.data == dataset.name:
            return shown | _drawn(c.own, own=True)
        how, known = samples()
        if c.amount in known:
            return shown | _drawn(known[c.amount], own=False, how=how)
        title = services.store.spec(services.pretrained_key(model)).title
        return shown | _drawn(empty(dataset, title, c.seeds), own=False)


def answer(_: Services, __: Sentence) -> Answer:
    """The means over all seeds of the picture's measurements."""
    measured = json.loads(read_asset("data/learning_curve.json"))["measured"]["emotion"]

    def score(series: str, examples: int) -> float:
        scores = [
            point["score"] for point in measured["points"] if (point["series"], point["examples"]) == (series, examples)
        ]
        return float(np.mean(scores))

    fewest, most = min(measured["sizes"]), max(measured["sizes"])
    reached = score("pretrained", fewest)
    facts = {
        "test": measured["test"],
        "seeds": measured["seeds"],
        "pretrained": reached,
        "more": score("pretrained", most),
        "most": most,
        "words": score("words", fewest),
    }
    return Answer(keys=frozenset({next(key for bound, key in KEYS if reached < bound)}), facts=facts)
