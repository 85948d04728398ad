"""Frozen features: BERT's vectors into a logistic regression, against guessing, words and fine-tuning."""

import json
import secrets
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass

import gradio as gr

from demos.bert.embeddings.frozen_features import CONCAT_ALL, MAX_DIMENSION, width_of
from demos.bert.embeddings.pooling import POOLER, Choice
from demos.bert.model.models import LoadedModel
from demos.bert.model.text import MASK, clean_text
from demos.errors import UserError
from demos.figures.confusion import confusion_figure
from demos.figures.scores_text import mistakes_html
from demos.lessons.embeddings.frozen_features.classifiers import Frozen, Task
from demos.lessons.embeddings.frozen_features.figure import Bar, bars_figure, feature_name
from demos.lessons.embeddings.frozen_features.program import features_code
from demos.lessons.embeddings.frozen_features.shown import (
    Row,
    bar,
    bars_shown,
    frozen_row,
    grid_shown,
    lstm_bar,
    numbers,
)
from demos.lessons.embeddings.frozen_features.text import TEXT, data_html, recipe_html
from demos.page.guards import notice_html
from demos.page.lesson import IN_BROWSER
from demos.page.progress import EventOptions
from demos.page.services import Services
from demos.page.view import Layout, On, Shown, View, drawn, limit, menu, options, switch, unlinked
from demos.training.data.labelled_sentences import (
    EMOTIONS,
    FILE,
    FILMS,
    MAX_ROWS,
    OWN_SPLIT,
    SEEDS,
    SST2,
    TWO,
    read_labelled,
    split_rows,
)
from demos.training.frozen_classifier import Fit, result_of
from demos.training.service.training_queue import MAX_WAITING
from demos.widgets.file_picker.file_picker import file_picker, shown_for
from demos.widgets.pooling_menus.pooling_menus import LAST, layer_choice, layer_limit, pooling_choice, read_choice

SOURCES = [
    ("Emotion: six classes", EMOTIONS),
    ("Joy or sadness", TWO),
    ("our own film reviews", FILMS),
    (f"SST-2, {MAX_ROWS:,} rows", SST2),
    ("your own file", FILE),
]
AWAITED = (
    f"Choose a file with a text column and a label column; up to {MAX_ROWS:,} rows are used. "
    "For example, you can use the train.tsv of Alammar's guide."
)
BESIDE = ("all layers concatenated", CONCAT_ALL)
SPLITS = [("from the file", OWN_SPLIT), *((f"drawn, seed {seed}", str(seed)) for seed in range(SEEDS))]
DRAW_SECONDS = 1.0  # between two drawings of the grid as it fills
# The fits take a minute or more: they run one after the other in a separate queue, so that other readers do not wait.
FILLING: EventOptions = {
    "concurrency_id": "fit-all",
    "concurrency_limit": 1 + MAX_WAITING,
    "show_progress": "hidden",
    "trigger_mode": "once",
}
GUESS, WORDS = "always the most frequent class", "words only, no BERT (TF-IDF)"
READ = ("features_data", "features_pooling", "features_layer", "features_split", "features_standardise", "file")


