"""Lesson: fine-tune live. Pick a base, a vector, layers, an optimizer; press Start; watch it learn; try it."""

from __future__ import annotations

import html
import time
from collections.abc import Iterator
from typing import Any

import gradio as gr

from demos.errors import UserError
from demos.figures.training import confusion_figure
from demos.figures.training_code import code_for
from demos.figures.training_told import (
    chances_html,
    cost_html,
    dataset_html,
    head_html,
    mistakes_html,
    model_html,
    numbers_html,
    scores_html,
    step_html,
    vector_html,
)
from demos.page.assets import read_asset
from demos.page.curve import CurveFeed, duration, failure_message, idle_message, live_curve
from demos.page.lesson import Lesson, Page
from demos.page.services import Sentence
from demos.training.cost import cost_of
from demos.training.data import MAX_TRAIN, Dataset, build_dataset, load_emotion, load_upload
from demos.training.events import Event, Failed, Finished, Started, Stopped, as_json
from demos.training.line import MAX_WAITING
from demos.training.metrics import majority
from demos.training.settings import Settings
from demos.training.tables import read_rows
from demos.training.workshop import Workshop

OWN, UPLOAD = "emotion", "file"
DRAW_SECONDS = 0.2  # between two messages to the page
FILES = [".csv", ".tsv", ".jsonl", ".txt"]
TRY = "I can't believe you remembered!"
QUEUE: dict[str, Any] = {"concurrency_id": "train", "concurrency_limit": 2 * (1 + MAX_WAITING)}
AWAITED = "Choose a file: a text and a label column, named in its first row; two columns need no names."
DATA_PATH = "assets/data/emotion.tsv"
INLINE = {"left": "$", "right": "$", "display": False}
RATES = [2e-5, 5e-5, 1e-4, 2e-4, 5e-4]
DEFAULT = Settings()


def read_settings(
    pooling: str, hidden: Any, dropout: Any, rate: Any, epochs: Any, schedule: str, warmup: Any, *more: Any
) -> Settings:
    """The controls' values as Settings. Raises UserError where one is out of bounds."""
    batch_size, weight_decay, max_length, seed = more
    try:
        return Settings(
            pooling=pooling,
            hidden=int(hidden),
            dropout=float(dropout),
            learning_rate=float(rate),
            epochs=int(epochs),
            schedule=schedule,
            warmup=float(warmup),
            batch_size=int(batch_size),
            weight_decay=float(weight_decay),
            max_length=int(max_length),
            seed=int(seed),
        ).check()
    except (TypeError, ValueError, OverflowError) as error:
        raise error if isinstance(error, UserError) else UserError("A setting is empty or not a number.") from error


def read_dataset(source: str, file: str | None, test_file: str | None, most: Any, seed: Any) -> Dataset:
    """What the data picker points at. Raises UserError where that is missing or broken."""
    try:
        max_train, number = min(MAX_TRAIN, max(10, int(most))), int(seed)
    except (TypeError, ValueError, OverflowError) as error:
        raise UserError("A setting is empty or not a number.") from error
    if source == OWN:
        return load_emotion(number, max_train)
    if not file:
        raise UserError("Choose a CSV, TSV or JSONL file with a text and a label column first.")
    return load_upload(file, test_file or None, number, max_train)


