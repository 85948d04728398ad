"""Frozen vectors into a logistic regression: cross-validated on the training part, scored on what was held out."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from demos.bert.embeddings.pooling import Choice
from demos.bert.model.once_cache import Recent
from demos.training.data.labelled_sentences import OWN_SPLIT, Labelled, Split
from demos.training.events import Mistake, Result
from demos.training.metrics import Scores, majority, score
from demos.training.metrics import wilson as wilson  # imported from here
from demos.training.tasks.classification.data import Dataset

FOLDS = 5
STANDARDISED_C = (1e-4, 1e-3, 1e-2, 1e-1)  # the smaller C, the more the weights are held back
RAW_C = (1e-2, 1e-1, 1.0, 10.0)
WORDS_C = (1.0, 10.0)
WORD = r"(?u)\w+|[^\w\s]"  # a word or one mark, so that no text is empty
MAX_ITERATIONS = 2_000
MAX_FITS_BYTES = 64 * 2**20


@dataclass(frozen=True, eq=False)
class Fit:
    """A classifier fitted on the training part, and what it says of the m sentences held out; C classes."""

    pipeline: Any  # a scikit-learn estimator, from a row of numbers (or a text) to a class
    dimension: int  # numbers a sentence
    strength: float  # LogisticRegression's C that cross-validation chose; nan for what has none
    folds: tuple[float, ...]  # accuracy on each fold of the training part, at that C
    predicted: np.ndarray  # int [m]
    probabilities: np.ndarray  # [m, C]
    scores: Scores  # on the m
    interval: tuple[float, float]  # 95% for the accuracy
    iterations: int  # of the optimizer, in the last fit
    seconds: float

    @property
    def cross_validated(self) -> float:
        """Mean accuracy over the folds: what a choice may be made by, since nothing held out was looked at."""
        return float(np.mean(self.folds))

    @property
    def nbytes(self) -> int:
        """About what keeping it costs."""
        classes = self.probabilities.shape[1]
        return 8 * self.dimension * (classes + 3) + self.predicted.nbytes + self.probabilities.nbytes


def fit_vectors(vectors: np.ndarray, data: Labelled, split: Split, standardise: bool = True) -> Fit:
    """Logistic regression on vectors [rows, D], its C chosen by cross-validation within the training part.

    With `standardise` each number is centred and scaled by what the training part (in a fold: the fold's own) shows.
    """
    steps: list[tuple[str, Any]] = [("scale", StandardScaler())] if standardise else []
    grid = STANDARDISED_C if standardise else RAW_C
    return _fit(steps, grid, vectors[split.train], vectors[split.test], data, split)


def fit_splits(vectors: np.ndarray, dataset: Dataset) -> Fit:
    """The same on a data set of Fine-tune: `vectors` are of its training sentences, then of its test sentences.

    Raises ValueError where a class has no two training sentences.
    """
    examples, learned = [*dataset.train, *dataset.test], len(dataset.train)
    targets = np.array([example.label for example in examples])
    data = Labelled(dataset.name, dataset.labels, tuple(example.text for example in examples), targets)
    rows = np.arange(len(examples))
    return fit_vectors(vectors, data, Split(rows[:learned], rows[learned:], OWN_SPLIT))


def fit_plain(vectors: np.ndarray, data: Labelled, split: Split) -> Fit:
    """The same with nothing chosen: vectors [rows, D] unchanged, and scikit-learn's own C of 1."""
    return _fit([], (1.0,), vectors[split.train], vectors[split.test], data, split)


def fit_words(data: Labelled, split: Split) -> Fit:
    """The same without BERT: which words and marks occur, weighted by TF-IDF, their list made of the training part."""
    texts = np.array(data.texts, dtype=object)
    steps = [("words", TfidfVectorizer(token_pattern=WORD, sublinear_tf=True))]
    return _fit(steps, WORDS_C, texts[split.train], texts[split.test], data, split)


def fit_guess(data: Labelled, split: Split) -> Fit:
    """Always the training part's most frequent class."""
    train, test = (np.zeros((len(part), 1)) for part in (split.train, split.test))
    return _fit([], (), train, test, data, split)


def _fit(
    steps: Sequence[tuple[str, Any]], grid: Sequence[float], train: Any, test: Any, data: Labelled, split: Split
) -> Fit:
    """`steps`, then a logistic regression with the best C of `grid`; without a grid the most frequent class."""
    begun = time.perf_counter()
    targets, truth = data.targets[split.train], data.targets[split.test]
    last: Any = LogisticRegression(max_iter=MAX_ITERATIONS) if grid else DummyClassifier(strategy="most_frequent")
    choices = {"classify__C": list(grid)} if grid else {}
    pipeline = Pipeline([*steps, ("classify", last)])
    search = GridSearchCV(pipeline, choices, cv=_folds(targets), error_score="raise")
    with threadpool_limits(1):  # two threads on shared cores wait for each other: fifteen times as slow
        search.fit(train, targets)
    results = search.cv_results_
    classify = search.best_estimator_[-1]
    probabilities = search.best_estimator_.predict_proba(test)
    predicted = probabilities.argmax(axis=1)
    return Fit(
        pipeline=search.best_estimator_,
        dimension=classify.coef_.shape[1] if grid else 0,
        strength=classify.C if grid else math.nan,
        folds=tuple(float(results[f"split{k}_test_score"][search.best_index_]) for k in range(search.n_splits_)),
        predicted=predicted,
        probabilities=probabilities,
        scores=score(truth.tolist(), predicted.tolist(), len(data.labels)),
        interval=wilson(int((predicted == truth).sum()), len(truth)),
        iterations=int(classify.n_iter_.max()) if grid else 0,
        seconds=time.perf_counter() - begun,
    )


def _folds(targets: np.ndarray) -> StratifiedKFold:
    """Five folds, or as many as the rarest class has sentences."""
    return StratifiedKFold(max(2, min(FOLDS, int(np.bincount(targets).min()))), shuffle=True, random_state=0)


def chosen(fits: Mapping[Choice, Fit]) -> Choice:
    """The choice that cross-validation on the training part likes best; of equals the one with fewer numbers."""
    return max(fits, key=lambda choice: (round(fits[choice].cross_validated, 9), -fits[choice].dimension))


def result_of(data: Labelled, split: Split, fit: Fit) -> Result:
    """A fit in the form of a finished training, so that the same pictures and tables show both."""
    truth = data.targets[split.test]
    wrong = np.flatnonzero(fit.predicted != truth)
    surest = wrong[np.argsort(-fit.probabilities[wrong, fit.predicted[wrong]], kind="stable")]
    label, share = majority(data.targets[split.train].tolist(), truth.tolist(), len(data.labels))
    return Result(
        labels=data.labels,
        accuracy=fit.scores.accuracy,
        macro_f1=fit.scores.macro_f1,
        loss=float(log_loss(truth, fit.probabilities, labels=range(len(data.labels)))),
        majority_label=data.labels[label],
        majority_accuracy=share,
        confusion=fit.scores.confusion,
        mistakes=tuple(
            Mistake(
                data.texts[split.test[at]],
                int(truth[at]),
                int(fit.predicted[at]),
                tuple(fit.probabilities[at].tolist()),
            )
            for at in surest
        ),
        steps=fit.iterations,
        seconds=fit.seconds,
        examples_per_second=0.0,
        folder="",
    )


def kept_fits(most_bytes: int = MAX_FITS_BYTES) -> Recent[Fit]:
    """A store of fits by what they were made of, bounded by bytes."""
    return Recent(most_bytes, lambda fit: fit.nbytes)
