"""Classifiers over frozen vectors for the page: fitted once for all readers, and a reader's own model beside them."""

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.frozen_features import features_of, joined, parts_of
from demos.bert.embeddings.pooling import Choice
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import Recent
from demos.lessons.embeddings.frozen_features.figure import feature_name
from demos.lessons.embeddings.frozen_features.text import TEXT
from demos.page.progress import relayed
from demos.page.services import Services
from demos.training.data.labelled_sentences import OWN_SPLIT, Labelled, Split
from demos.training.frozen_classifier import Fit, fit_guess, fit_vectors, fit_words, kept_fits, wilson
from demos.training.lstm_classifier import Learned, lstm_steps
from demos.training.service.training_queue import Ticket, TrainingQueue
from demos.training.service.training_thread import in_own_thread
from demos.training.tasks.classification.data import Example
from demos.widgets.live_curve.text import waiting_text

ALL_AT_ONCE = 64 * 2**20  # bytes: below, every layer is kept from the first pass, so that menus move at once
GROUP_BYTES = 256 * 2**20  # held at once where all are fitted; above, one pooling after the other
MAX_TUNED = 256
MAX_LSTMS = 256
LSTM_SEED = 0
FIT_SECONDS = 2.0  # of one classifier, about
LSTM_SECONDS = 5.0  # of an LSTM, about
LOOK_SECONDS = 0.3  # between two looks at the line


@dataclass(frozen=True)
class Task:
    """The setting of a comparison: sentences, their split, a model, and whether features are standardized."""

    data: Labelled
    split: Split
    loaded: LoadedModel
    standardise: bool

    @property
    def deepest(self) -> int:
        """The number of the last layer."""
        return self.loaded.model.config.num_hidden_layers

    def key(self, *what: Any) -> tuple[Any, ...]:
        """The key that a fit is kept under."""
        return (self.data.key, self.split.key, *what)

    def key_of(self, choice: Choice) -> tuple[Any, ...]:
        """The key of the fit of this choice's vectors."""
        return self.key(self.loaded.spec.key, choice, self.standardise)

    def nbytes(self, choices: int) -> int:
        """The bytes of the vectors of this many single layers."""
        return choices * len(self.data.texts) * int(self.loaded.model.config.hidden_size) * 4


