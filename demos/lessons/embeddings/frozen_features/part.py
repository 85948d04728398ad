"""Frozen, then a classifier: BERT's vectors into a logistic regression, against guessing, words and fine-tuning."""

from __future__ import annotations

import html
import secrets
import time
from collections.abc import Iterator, Mapping
from typing import Any

import gradio as gr

from demos.bert.embeddings.frozen_features import features_of
from demos.bert.embeddings.pooling import Choice
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.figures.confusion import confusion_figure
from demos.figures.scores_text import mistakes_html
from demos.lessons.embeddings.frozen_features.classifiers import Frozen, Task
from demos.lessons.embeddings.frozen_features.figure import Bar, bars_figure, feature_name, grid_figure
from demos.lessons.embeddings.frozen_features.layout import (
    ASKED,
    AWAITED,
    FILLED,
    GRID_FILLED,
    Asked,
    filled,
    laid_out,
    layer_update,
    menu_value,
    split_update,
)
from demos.lessons.embeddings.frozen_features.program import features_code
from demos.lessons.embeddings.frozen_features.text import (
    bars_html,
    data_html,
    grid_html,
    numbers_html,
    recipe_html,
    tuned_html,
)
from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import Page, Part, notice_html
from demos.training.data.labelled import FILE, SST2, read_labelled, split_rows
from demos.training.data.sst2 import PUBLISHED
from demos.training.frozen_classifier import Fit, chosen, result_of

DATA_PATH = "assets/data/emotion.tsv"
DRAW_SECONDS = 1.0  # between two drawings of the grid as it fills
HEAVY: dict[str, Any] = {"concurrency_id": "vectors", "concurrency_limit": 2, "show_progress": "hidden"}
# A minute or more of fits: in a queue of its own, so that whoever only looks does not wait behind it.
FILLING: dict[str, Any] = {**HEAVY, "concurrency_id": "fit-all"}
GUESS, WORDS = "always the most frequent class", "words alone, no BERT (TF-IDF)"


