"""Frozen features: BERT's vectors into a logistic regression, against guessing, words and fine-tuning."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from typing import Any

import gradio as gr

from demos.bert.embeddings.frozen_features import features_of
from demos.bert.embeddings.pooling import Choice
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.figures.confusion import confusion_figure
from demos.figures.scores_text import mistakes_html
from demos.lessons.embeddings.frozen_features.classifiers import Frozen, Task
from demos.lessons.embeddings.frozen_features.figure import Bar, bars_figure, feature_name
from demos.lessons.embeddings.frozen_features.layout import (
    AWAITED,
    BESIDE,
    FILLED,
    GRID_FILLED,
    MENUS,
    Answers,
    laid_out,
    split_update,
)
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
from demos.lessons.embeddings.frozen_features.text import (
    TEXT,
    data_html,
    lstm_html,
    recipe_html,
)
from demos.page.folds import folds
from demos.page.guards import notice_html
from demos.page.lesson import Page, Part, by_component
from demos.page.progress import HEAVY
from demos.training.data.labelled_sentences import FILE, SST2, read_labelled, split_rows
from demos.training.frozen_classifier import Fit, chosen, result_of
from demos.training.service.training_queue import MAX_WAITING, TrainingQueue
from demos.widgets.live_curve.text import waiting_text
from demos.widgets.pooling_menus.pooling_menus import layer_menu, menu_values

DATA_PATH = "assets/data/emotion.tsv"
DRAW_SECONDS = 1.0  # between two drawings of the grid as it fills
QUIET: dict[str, Any] = {**HEAVY, "show_progress": "hidden"}
# A minute or more of fits: one after the other, in a line of their own that nobody who only looks stands in.
FILLING: dict[str, Any] = {**QUIET, "concurrency_id": "fit-all", "concurrency_limit": 1 + MAX_WAITING}
FIT_SECONDS = 2.0  # of one classifier, about
LSTM_SECONDS = 5.0  # of an LSTM, about
LOOK_SECONDS = 0.3  # between two looks at the line
GUESS, WORDS = "always the most frequent class", "words only, no BERT (TF-IDF)"


class Recipe:
    """The part's handlers; they share the fits of all its readers."""

    def __init__(self, frozen: Frozen) -> None:
        self.frozen = frozen
        self.line = TrainingQueue()
        self._in_line: list[tuple[Any, ...]] = []  # the fits requested, by the place in the line
        self._filling: set[str] = set()  # those under way; one that is removed stops

    def show(self, text: str, pair: str, model: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yield the changes: guessing and words, then BERT's frozen vectors, then the reader's own model."""
        answers = Answers(*values)
        uploaded = answers.source == FILE
        waiting = AWAITED if uploaded and not answers.file else "Downloading SST-2 …" if answers.source == SST2 else ""
        # A browser may swallow one of two messages that come at once: what must arrive is in each of them.
        always: dict[str, Any] = {"file": gr.update(visible=uploaded)}
        yield {**always, "status": TEXT.line(waiting) if waiting else ""}
        if uploaded and not answers.file:
            return
        try:
            task = self._task(model, answers)
            choice = answers.choice(task.loaded)
        except UserError:
            yield {"status": ""}
            raise
        baselines = self._baselines(task)
        bars = [bar(*row) for row in baselines]
        always |= {
            "split": split_update(task.data, answers.split, task.split.key),
            "about": data_html(task.data, task.split),
        }
        yield {**always, "bars": bars_figure(bars)}
        wanted = dict.fromkeys([Choice("cls", task.deepest), Choice("mean", task.deepest), choice])
        fits: dict[Choice, Fit] = {}
        for line in self.frozen.fit(task, list(wanted), fits):
            yield {**always, "status": line, "said": ""}  # what is said is of other bars
        named = [frozen_row(task, vector, fits[vector]) for vector in wanted]
        bars += [bar(*row) for row in named]
        picked = len(baselines) + list(wanted).index(choice)
        learned = self.frozen.lstm(task)
        if learned:
            bars.append(lstm_bar(learned, len(task.split.test)))
        state = self.frozen.tuned_state(task, answers.run)
        result = result_of(task.data, task.split, fits[choice])
        known = self.frozen.known(task)
        held_out = len(task.split.test)
        yield {
            **always,
            "status": TEXT.asking() if state == "here" else "",
            "tuned": TEXT.tuned(state, held_out, self._title(answers.run) if state == "here" else ""),
            "lstm": lstm_html(learned, fits[choice], feature_name(choice, task.deepest), task.split),
            "learn": gr.update(visible=learned is None),
            "recipe": self._recipe(task, choice, fits[choice], text),
            "layer": layer_menu(task.loaded, answers.layer, BESIDE),
            "wrong": TEXT.taken_for(feature_name(choice, task.deepest)),
            "confusion": confusion_figure(result),
            "mistakes": mistakes_html(result),
            "numbers": numbers(task, [*baselines, *named], known),
            "code": self._code(task, choice, answers),
            **bars_shown(task, bars, picked),
            **grid_shown(task, known),
        }
        if state == "here":
            try:
                accuracy, interval = self.frozen.tuned(task, answers.run)
                bars.append(Bar("your own fine-tuned model", "tuned", accuracy, interval))
            except UserError:  # let go since `tuned_state` looked
                yield {"tuned": TEXT.tuned("none", held_out, "")}
            yield {"status": "", **bars_shown(task, bars, picked)}

    def learn(self, text: str, pair: str, model: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yield the changes while an LSTM is trained on the same split, in the fits' queue; then `show`'s."""
        answers = Answers(*values)
        if answers.source == FILE and not answers.file:
            raise UserError(AWAITED)
        task = self._task(model, answers)
        if not self.frozen.lstm(task):
            with self.line.join(LSTM_SECONDS) as ticket:
                while place := ticket.place:
                    yield {"status": TEXT.line(waiting_text(place, ticket.seconds_before))}
                    time.sleep(LOOK_SECONDS)
                for progress in self.frozen.learn_lstm(task):
                    yield {"status": TEXT.learning(progress)}
        yield from self.show(text, pair, model, *values)

    def fill(self, text: str, pair: str, model: str, *values: Any) -> Iterator[dict[str, Any]]:
        """Yield the changes of every pooling x layer, one after the other; fits are kept, so a stop loses nothing."""
        filling = secrets.token_hex(8)
        self._filling.add(filling)
        running = {"filling": filling, "start": gr.update(interactive=False), "stop": gr.update(interactive=True)}
        ready = {"start": gr.update(interactive=True), "stop": gr.update(interactive=False), "grid_status": ""}
        yield running
        done: dict[Choice, Fit] = {}
        try:
            task = self._task(model, Answers(*values))
            drawn = time.monotonic()
            with closing(self._fitted_in_turn(task, done)) as lines:
                for line in lines:
                    changes = {**running, "grid_status": line}
                    if len(done) > 1 and time.monotonic() - drawn > DRAW_SECONDS:
                        changes |= grid_shown(task, done)
                        drawn = time.monotonic()
                    yield changes
                    if filling not in self._filling:
                        ready["grid_status"] = TEXT.stopped()
                        break
        except Exception:  # whatever it was, the button must work again
            yield ready
            raise
        finally:
            self._filling.discard(filling)
        if not done:
            yield ready
            return
        best = chosen(done)
        rows = [*self._baselines(task), frozen_row(task, best, done[best])]
        yield {"numbers": numbers(task, rows, done), **ready, **grid_shown(task, done)}

    def _fitted_in_turn(self, task: Task, done: dict[Choice, Fit]) -> Generator[str, None, None]:
        """Yield a line on the reader's place in the queue, then on the progress of the fits."""
        key = task.key(task.loaded.spec.key, task.standardise)
        # A fit that another reader in the queue has requested will be found done.
        missing = 0 if key in self._in_line else len(features_of(task.loaded)) - len(self.frozen.known(task))
        with self.line.join(FIT_SECONDS * missing) as ticket:
            self._in_line.append(key)
            try:
                while place := ticket.place:
                    yield TEXT.line(waiting_text(place, ticket.seconds_before))
                    time.sleep(LOOK_SECONDS)
                yield from self.frozen.fit_all(task, done)
            finally:
                self._in_line.remove(key)

    def stop(self, filling: str) -> dict[str, Any]:
        """Request that this series of fits ends after the current one; it then reports so itself."""
        self._filling.discard(filling)
        return {"stop": gr.update(interactive=False)}

    def take(self, text: str, pair: str, model: str, *values: Any) -> dict[str, Any]:
        """The menus, set to what cross-validation picks of all that is fitted."""
        task = self._task(model, Answers(*values))
        known = self.frozen.known(task)
        if not known:
            raise UserError("Nothing has been fitted for these sentences yet; click “Fit all choices” first.")
        return dict(zip(("pooling", "layer"), menu_values(chosen(known), task.deepest), strict=True))

    def _task(self, model: str, answers: Answers) -> Task:
        data = read_labelled(answers.source, answers.file)
        loaded = self.frozen.services.loaded(model)
        return Task(data, split_rows(data, answers.split), loaded, bool(answers.standardise))

    def _baselines(self, task: Task) -> list[Row]:
        return [(GUESS, "guess", self.frozen.guess(task)), (WORDS, "words", self.frozen.words(task))]

    def _recipe(self, task: Task, choice: Choice, fit: Fit, text: str) -> str:
        """The bar's own sentence. Its errors are shown here, since the bars don't depend on it."""
        try:
            sentence = clean_text(text, "The sentence").strip()
            if not sentence:
                return TEXT.no_sentence()
            vector, chances = self.frozen.chances(task, choice, fit, sentence)
        except UserError as error:
            return notice_html(str(error))
        weights = sum(parameter.numel() for parameter in task.loaded.model.parameters())
        return recipe_html(sentence, weights, vector, fit, chances)

    def _title(self, run: str) -> str:
        services = self.frozen.services
        try:
            return services.store.spec(services.trainings.runs.base(run)).title
        except UserError:
            return "BERT"

    def _code(self, task: Task, choice: Choice, answers: Answers) -> str:
        path = DATA_PATH if answers.source not in (FILE, SST2) else "train.tsv"
        folds = len(self.frozen.guess(task).folds)
        return features_code(task.loaded.spec, choice, answers.source, path, task.split.key, task.standardise, folds)


def build(page: Page) -> None:
    """Lay the part out and wire it."""
    recipe = Recipe(Frozen(page.services))
    parts = laid_out(page)
    parts["numbers"], parts["code"] = folds(__file__, "Prints the accuracy of the selected vector")
    inputs = [*page.sentence, *[parts[name] for name in MENUS], page.trained]

    def on(triggers: list[Any], handler: Callable[..., Any], outputs: Iterable[str], **options: Any) -> None:
        page.on(triggers, by_component(parts, handler), inputs, [parts[name] for name in outputs], **options)

    # `change` of the two menus: "Take the one it picks" moves them too.
    moved = [parts["pooling"].change, parts["layer"].change, parts["file"].change]
    moved += [parts[name].input for name in ("source", "split", "standardise")]
    on([page.settled.change, *moved], recipe.show, FILLED, trigger_mode="always_last", **QUIET)
    on([parts["start"].click], recipe.fill, GRID_FILLED, trigger_mode="once", **FILLING)
    on([parts["learn"].click], recipe.learn, FILLED, trigger_mode="once", **FILLING)
    on([parts["take"].click], recipe.take, ("pooling", "layer"), show_progress="hidden")
    stopping = by_component(parts, recipe.stop)
    page.on([parts["stop"].click], stopping, [parts["filling"]], [parts["stop"]], show_progress="hidden")
    page.keep(**{f"features_{name}": parts[name] for name in ("split", "pooling", "layer", "standardise")})
    page.keep(features_data=parts["source"])


PART = Part(
    tab="Frozen features",
    look=(
        "BERT is frozen: its weights do not change. Its vectors are the input of a logistic regression, the only part "
        "that is trained. Compare the accuracy of each vector with guessing, and with a classifier that uses only the "
        "words."
    ),
    build=build,
    reads_sentence=False,
    order=9,
    former="features",
)