def build(page: Page) -> None:
    """Lay the lesson out, wire it, and offer the endpoint."""
    services, workshop = page.services, Workshop()
    run = gr.State("", delete_callback=workshop.runs.discard)
    kept = gr.State("", delete_callback=workshop.runs.discard)

    with gr.Row():
        with gr.Column(min_width=320, elem_classes="recipe"):
            with gr.Row():
                with gr.Column(min_width=250, elem_classes="step"):
                    gr.HTML(step_html(1, "Pick a base model"))
                    base = gr.HTML()
                with gr.Column(min_width=250, elem_classes="step"):
                    gr.HTML(step_html(2, "One vector for the sentence"))
                    names = [("mean", "mean"), ("[CLS]", "cls"), ("max", "max")]
                    pooling = gr.Radio(names, value=DEFAULT.pooling, label="Pooling")
                    vector = gr.HTML()
            with gr.Row():
                with gr.Column(min_width=250, elem_classes="step"):
                    gr.HTML(step_html(3, "Layers on top"))
                    widths = [("none", 0), ("64", 64), ("256", 256)]
                    hidden = gr.Radio(widths, value=DEFAULT.hidden, label="One more dense layer")
                    dropout = gr.Slider(0, 0.5, DEFAULT.dropout, step=0.05, label="Dropout")
                    head = gr.HTML()
                with gr.Column(min_width=250, elem_classes="step"):
                    gr.HTML(step_html(4, "Optimizer (AdamW), schedule"))
                    with gr.Row():
                        rates = [(f"{rate:.0e}".replace("e-0", "e-"), rate) for rate in RATES]
                        rate = gr.Dropdown(
                            rates, value=DEFAULT.learning_rate, label="Learning rate", filterable=False, min_width=110
                        )
                        epochs = gr.Slider(1, 10, DEFAULT.epochs, step=1, label="Epochs", min_width=130)
                    schedule = gr.Radio(["linear", "cosine", "constant"], value=DEFAULT.schedule, label="After warm-up")
                    warmup = gr.Slider(0, 0.5, DEFAULT.warmup, step=0.05, label="Warm-up, share of steps")
        with gr.Column(min_width=320):
            with gr.Row():
                start = gr.Button("Start", variant="primary", elem_id="finetune-start", min_width=120)
                stop = gr.Button("Stop and keep", interactive=False, elem_id="finetune-stop", min_width=120)
            cost = gr.HTML(elem_id="finetune-cost")
            curve = live_curve(elem_id="finetune-curve")

    with gr.Column(visible=False, elem_id="finetune-results") as results:
        scores = gr.HTML(elem_classes="said")
        with gr.Row():
            with gr.Column(min_width=320):
                gr.HTML("<h3>What it takes for what</h3>")
                confusion = gr.Plot(label="Confusion matrix of the test sentences", show_label=False)
            with gr.Column(min_width=320):
                gr.HTML("<h3>Where it is wrong</h3>")
                mistakes = gr.HTML()
        gr.HTML("<h3>Try it</h3>")
        with gr.Row():
            with gr.Column(min_width=320):
                sentence = gr.Textbox(TRY, label="A sentence of your own", lines=1, elem_id="finetune-try")
                ask = gr.Button("Ask the trained model", elem_id="finetune-ask")
            with gr.Column(min_width=320):
                chances = gr.HTML(elem_id="finetune-chances")

    with gr.Row():
        with gr.Column(scale=2, min_width=320):
            gr.HTML("<h3>The data</h3>")
            sources = [("Emotion: sentences written for this lesson", OWN), ("a file of your own", UPLOAD)]
            source = gr.Radio(sources, value=OWN, show_label=False, label="Data")
            with gr.Row(visible=False) as files:
                file = gr.File(label="CSV, TSV or JSONL with text and label", file_types=FILES, height=120)
                test_file = gr.File(label="a separate test file (optional)", file_types=FILES, height=120)
            with gr.Accordion("More settings", open=False), gr.Row():
                batch_size = gr.Slider(4, 64, DEFAULT.batch_size, step=4, label="Batch size", min_width=140)
                decay = gr.Slider(0, 0.1, DEFAULT.weight_decay, step=0.01, label="Weight decay", min_width=140)
                length = gr.Slider(8, 128, DEFAULT.max_length, step=8, label="Most tokens a sentence", min_width=140)
                most = gr.Slider(50, MAX_TRAIN, MAX_TRAIN, step=50, label="Most training sentences", min_width=140)
                seed = gr.Number(DEFAULT.seed, precision=0, minimum=0, maximum=2**31 - 1, label="Seed", min_width=140)
        with gr.Column(scale=3, min_width=320):
            data = gr.HTML(elem_id="finetune-data")

    with gr.Accordion("The numbers", open=False):
        numbers = gr.HTML('<p class="aside">There are none before a run.</p>')
    with gr.Accordion("The formula", open=False):
        gr.Markdown(
            read_asset("finetune-formula.md"), latex_delimiters=[{"left": "$$", "right": "$$", "display": True}, INLINE]
        )
    with gr.Accordion("The code", open=False):
        gr.Markdown("The recipe above with torch and transformers alone, on the emotion sentences.")
        code = gr.Code(language="python", interactive=False, show_label=False)
    with gr.Accordion("The source", open=False):
        gr.Markdown(read_asset("finetune-sources.md"))

    recipe = [pooling, hidden, dropout, rate, epochs, schedule, warmup, batch_size, decay, length, seed]
    picked = [source, file, test_file, most]

    def show(bar: Sentence, source: str, file: str, test_file: str, most: Any, *chosen: Any) -> list[Any]:
        """The recipe's shapes and the data; needs no model in memory."""
        settings = read_settings(*chosen)
        spec = services.store.spec(bar.model)
        shapes = [model_html(spec), vector_html(settings.pooling, spec.width)]
        shown_files = gr.update(visible=source == UPLOAD)
        program = code_for(spec, settings, DATA_PATH)
        if source == UPLOAD and not file:
            return [*shapes, "", shown_files, f"<p>{AWAITED}</p>", program]
        dataset = read_dataset(source, file, test_file, most, settings.seed)
        layers = head_html(spec.width, settings, len(dataset.labels))
        return [*shapes, layers, shown_files, dataset_html(dataset), program]

    def show_cost(bar: Sentence, source: str, file: str, test_file: str, most: Any, *chosen: Any) -> str:
        """What Start would do, counted on the model."""
        try:
            settings = read_settings(*chosen)
            dataset = read_dataset(source, file, test_file, most, settings.seed)
        except UserError:  # `show` tells it
            return ""
        return _cost(bar.model, dataset, settings)

    def _cost(model: str, dataset: Dataset, settings: Settings) -> str:
        loaded = services.loaded(model)
        cost = cost_of(dataset, loaded.tokenizer, loaded.model, settings)
        speed = workshop.speed(loaded.spec.key)
        return cost_html(cost, dataset.name, speed, duration(cost.examples / speed) if speed else "")

    def show_idle(current: str, before: str, source: str, file: str, test_file: str, most: Any, seed: Any) -> Any:
        """Empty axes with what guessing reaches, unless a run is on them."""
        if current or before:
            return gr.skip()
        try:
            dataset = read_dataset(source, file, test_file, most, seed)
        except UserError:  # `show` tells it
            return gr.skip()
        return idle_message(*_guessed(dataset))

    ended = [run, kept, start, stop, curve, results, scores, confusion, mistakes, numbers, chances, cost]

    def train(
        text: str, pair: str, model: str, before: str, words: str, source: str, file: str, test_file: str, most: Any,
        *chosen: Any,
    ) -> Iterator[list[Any]]:  # fmt: skip
        """One run; what keeps it from starting is told where its curve would have been."""
        try:
            settings = read_settings(*chosen)
            dataset = read_dataset(source, file, test_file, most, settings.seed)
            yield from _run(model, before, words, dataset, settings)
        except UserError as error:
            update = [gr.skip() for _ in ended]
            update[ended.index(curve)] = failure_message(str(error))
            yield update

    def _run(model: str, before: str, words: str, dataset: Dataset, settings: Settings) -> Iterator[list[Any]]:
        """The curve grows by what is new; at the end everything else is filled."""
        key = services.key(model)
        mine = workshop.runs.new()
        feed = CurveFeed(mine, dataset.name)
        events = workshop.fine_tune(mine, dataset, key, services.store.folder(key), settings)
        per_epoch, shown_at, first = 1, 0.0, True
        nothing = [gr.skip() for _ in ended]
        try:
            for event in events:
                per_epoch = event.steps_per_epoch if isinstance(event, Started) else per_epoch
                at_once = feed.take(event)
                if isinstance(event, Finished | Stopped | Failed):
                    told = _cost(model, dataset, settings)  # now with the speed of this run
                    yield [*_end(event, feed, per_epoch, mine, before, words), told]
                elif at_once or time.monotonic() - shown_at >= DRAW_SECONDS:
                    update = [*nothing]
                    update[ended.index(curve)] = feed.message()
                    if first:  # from now on the Stop button knows whose run to stop
                        update[0] = mine
                        update[2:4] = [gr.update(interactive=False), gr.update(interactive=True)]
                        first = False
                    yield update
                    shown_at = time.monotonic()
        finally:
            events.close()  # type: ignore[attr-defined]

    def _end(event: Event, feed: CurveFeed, per_epoch: int, mine: str, before: str, words: str) -> list[Any]:
        switched = [gr.update(interactive=True), gr.update(interactive=False)]
        if not isinstance(event, Finished | Stopped):
            return ["", before, *switched, feed.message(), *[gr.skip()] * 6]
        workshop.runs.discard(before)
        result = event.result
        return [
            "",
            mine,
            *switched,
            feed.message(),
            gr.update(visible=True),
            scores_html(result, isinstance(event, Stopped)),
            confusion_figure(result),
            mistakes_html(result),
            numbers_html(result, feed.looks, per_epoch),
            _first_answer(mine, words),
        ]

    def _first_answer(mine: str, words: str) -> str:
        try:
            return answer(mine, words)
        except UserError as error:  # the run is worth showing all the same
            return f"<p>{html.escape(str(error))}</p>"

    def answer(mine: str, words: str) -> str:
        """The trained model's probabilities for a sentence."""
        if not words or not words.strip():
            raise UserError("Write a sentence for the trained model first.")
        (found,) = workshop.runs.predict(mine, [words])
        return chances_html(found, list(found), words)

    moved = [source.input, file.change, test_file.change, *[one.change for one in (*recipe, most)]]
    page.draw(
        show,
        [*picked, *recipe],
        [base, vector, head, files, data, code],
        triggers=moved,
        show_progress="hidden",
    )
    page.draw(show_cost, [*picked, *recipe], [cost], triggers=moved, show_progress="hidden")
    page.on(
        [page.settled.change, source.input, file.change, test_file.change, most.change],
        show_idle,
        [run, kept, *picked, seed],
        [curve],
        trigger_mode="always_last",
        show_progress="hidden",
    )
    page.on(
        [start.click],
        train,
        [*page.sentence, kept, sentence, *picked, *recipe],
        ended,
        show_progress="hidden",
        trigger_mode="once",
        **QUEUE,
    )
    page.on([stop.click], lambda mine: _stop(workshop, mine), [run], [stop], show_progress="hidden")
    page.on([ask.click, sentence.submit], answer, [kept, sentence], [chances])
    page.keep(
        pooling=pooling, hidden=hidden, dropout=dropout, rate=rate, epochs=epochs, schedule=schedule, warmup=warmup,
        batch=batch_size, decay=decay, tokens=length, most=most, seed=seed,
    )  # fmt: skip
    offer_endpoint(page, workshop)