class Frozen:
    """The fits, shared by the part's readers; those that take long are made one after the other, in a line."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.fits = kept_fits()
        self.line = TrainingQueue()
        self._in_line: list[tuple[Any, ...]] = []  # the fits requested, by the place in the line
        self._lstms: Recent[Learned] = Recent(MAX_LSTMS)
        self._tuned: dict[tuple[str, str], tuple[float, tuple[float, float]]] = {}

    def guess(self, task: Task) -> Fit:
        """Always the most frequent class."""
        return self.fits.make(task.key("guess"), lambda take: fit_guess(task.data, task.split))

    def words(self, task: Task) -> Fit:
        return self.fits.make(task.key("words"), lambda take: fit_words(task.data, task.split))

    def known(self, task: Task) -> dict[Choice, Fit]:
        """Every choice that is fitted already."""
        fits = {choice: self.fits.get(task.key_of(choice)) for choice in features_of(task.loaded)}
        return {choice: fit for choice, fit in fits.items() if fit is not None}

    def lstm(self, task: Task) -> Learned | None:
        """The LSTM trained from scratch on this split, if a reader has started it already."""
        return self._lstms.get(task.key("lstm"))

    def learn_lstm(self, task: Task) -> Generator[Markup]:
        """Train that LSTM in a separate thread on one core, once it is its turn; it is kept for all readers.

        Yields lines on the place in the line, then on the training.
        """
        if self.lstm(task):
            return
        examples = [Example(text, int(target)) for text, target in zip(task.data.texts, task.data.targets, strict=True)]
        train, test = ([examples[at] for at in rows] for rows in (task.split.train, task.split.test))
        with self.line.join(LSTM_SECONDS) as ticket:
            yield from waited(ticket)
            if self.lstm(task):  # of a reader before
                return
            steps = in_own_thread(lambda: lstm_steps(train, test, len(task.data.labels), LSTM_SEED), 1)
            with closing(steps):  # type: ignore[type-var]
                for step in steps:
                    if isinstance(step, Learned):
                        self._lstms.put(task.key("lstm"), step)
                    else:
                        yield TEXT.learning(step)

    def fit(self, task: Task, wanted: Sequence[Choice], into: dict[Choice, Fit], total: int = 0) -> Iterator[Markup]:
        """Fit these choices into `into`; yields a line on its progress now and then (of `total`)."""
        fits = {choice: self.fits.get(task.key_of(choice)) for choice in wanted}
        missing = [choice for choice, fit in fits.items() if fit is None]
        vectors: dict[Choice, np.ndarray] = {}
        if missing:
            parts = self._parts(task, missing)
            arrays = yield from relayed(self.services.vectors.steps(task.loaded, task.data.texts, parts), TEXT.encoding)
            vectors = dict(zip(parts, arrays, strict=True))
        for choice, fit in fits.items():
            if fit is None:
                yield TEXT.fitting(len(into) + 1, total or len(fits), feature_name(choice, task.deepest))
                fit = self._fitted(task, choice, vectors)
            into[choice] = fit

    def _fitted(self, task: Task, choice: Choice, vectors: dict[Choice, np.ndarray]) -> Fit:
        rows = joined(choice, task.deepest, vectors)
        return self.fits.make(
            task.key_of(choice), lambda take: fit_vectors(rows, task.data, task.split, task.standardise)
        )

    def fit_all(self, task: Task, into: dict[Choice, Fit]) -> Generator[Markup]:
        """Fit every choice, once it is this reader's turn; yields lines on the place in the line, then on the fits.

        One pooling after the other where all layers of all would be too much at once.
        """
        every, key = features_of(task.loaded), task.key(task.loaded.spec.key, task.standardise)
        poolings = list(dict.fromkeys(choice.pooling for choice in every))
        groups = [every]
        if task.nbytes(len(poolings) * (task.deepest + 1)) > GROUP_BYTES:
            groups = [[choice for choice in every if choice.pooling == pooling] for pooling in poolings]
        # A fit that another reader in the line has requested will be found done.
        missing = 0 if key in self._in_line else len(every) - len(self.known(task))
        with self.line.join(FIT_SECONDS * missing) as ticket:
            self._in_line.append(key)
            try:
                yield from waited(ticket)
                for group in groups:
                    yield from self.fit(task, group, into, len(every))
            finally:
                self._in_line.remove(key)

    def chances(self, task: Task, choice: Choice, fit: Fit, text: str) -> tuple[np.ndarray, dict[str, float]]:
        """One sentence's vector [D], and each class's probability by this fit. Raises UserError as `encode` does."""
        parts = parts_of(choice, task.deepest)
        vectors = self.services.vectors.get(task.loaded, [text], parts)
        row = joined(choice, task.deepest, dict(zip(parts, vectors, strict=True)))
        probabilities = fit.pipeline.predict_proba(row)[0]
        return row[0], dict(zip(task.data.labels, probabilities.tolist(), strict=True))

    def tuned_state(self, task: Task, run: str) -> str:
        """Whether the reader's own run can be scored here: "here", or why not ("apart", "none", "other", "drawn")."""
        if task.data.own_test is None:
            return "apart"
        if not self.services.trainings.runs.has(run):
            return "none"
        trained = self.services.classifier(run)
        if trained is None or not set(task.data.labels) <= set(trained.task.labels):
            return "other"
        return "here" if task.split.key == OWN_SPLIT else "drawn"

    def tuned(self, task: Task, run: str) -> tuple[float, tuple[float, float]]:
        """(accuracy, 95% interval) of the reader's own fine-tuned model on the sentences held out.

        Raises UserError if that model is no longer kept.
        """
        key = (run, task.data.key)
        if key not in self._tuned:
            texts = [task.data.texts[at] for at in task.split.test]
            answers = self.services.trainings.runs.predict(run, texts)
            truth = [task.data.labels[task.data.targets[at]] for at in task.split.test]
            # A model of more classes is scored on its choice among these.
            guessed = [max(task.data.labels, key=chances.__getitem__) for chances in answers]
            hits = sum(guess == label for guess, label in zip(guessed, truth, strict=True))
            while len(self._tuned) >= MAX_TUNED:
                self._tuned.pop(next(iter(self._tuned)), None)
            self._tuned[key] = (hits / len(truth), wilson(hits, len(truth)))
        return self._tuned[key]

    def _parts(self, task: Task, missing: Sequence[Choice]) -> list[Choice]:
        """The vectors to compute: all that any choice needs, if they are few."""
        every = {part for choice in features_of(task.loaded) for part in parts_of(choice, task.deepest)}
        if task.nbytes(len(every)) > ALL_AT_ONCE:
            every = {part for choice in missing for part in parts_of(choice, task.deepest)}
        return sorted(every, key=lambda part: (part.pooling, str(part.layer)))


def waited(ticket: Ticket) -> Iterator[Markup]:
    """Lines on the place in the line, until it is this one's turn."""
    while place := ticket.place:
        yield TEXT.line(waiting_text(place, ticket.seconds_before))
        time.sleep(LOOK_SECONDS)
