"""Part "How much data?": 5 to 100 % of the data, from the model's weights, from random ones, and without BERT."""

from __future__ import annotations

import html
import json
import secrets
import time
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import gradio as gr

from demos.errors import UserError
from demos.files import DATA
from demos.lessons.finetune.learning_curve.figure import amount_figure
from demos.lessons.finetune.learning_curve.text import made_html, numbers_html, proof_html
from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import Page, Part
from demos.page.services import Sentence, Services
from demos.training.form_values import AWAITED
from demos.training.learning_curve import (
    MAX_SECONDS,
    MAX_SEEDS,
    SCRATCH_SEEDS,
    SHARES,
    Measured,
    checked,
    empty,
    expected_seconds,
    jobs,
    measure,
    measured_from,
)
from demos.training.sources import SOURCES, load_file
from demos.training.tasks.classification.data import MAX_TRAIN, Dataset
from demos.widgets.live_curve.live_curve import duration
from demos.widgets.run_controller.controller import QUEUE
from demos.widgets.takeaway.takeaway import picture_buttons, takeaway_row

SAMPLES = DATA / "amount.json"
KINDS = ("sentence", "pair")
FILES = {"file-sentence": "sentence", "file-pair": "pair"}  # a reader's own, by what it holds
SEEDS = 1
SHOW_SECONDS = 0.5  # between two lines of progress
# What a measurement changes, in the order of its handler's outputs.
CHANGED = ("job", "own", "start", "stop", "status", "figure", "proof", "made", "numbers")


@lru_cache(maxsize=1)
def samples() -> tuple[str, Mapping[str, Measured]]:
    """(the command that measured them, what was measured by data key)."""
    plain = json.loads(SAMPLES.read_text(encoding="utf-8"))
    return plain["command"], {key: measured_from(one) for key, one in plain["measured"].items()}


def read_data(data: str, file: str | None) -> Dataset | None:
    """The data set of a menu's entry; None while a file is awaited. Raises UserError where it can't be used here."""
    if data in FILES:
        return checked(load_file(FILES[data], file), SEEDS) if file else None
    if data not in SOURCES or SOURCES[data].kind not in KINDS:
        raise UserError(f"There is no data set {str(data)[:40]!r} for this.")
    return checked(SOURCES[data].load(0, MAX_TRAIN), SEEDS)