class Recipe:
    """The part's handlers; they share the fits of all its readers."""

    def __init__(self, frozen: Frozen) -> None:
        self.frozen = frozen
        self._filling: set[str] = set()  # those under way; who is taken out stops

    def show(self, text: str, pair: str, model: str, *values: Any) -> Iterator[list[Any]]:
        """FILLED, as it comes: guessing and words first, then BERT's frozen vectors, last the reader's own model."""
        asked = Asked(*values)
        uploaded = asked.source == FILE
        waiting = AWAITED if uploaded and not asked.file else "Fetching SST-2 …" if asked.source == SST2 else ""
        # A browser may swallow one of two messages that come at once: what must arrive is in each of them.
        kept: dict[str, Any] = {"file": gr.update(visible=uploaded)}
        yield filled(FILLED, **kept, status=waiting and f"<p>{waiting}</p>")
        if uploaded and not asked.file:
            return
        try:
            task = self._task(model, asked)
            choice = asked.choice(task.loaded)
        except UserError:
            yield filled(FILLED, status="")
            raise
        baselines = [(GUESS, "guess", self.frozen.guess(task)), (WORDS, "words", self.frozen.words(task))]
        bars = [_bar(*one) for one in baselines]
        kept |= {
            "split": split_update(task.data, asked.split, task.split.key),
            "about": data_html(task.data, task.split),
        }
        yield filled(FILLED, **kept, bars=bars_figure(bars))
        wanted = dict.fromkeys([Choice("cls", task.deepest), Choice("mean", task.deepest), choice])
        fits: dict[Choice, Fit] = {}
        for line in self.frozen.fit(task, list(wanted), fits):
            yield filled(FILLED, **kept, status=line, said="")  # what is said is of other bars
        named = [(f"{feature_name(one, task.deepest)}, frozen", "frozen", fits[one]) for one in wanted]
        bars += [_bar(*one) for one in named]
        picked = len(baselines) + list(wanted).index(choice)
        state = self.frozen.tuned_state(task, asked.run)
        result = result_of(task.data, task.split, fits[choice])
        name = html.escape(feature_name(choice, task.deepest))
        known = self.frozen.known(task)
        yield filled(
            FILLED,
            **kept,
            status="<p>Asking your fine-tuned model …</p>" if state == "here" else "",
            tuned=tuned_html(state, len(task.split.test), self._title(asked.run) if state == "here" else ""),
            recipe=self._recipe(task, choice, fits[choice], text),
            layer=layer_update(task.loaded, asked.layer),
            wrong=f"<h3>What it takes for what: {name}</h3>",
            confusion=confusion_figure(result),
            mistakes=mistakes_html(result),
            numbers=numbers_html(
                [(what, fit) for what, _, fit in [*baselines, *named]], known, task.data, task.split, task.deepest
            ),
            code=self._code(task, choice, asked),
            **_bars_shown(task, bars, picked),
            **_grid_shown(task, known),
        )
        if state == "here":
            try:
                accuracy, interval = self.frozen.tuned(task, asked.run)
                bars.append(Bar("your own model, from Fine-tune", "tuned", accuracy, interval))
            except UserError:  # let go since `tuned_state` looked
                yield filled(FILLED, tuned=tuned_html("none", len(task.split.test)))
            yield filled(FILLED, status="", **_bars_shown(task, bars, picked))

    def fill(self, text: str, pair: str, model: str, *values: Any) -> Iterator[list[Any]]:
        """GRID_FILLED: every pooling x layer, one after the other; what is fitted is kept, so a stop loses nothing."""
        filling = secrets.token_hex(8)
        self._filling.add(filling)
        running = {"filling": filling, "start": gr.update(interactive=False), "stop": gr.update(interactive=True)}
        ready = {"start": gr.update(interactive=True), "stop": gr.update(interactive=False), "grid_status": ""}
        yield filled(GRID_FILLED, **running)
        done: dict[Choice, Fit] = {}
        try:
            task = self._task(model, Asked(*values))
            drawn = time.monotonic()
            for line in self.frozen.fit_all(task, done):
                shown: dict[str, Any] = {}
                if len(done) > 1 and time.monotonic() - drawn > DRAW_SECONDS:
                    shown = _grid_shown(task, done)
                    drawn = time.monotonic()
                yield filled(GRID_FILLED, **running, grid_status=line, **shown)
                if filling not in self._filling:
                    ready["grid_status"] = "<p>Stopped; what is fitted is kept.</p>"
                    break
        except Exception:  # whatever it was, the button must work again
            yield filled(GRID_FILLED, **ready)
            raise
        finally:
            self._filling.discard(filling)
        if not done:
            yield filled(GRID_FILLED, **ready)
            return
        best = chosen(done)
        named = [(GUESS, self.frozen.guess(task)), (WORDS, self.frozen.words(task))]
        named += [(f"{feature_name(best, task.deepest)}, frozen", done[best])]
        table = numbers_html(named, done, task.data, task.split, task.deepest)
        yield filled(GRID_FILLED, numbers=table, **ready, **_grid_shown(task, done))

    def stop(self, filling: str) -> Any:
        """Ask this filling to end after the fit that it is at; it then tells so itself."""
        self._filling.discard(filling)
        return gr.update(interactive=False)

    def take(self, text: str, pair: str, model: str, *values: Any) -> list[Any]:
        """[pooling, layer]: the menus, set to what cross-validation picks of all that is fitted."""
        task = self._task(model, Asked(*values))
        known = self.frozen.known(task)
        if not known:
            raise UserError("Nothing is fitted yet for these sentences; press “Fit them all” first.")
        best = chosen(known)
        return [best.pooling, menu_value(best, task.loaded)]

    def _task(self, model: str, asked: Asked) -> Task:
        data = read_labelled(asked.source, asked.file)
        loaded = self.frozen.services.loaded(model)
        return Task(data, split_rows(data, asked.split), loaded, bool(asked.standardise))

    def _recipe(self, task: Task, choice: Choice, fit: Fit, text: str) -> str:
        """The bar's own sentence; what is wrong with it is told here, for the bars don't depend on it."""
        try:
            sentence = clean_text(text, "The sentence").strip()
            if not sentence:
                return "<p>Write a sentence into the bar above to see it classified.</p>"
            vector, chances = self.frozen.chances(task, choice, fit, sentence)
        except UserError as error:
            return notice_html(str(error))
        weights = sum(parameter.numel() for parameter in task.loaded.model.parameters())
        return recipe_html(sentence, weights, vector, fit, chances)

    def _title(self, run: str) -> str:
        services = self.frozen.services
        try:
            return services.store.spec(services.workshop.runs.base(run)).title
        except UserError:
            return "BERT"

    def _code(self, task: Task, choice: Choice, asked: Asked) -> str:
        path = DATA_PATH if asked.source not in (FILE, SST2) else "train.tsv"
        folds = len(self.frozen.guess(task).folds)
        return features_code(task.loaded.spec, choice, asked.source, path, task.split.key, task.standardise, folds)


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    recipe = Recipe(Frozen(page.services))
    parts = laid_out(page.services)
    with gr.Accordion("The numbers", open=False, elem_id="features-numbers"):
        parts["numbers"] = gr.HTML()
    formula_fold(__file__)
    with gr.Accordion("The code", open=False, elem_id="features-code"):
        parts["code"] = gr.Code(language="python", interactive=False, label="Prints the picked vector's accuracy")
    source_fold(__file__)
    inputs = [*page.sentence, *[parts[name] for name in ASKED], page.trained]

    def show(*values: Any) -> Iterator[list[Any]]:  # page.on streams what a generator function yields
        yield from recipe.show(*values)

    def fill(*values: Any) -> Iterator[list[Any]]:
        yield from recipe.fill(*values)

    # `change` of the two menus: "Take the one it picks" moves them too.
    moved = [parts["pooling"].change, parts["layer"].change, parts["file"].change]
    moved += [parts[name].input for name in ("source", "split", "standardise")]
    page.on(
        [page.settled.change, *moved],
        show,
        inputs,
        [parts[name] for name in FILLED],
        trigger_mode="always_last",
        **HEAVY,
    )
    grid_outputs = [parts[name] for name in GRID_FILLED]
    page.on([parts["start"].click], fill, inputs, grid_outputs, trigger_mode="once", **FILLING)
    page.on([parts["stop"].click], recipe.stop, [parts["filling"]], [parts["stop"]], show_progress="hidden")
    page.on([parts["take"].click], recipe.take, inputs, [parts["pooling"], parts["layer"]], show_progress="hidden")
    page.keep(
        features_data=parts["source"],
        features_split=parts["split"],
        features_pooling=parts["pooling"],
        features_layer=parts["layer"],
        features_standardise=parts["standardise"],
    )