def _guessed(dataset: Dataset) -> tuple[Dataset, float]:
    train, test = ([example.label for example in split] for split in (dataset.train, dataset.test))
    return dataset, majority(train, test, len(dataset.labels))[1]


def _stop(workshop: Workshop, mine: str) -> Any:
    if mine:
        workshop.runs.stop(mine)
    return gr.update(interactive=False)


def offer_endpoint(page: Page, workshop: Workshop) -> None:
    """The API's `fine_tune`."""
    services = page.services

    def fine_tune(
        data: str = "emotion",
        pooling: str = "mean",
        epochs: int = 3,
        learning_rate: float = 1e-4,
        batch_size: int = 16,
        seed: int = 0,
        model: str = "",
    ) -> Iterator[dict[str, Any]]:
        """Fine-tune a copy of the model and stream what happens, one JSON object an event.

        data is "emotion" or the text of a TSV file: text, label and perhaps split columns (train, validation, test).
        The event field says which: waiting, started, step, epoch, scoring, and last finished, stopped or failed.
        """
        settings = Settings(
            pooling=pooling, epochs=epochs, learning_rate=learning_rate, batch_size=batch_size, seed=seed
        ).check()
        dataset = told_dataset(data, seed)
        key = services.key(model)
        run = workshop.runs.new()
        events = workshop.fine_tune(run, dataset, key, services.store.folder(key), settings)
        try:
            for event in events:
                yield as_json(event)
        finally:
            events.close()  # type: ignore[attr-defined]
            workshop.runs.discard(run)  # nobody else knows its id

    page.endpoint(fine_tune, **QUEUE)


def told_dataset(data: str, seed: int) -> Dataset:
    """The endpoint's `data`. Raises UserError for what is neither "emotion" nor a TSV."""
    if not isinstance(data, str) or not data.strip():
        raise UserError('The data is empty; send "emotion" or the text of a TSV file.')
    if data.strip() == OWN:
        return load_emotion(seed)
    if "\t" not in data:
        raise UserError('The data is neither "emotion" nor a TSV: its columns need tabs between them.')
    return build_dataset("data", read_rows(data.encode("utf-8", "replace"), "data.tsv"), seed=seed)


LESSON = Lesson(
    slug="finetune",
    order=4,
    tab="Fine-tune",
    question="How does BERT learn a task in a minute?",
    look="A few new numbers on top and a few hundred sentences turn a general reader into a specialist. Press Start "
    "and watch the validation curve: the training curve may also show what was learned by heart.",
    build=build,
)