class Amount:
    """The part's handlers."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._running: set[str] = set()  # measurements under way; who is taken out ends

    def show(self, bar: Sentence, data: str, file: str | None, seeds: Any, job: str, own: Measured | None) -> list[Any]:
        """[file, status, figure, proof, made, numbers]: what is known of this data, and what Run would cost."""
        shown = gr.update(visible=data in FILES)
        if job:
            return [shown, *[gr.skip()] * 5]
        dataset = read_data(data, file)
        if dataset is None:
            return [shown, f"<p>{AWAITED}</p>", *[gr.skip()] * 4]
        how, known = samples()
        measured, mine = known.get(data), False
        if own is not None and own.data == dataset.name:
            measured, mine = own, True
        if measured is None:
            title = self.services.store.spec(bar.model).title
            measured = empty(dataset, title, _whole(seeds))
        made = made_html(measured, mine) if measured.points else "<p>Nothing is measured here yet: press Run.</p>"
        return [
            shown,
            self._cost(bar.model, dataset, _whole(seeds)),
            *_drawn(measured),
            made,
            numbers_html(measured, "" if mine or not measured.points else how),
        ]

    def _cost(self, model: str, dataset: Dataset, seeds: int) -> str:
        seconds = self._expected(model, dataset, seeds)
        most = f"; it ends by itself after {duration(MAX_SECONDS)}" if seconds > MAX_SECONDS else ""
        return (
            f"<p>Run trains {len(jobs(dataset, seeds))} models, one after the other, {len(SHARES) * SCRATCH_SEEDS} of "
            f"them from random weights ({SCRATCH_SEEDS} seeds, longer): about <b>{duration(seconds)}</b>{most}.</p>"
        )

    def _expected(self, model: str, dataset: Dataset, seeds: int) -> float:
        loaded = self.services.loaded(model)
        return expected_seconds(self.services.workshop, loaded.spec.key, loaded.tokenizer, loaded.model, dataset, seeds)

    def run(self, text: str, pair: str, model: str, data: str, file: str | None, seeds: Any) -> Iterator[list[Any]]:
        """CHANGED, as the measurement grows."""
        workshop, job = self.services.workshop, secrets.token_urlsafe(18)
        self._running.add(job)
        ready = {"job": "", "start": gr.update(interactive=True), "stop": gr.update(interactive=False)}
        begun: dict[str, Any] = {
            "job": job, "start": gr.update(interactive=False), "stop": gr.update(interactive=True),
        }  # fmt: skip
        measured: Measured | None = None
        try:
            count = _whole(seeds)
            dataset = read_data(data, file)
            if dataset is None:
                raise UserError(AWAITED)
            key = self.services.key(model)
            yield _changes(**begun, status="<p>Cutting the data into nested parts …</p>")
            spec, folder = self.services.store.spec(key), self.services.store.folder(key)
            expected = self._expected(model, checked(dataset, count), count)
            told_at = 0.0
            steps = measure(
                workshop, dataset, key, spec.title, folder, count, expected, lambda: job not in self._running
            )
            try:
                for progress in steps:
                    grown = measured is None or len(progress.measured.points) > len(measured.points)
                    measured = progress.measured
                    if not grown and time.monotonic() - told_at < SHOW_SECONDS:
                        continue
                    told_at = time.monotonic()
                    status = (
                        f"<p>Training {min(progress.done + 1, progress.total)} of {progress.total}: "
                        f"{html.escape(progress.told)}; about {duration(progress.seconds_left)} left.</p>"
                    )
                    yield _changes(status=status, **(self._grown(measured) if grown else {}))
            finally:
                steps.close()  # type: ignore[attr-defined]
        except Exception as error:  # whatever it was, the button must work again, and what is measured stays
            yield _changes(**ready, status="")
            if isinstance(error, gr.Error):  # ZeroGPU's own: a quota, a worker that died; its text is for the reader
                raise UserError(str(error.message)) from error
            raise
        finally:
            self._running.discard(job)
        wanted = len(jobs(dataset, count))
        spent = duration(measured.seconds) if measured else ""
        trained = sum(point.series != "words" for point in measured.points) if measured else 0
        ended = "Done" if trained == wanted else f"Stopped; {trained} of {wanted} trainings are kept"
        yield _changes(**ready, **(self._grown(measured) if measured else {}), status=f"<p>{ended}: {spent}.</p>")

    def _grown(self, measured: Measured) -> dict[str, Any]:
        figure, proof = _drawn(measured)
        return {
            "own": measured,
            "figure": figure,
            "proof": proof,
            "made": made_html(measured, own=True),
            "numbers": numbers_html(measured),
        }

    def stop(self, job: str) -> Any:
        """Ask this measurement to end at its next step, with what it has."""
        self._running.discard(job)
        return gr.update(interactive=False)


def _drawn(measured: Measured) -> tuple[Any, str]:
    return amount_figure(measured), proof_html(measured) if measured.points else ""


def _whole(seeds: Any) -> int:
    """Raises UserError for what is no count of seeds."""
    try:
        count = int(seeds)
    except (TypeError, ValueError, OverflowError):
        count = 0
    if not 1 <= count <= MAX_SEEDS:
        raise UserError(f"The number of seeds must be 1 to {MAX_SEEDS}.")
    return count


def _changes(**named: Any) -> list[Any]:
    return [named.get(name, gr.skip()) for name in CHANGED]


def build(page: Page) -> None:
    """The data and Run in a row, the picture, what it proves."""
    amount = Amount(page.services)
    own = [("Your own file: sentences", "file-sentence"), ("Your own file: pairs", "file-pair")]
    with gr.Row(elem_classes="amount-row"):
        menu = [(source.title, key) for key, source in SOURCES.items() if source.kind in KINDS]
        data = gr.Dropdown([*menu, *own], value="emotion", label="Data", filterable=False, scale=3, min_width=200)
        seeds = gr.Radio(
            [("1 seed", 1), ("2 seeds", 2), ("3 seeds", 3)], value=SEEDS, label="Repeated with", scale=3, min_width=250
        )
        start = gr.Button("Run", variant="primary", scale=1, min_width=110, elem_id="amount-run")
        stop = gr.Button("Stop and keep", interactive=False, scale=1, min_width=190, elem_id="amount-stop")
    file = gr.File(label="CSV, TSV or JSONL", file_types=[".csv", ".tsv", ".jsonl", ".json", ".txt"], height=110,
                   visible=False)  # fmt: skip
    with gr.Row(elem_classes="amount-said"):
        made = gr.HTML(elem_id="amount-made", min_width=300)
        status = gr.HTML(elem_id="amount-status", min_width=300)
    proof = gr.HTML(elem_id="amount-proof")
    figure = gr.Plot(label="Accuracy by training examples", show_label=False, elem_id="amount-figure")
    with takeaway_row():
        picture_buttons("#amount-figure", "bert-how-much-data", page)
    with gr.Accordion("The numbers", open=False):
        numbers = gr.HTML()
    formula_fold(__file__)
    source_fold(__file__)
    job, kept = gr.State("", delete_callback=amount.stop), gr.State(None)
    page.keep(amount=data, seeds=seeds)
    page.draw(
        amount.show,
        [data, file, seeds, job, kept],
        [file, status, figure, proof, made, numbers],
        triggers=[data.change, file.change, seeds.change],
        show_progress="hidden",
    )

    def run(*values: Any) -> Iterator[list[Any]]:  # page.on streams what a generator function yields
        yield from amount.run(*values)

    page.on(
        [start.click],
        run,
        [*page.sentence, data, file, seeds],
        [job, kept, start, stop, status, figure, proof, made, numbers],
        show_progress="hidden",
        trigger_mode="once",
        **QUEUE,
    )
    page.on([stop.click], amount.stop, [job], [stop], show_progress="hidden")


PART = Part(
    tab="How much data?",
    look="How few examples does a trained model need? The same architecture from random weights and a classifier of "
    "words learn from the same parts of the data.",
    build=build,
    order=4,
    former="amount",
)