class FrozenFeatures(View):
    tab, order, former, reads_sentence = "Frozen features", 9, "features", False
    look = (
        "BERT is frozen: its weights do not change. Its vectors are the input of a logistic regression, the only part "
        "that is trained. For each kind of vector, compare the accuracy with that of guessing and of a bag-of-words "
        "classifier."
    )

    @dataclass(frozen=True)
    class Choices:
        features_data: str = options(SOURCES, EMOTIONS, "Sentences")
        features_pooling: str = pooling_choice(by_script=True)
        features_layer: str = layer_choice("", BESIDE, by_script=True)
        features_split: str = menu(SPLITS, OWN_SPLIT, "Split", min_width=150)
        features_standardise: bool = switch("Standardize each dimension", True, min_width=150)
        file: str | None = unlinked(None, redraws=True)
        run: str = unlinked("")  # the reader's own fine-tuned model
        fitted: str = unlinked("", redraws=True)  # changes when a button's fits have ended

        @property
        def awaits_file(self) -> bool:
            """Whether the reader's own file is not there yet."""
            return self.features_data == FILE and not self.file

        def task(self, on: On) -> Task:
            """The setting of the comparison. Raises UserError if data or model can't be had."""
            data = read_labelled(self.features_data, self.file)
            return Task(data, split_rows(data, self.features_split), on.loaded, self.features_standardise)

        def vector(self, loaded: LoadedModel) -> Choice:
            """The selected vector. Raises UserError as `read_choice` does, and for one too wide to be fitted."""
            pooling, layer = self.features_pooling, self.features_layer
            if layer != CONCAT_ALL or pooling == POOLER:
                return read_choice(loaded, pooling, LAST if layer == CONCAT_ALL else layer)
            choice = Choice(read_choice(loaded, pooling, LAST).pooling, CONCAT_ALL)
            config = loaded.model.config
            wide = width_of(choice, config.num_hidden_layers, config.hidden_size)
            if wide > MAX_DIMENSION:
                raise UserError(
                    f"All layers concatenated have {wide:,} components here; the limit is {MAX_DIMENSION:,}."
                )
            return choice

    def lay_out(self, at: Layout) -> None:
        at.hold("run", at.page.trained)
        at.hold("fitted", gr.Textbox("", visible="hidden"))  # no output of `draw`, which is called when it changes
        with gr.Row(elem_classes="features-top"):
            with gr.Column(scale=3, min_width=330):
                label = "Accuracy of each classifier"
                at.plot("bars", label, elem_id="features-bars", elem_classes="picture")
                at["status"] = gr.HTML("", elem_classes="said features-status")
                at["said"] = gr.HTML("", elem_classes="said", elem_id="features-said")
            with gr.Column(scale=2, min_width=330):
                source = at.control("features_data")
                file = at.hold("file", file_picker("CSV, Excel or JSON", height=110, visible=False))
                menus = [at.control("features_pooling"), at.control("features_layer")]
                with at.all_controls(), gr.Row():
                    at.control("features_split")
                    at.control("features_standardise")
                at["about"] = gr.HTML("", elem_classes="said")
                at["tuned"] = gr.HTML("", elem_classes="said", elem_id="features-tuned")
                at["lstm"] = gr.HTML("", elem_classes="said", elem_id="features-lstm")
                with gr.Row(elem_classes="lab-buttons"):
                    at["learn"] = gr.Button("Train an LSTM too", min_width=150, elem_id="features-learn")
        gr.HTML(TEXT.recipe_heading())
        at["recipe"] = gr.HTML("", elem_id="features-recipe")
        gr.HTML(TEXT.grid_heading())
        with gr.Row():
            with gr.Column(scale=3, min_width=330):
                at["grid_said"] = gr.HTML("", elem_classes="said", elem_id="features-grid-said")
                grid_status = gr.HTML("", elem_classes="said features-status")
            with gr.Column(scale=1, min_width=330), gr.Row():
                start = gr.Button("Fit all choices", variant="primary", min_width=200, elem_id="features-start")
                stop = gr.Button("Stop", interactive=False, min_width=90, elem_id="features-stop")
                at["take"] = gr.Button("Use the best choice", visible=False, min_width=200, elem_id="features-take")
                at["best"] = gr.Textbox("", visible="hidden")
        at.plot("grid", "Cross-validated accuracy of every choice", visible=False, elem_id="features-grid")
        with gr.Row():
            with gr.Column(min_width=330):
                at["wrong"] = gr.HTML("")
                at.plot("confusion", "Confusion matrix of the held-out sentences")
            with gr.Column(min_width=330):
                gr.HTML(TEXT.mistakes_heading())
                at["mistakes"] = gr.HTML("", elem_id="features-mistakes")
        at.folds("Prints the accuracy of the selected vector")
        shown_for(source, file, FILE)
        at["take"].click(None, [at["best"]], menus, js="(best) => best.split(',')", **IN_BROWSER)
        _wire(at, {"grid_status": grid_status, "start": start, "stop": stop})

    @drawn(limits=("features_layer", "features_split"), reads_sentence=True)
    def draw(self, on: On, c: Choices) -> Generator[Shown]:
        """Guessing and words, then BERT's frozen vectors, then the reader's own model."""
        if c.awaits_file:
            yield {"status": TEXT.line(AWAITED)}
            return
        yield {"status": TEXT.line("Downloading SST-2 …") if c.features_data == SST2 else ""}
        try:
            task = c.task(on)
            choice = c.vector(task.loaded)
        except UserError:
            yield {"status": ""}
            raise
        frozen = on.services.shared(Frozen)
        rows = baselines(frozen, task)
        # A browser may swallow one of two messages that come at once: what must arrive is in each of them.
        splits = SPLITS if task.data.own_test is not None else SPLITS[1:]
        always: Shown = {
            "features_split": limit(choices=splits, value=task.split.key),
            "about": data_html(task.data, task.split),
        }
        yield {**always, "bars": bars_figure([bar(*row) for row in rows])}
        picked = len(rows) + vectors_of(task, choice).index(choice)
        fits: dict[Choice, Fit] = {}
        for line in frozen.fit(task, vectors_of(task, choice), fits):
            yield {**always, "status": line, "said": ""}  # the sentence is about other bars
        rows += [frozen_row(task, vector, fit) for vector, fit in fits.items()]
        bars, held_out = [bar(*row) for row in rows], len(task.split.test)
        learned = frozen.lstm(task)
        if learned:
            bars.append(lstm_bar(learned, held_out))
        state = frozen.tuned_state(task, c.run)
        result, name = result_of(task.data, task.split, fits[choice]), feature_name(choice, task.deepest)
        yield {
            **always,
            "status": TEXT.asking() if state == "here" else "",
            "tuned": TEXT.tuned(state, held_out, base_title(on.services, c.run) if state == "here" else ""),
            "lstm": TEXT.lstm(learned, fits[choice], name, len(task.split.train), len(task.split.test)),
            "learn": gr.update(visible=learned is None),
            "recipe": recipe(frozen, task, choice, fits[choice], on.sentence.text),
            "features_layer": layer_limit(task.loaded, c.features_layer, BESIDE),
            "wrong": TEXT.taken_for(name),
            "confusion": confusion_figure(result),
            "mistakes": mistakes_html(result),
            **bars_shown(task, bars, picked),
            **grid_shown(task, frozen.known(task)),
        }
        if state == "here":
            try:
                accuracy, interval = frozen.tuned(task, c.run)
                bars.append(Bar("your own fine-tuned model", "tuned", accuracy, interval))
            except UserError:  # let go since `tuned_state` looked
                yield {"tuned": TEXT.tuned("none", held_out, "")}
            yield {"status": "", **bars_shown(task, bars, picked)}

    @drawn("numbers", by=(*READ, "fitted"))
    def draw_numbers(self, on: On, c: Choices) -> Generator[Shown]:
        """The numbers of the bars, and of all that is fitted."""
        if c.awaits_file:
            yield {}
            return
        frozen, task = on.services.shared(Frozen), c.task(on)
        fits: dict[Choice, Fit] = {}
        for line in frozen.fit(task, vectors_of(task, c.vector(task.loaded)), fits):
            yield {"numbers": line}
        rows = [*baselines(frozen, task), *(frozen_row(task, vector, fit) for vector, fit in fits.items())]
        yield {"numbers": numbers(task, rows, frozen.known(task))}

    @drawn("program", by=READ)
    def draw_program(self, on: On, c: Choices) -> Generator[Shown]:
        """The program of the selected vector, which needs the data: in steps, so that nobody waits for a download."""
        if c.awaits_file:
            yield {}
            return
        task = c.task(on)
        spec, choice, data = task.loaded.spec, c.vector(task.loaded), c.features_data
        folds = len(on.services.shared(Frozen).guess(task).folds)
        masks = any(MASK in text for text in task.data.texts)
        yield {"program": features_code(spec, choice, data, task.split.key, task.standardise, folds, masks)}