def _bar(name: str, kind: str, fit: Fit) -> Bar:
    return Bar(name, kind, fit.scores.accuracy, fit.interval)


def _bars_shown(task: Task, bars: list[Bar], picked: int) -> dict[str, Any]:
    guides = [Bar(f"the guide: {name}", "published", value) for name, value in PUBLISHED] if task.data.guide else []
    return {
        "bars": bars_figure([*bars, *guides]),
        "said": bars_html(bars, picked, len(task.split.test), task.data.guide),
    }


def _grid_shown(task: Task, fits: Mapping[Choice, Fit]) -> dict[str, Any]:
    """The grid of what is fitted; with the opening's few fits alone it is not there yet."""
    total = len(features_of(task.loaded))
    if len(fits) < min(total, 5):
        return {
            "grid": gr.update(visible=False),
            "take": gr.update(visible=False),
            "grid_said": f"<p>{total} vectors to choose from. Cross-validation on the training part says which is "
            "best; the sentences held out are asked once.</p>",
        }
    scores = {choice: fit.cross_validated for choice, fit in fits.items()}
    figure = grid_figure(scores, chosen(fits), task.deepest)
    return {
        "grid": gr.update(visible=True, value=figure),
        "take": gr.update(visible=True),
        "grid_said": grid_html(fits, total, task.deepest, len(task.split.test)),
    }


PART = Part(
    tab="Frozen, then a classifier",
    look=(
        "BERT stays as it is: its vectors go into a logistic regression, the only thing that learns. Look how far each "
        "vector gets beyond guessing, and beyond the words alone."
    ),
    build=build,
    order=8,
    former="features",
)