def _wire(at: Layout, series: dict[str, gr.Component]) -> None:
    """The two buttons that fit more, and the one that ends the first of them, a series of fits."""
    fitted = {"fitted": at.controls["fitted"]}
    begun = {**series, **{name: at[name] for name in ("grid", "grid_said", "take", "best")}, **fitted}
    filling = at.answers(series["start"].click, fill, begun, **FILLING)
    at.answers(at["learn"].click, learn, {"status": at["status"], **fitted}, **FILLING)
    # The browser sets both buttons: a message of the fits that comes late would undo it.
    under_way, ready = (
        json.dumps([{"__type__": "update", "interactive": is_free} for is_free in (free, not free)])
        for free in (False, True)
    )
    series["start"].click(None, None, [series["start"], series["stop"]], js=f"() => {under_way}", **IN_BROWSER)
    ended = f"() => [{json.dumps(TEXT.stopped())}, ...{ready}, String(Date.now())]"
    series["stop"].click(None, None, [*series.values(), *fitted.values()], js=ended, **IN_BROWSER)
    series["stop"].click(None, None, None, cancels=[filling], api_visibility="private", show_progress="hidden")


def fill(on: On, c: FrozenFeatures.Choices) -> Generator[Shown]:
    """Fit every pooling x layer, one after the other; fits are stored, so an end before the last loses nothing."""
    ready = {"start": gr.update(interactive=True), "stop": gr.update(interactive=False), "grid_status": ""}
    done: dict[Choice, Fit] = {}
    try:
        task = c.task(on)
        drawn_at = time.monotonic()
        with closing(on.services.shared(Frozen).fit_all(task, done)) as lines:
            for line in lines:
                changes: Shown = {"grid_status": line}
                if len(done) > 1 and time.monotonic() - drawn_at > DRAW_SECONDS:
                    changes |= grid_shown(task, done)
                    drawn_at = time.monotonic()
                yield changes
    except Exception:  # whatever it was, the button must work again
        yield ready
        raise
    yield {**ready, "fitted": secrets.token_hex(8)}


def learn(on: On, c: FrozenFeatures.Choices) -> Generator[Shown]:
    """Train an LSTM on the same split, in the fits' line."""
    if c.awaits_file:
        raise UserError(AWAITED)
    for line in on.services.shared(Frozen).learn_lstm(c.task(on)):
        yield {"status": line}
    yield {"status": "", "fitted": secrets.token_hex(8)}


def baselines(frozen: Frozen, task: Task) -> list[Row]:
    """Guessing and words alone."""
    return [(GUESS, "guess", frozen.guess(task)), (WORDS, "words", frozen.words(task))]


def vectors_of(task: Task, choice: Choice) -> list[Choice]:
    """The frozen vectors that have bars: [CLS] and mean of the last layer, and the selected one."""
    return list(dict.fromkeys([Choice("cls", task.deepest), Choice("mean", task.deepest), choice]))


def recipe(frozen: Frozen, task: Task, choice: Choice, fit: Fit, text: str) -> str:
    """The bar's own sentence. Its errors are shown here, since the bars don't depend on it."""
    try:
        sentence = clean_text(text, "The sentence").strip()
        if not sentence:
            return TEXT.no_sentence()
        vector, chances = frozen.chances(task, choice, fit, sentence)
    except UserError as error:
        return notice_html(str(error))
    weights = sum(parameter.numel() for parameter in task.loaded.model.parameters())
    return recipe_html(sentence, weights, vector, fit, chances)


def base_title(services: Services, run: str) -> str:
    """The name of the model that the run has fine-tuned."""
    try:
        return services.store.spec(services.trainings.runs.base(run)).title
    except UserError:
        return "BERT"
