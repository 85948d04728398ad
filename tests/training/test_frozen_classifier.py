"""The classifier over frozen vectors, against the same done by hand, scikit-learn's scores and scipy's interval."""

from copy import copy

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from demos.bert.embeddings.pooling import Choice
from demos.training.data.labelled_sentences import Labelled, Split, split_rows
from demos.training.frozen_classifier import (
    RAW_C,
    STANDARDISED_C,
    chosen,
    fit_guess,
    fit_vectors,
    fit_words,
    kept_fits,
    result_of,
    wilson,
)

CLASSES = 3


@pytest.fixture(scope="module")
def data() -> Labelled:
    rng = np.random.default_rng(7)
    targets = rng.choice(CLASSES, size=180, p=[0.5, 0.3, 0.2])
    texts = tuple(f"{('red', 'green', 'blue')[target]} thing {n % 13}" for n, target in enumerate(targets))
    return Labelled("made up", ("a", "b", "c"), texts, targets)


@pytest.fixture(scope="module")
def split(data: Labelled) -> Split:
    return split_rows(data, "1")


@pytest.fixture(scope="module")
def vectors(data: Labelled) -> np.ndarray:
    rng = np.random.default_rng(8)
    spread = np.array([1, 4, 0.2, 1, 1, 2, 1, 1])  # so that standardising matters
    return (rng.normal(size=(180, 8)) + np.eye(CLASSES, 8)[data.targets] * 1.2) * spread


@pytest.mark.parametrize("standardise", [True, False])
def test_equals_the_same_done_by_hand(data: Labelled, split: Split, vectors: np.ndarray, standardise: bool) -> None:
    X, y = vectors[split.train], data.targets[split.train]

    def scaled(learn: np.ndarray, use: np.ndarray) -> np.ndarray:
        return (use - learn.mean(axis=0)) / learn.std(axis=0) if standardise else use

    def fitted(strength: float, rows: np.ndarray, labels: np.ndarray) -> LogisticRegression:
        return LogisticRegression(C=strength, max_iter=2_000).fit(scaled(rows, rows), labels)

    grid = STANDARDISED_C if standardise else RAW_C
    folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    with threadpool_limits(1):
        means = [np.mean([fitted(C, X[a], y[a]).score(scaled(X[a], X[b]), y[b]) for a, b in folds]) for C in grid]
        best = grid[int(np.argmax(means))]
        answers = fitted(best, X, y).predict_proba(scaled(X, vectors[split.test]))

    fit = fit_vectors(vectors, data, split, standardise)
    assert fit.strength == best
    assert fit.cross_validated == pytest.approx(max(means))
    np.testing.assert_allclose(fit.probabilities, answers, atol=1e-4)
    truth = data.targets[split.test]
    assert fit.scores.accuracy == accuracy_score(truth, fit.predicted)
    assert fit.scores.macro_f1 == pytest.approx(f1_score(truth, fit.predicted, average="macro"))
    np.testing.assert_array_equal(fit.scores.confusion, confusion_matrix(truth, fit.predicted))
    assert fit.dimension == 8


def test_nothing_leaks_from_what_is_held_out(data: Labelled, split: Split, vectors: np.ndarray) -> None:
    before = fit_vectors(vectors, data, split)
    np.testing.assert_allclose(before.pipeline["scale"].mean_, vectors[split.train].mean(axis=0))
    changed, targets = vectors.copy(), data.targets.copy()
    changed[split.test] = 1e6
    targets[split.test] = 0
    after = fit_vectors(changed, Labelled("changed", data.labels, data.texts, targets), split)
    np.testing.assert_array_equal(after.pipeline["classify"].coef_, before.pipeline["classify"].coef_)
    assert after.folds == before.folds


def test_words_come_from_the_training_part_alone(data: Labelled, split: Split) -> None:
    texts = list(data.texts)
    texts[split.test[0]] = "unheard"
    fit = fit_words(Labelled("made up", data.labels, tuple(texts), data.targets), split)
    assert "unheard" not in fit.pipeline["words"].vocabulary_
    assert fit.scores.accuracy > 0.9  # each class has a word of its own
    marks = Labelled("marks", ("a", "b", "c"), ("🎻",) * 180, data.targets)
    assert fit_words(marks, split).scores.accuracy == fit_guess(marks, split).scores.accuracy


def test_guessing_is_the_majoritys_share(data: Labelled, split: Split) -> None:
    fit = fit_guess(data, split)
    most = np.bincount(data.targets[split.train]).argmax()
    assert fit.scores.accuracy == (data.targets[split.test] == most).mean()
    assert set(fit.predicted) == {most}


def test_numbers_that_never_change_are_no_harm(data: Labelled, split: Split) -> None:
    fit = fit_vectors(np.full((180, 4), 0.3), data, split)
    assert fit.scores.accuracy == fit_guess(data, split).scores.accuracy


def test_few_sentences_have_fewer_folds() -> None:
    targets = np.array([0] * 5 + [1] * 5)
    data = Labelled("few", ("a", "b"), tuple(f"s{n}" for n in range(10)), targets)
    fit = fit_vectors(np.random.default_rng(0).normal(size=(10, 3)), data, split_rows(data, "0"))
    assert 2 <= len(fit.folds) <= 4
    assert all(np.isfinite(fit.folds))


@pytest.mark.parametrize(("hits", "count"), [(0, 10), (7, 10), (10, 10), (371, 500)])
def test_the_interval_is_wilsons(hits: int, count: int) -> None:
    z, share = 1.959964, hits / count  # Wilson 1927: the p with |p - share| = z √(p (1 - p) / count)
    for p in wilson(hits, count):
        assert abs(p - share) == pytest.approx(z * (p * (1 - p) / count) ** 0.5, abs=1e-6)
    low, high = wilson(hits, count)
    assert 0 <= low <= share <= high <= 1
    assert high - low > 0.05


def test_the_choice_is_made_without_the_held_out(data: Labelled, split: Split, vectors: np.ndarray) -> None:
    good, poor = Choice("mean", 1), Choice("cls", 1)
    fits = {poor: fit_vectors(vectors[:, 3:], data, split), good: fit_vectors(vectors, data, split)}
    assert fits[good].cross_validated > fits[poor].cross_validated
    assert chosen(fits) == good


def test_a_fit_tells_itself_as_a_training_does(data: Labelled, split: Split, vectors: np.ndarray) -> None:
    fit = fit_vectors(vectors, data, split)
    result = result_of(data, split, fit)
    assert result.accuracy == fit.scores.accuracy
    assert len(result.mistakes) == sum(fit.predicted != data.targets[split.test])
    sure = [one.probabilities[one.predicted] for one in result.mistakes]
    assert sure == sorted(sure, reverse=True)
    assert all(one.label != one.predicted for one in result.mistakes)


def test_fits_are_kept_within_bounds(data: Labelled, split: Split, vectors: np.ndarray) -> None:
    fit = fit_vectors(vectors, data, split)
    fits = kept_fits(2 * fit.nbytes)
    for key in "abc":
        assert fits.make((key,), lambda take: copy(fit)).scores is fit.scores
    assert fits.get(("a",)) is None
    assert fits.get(("c",)) is not None
    assert fits.make(("c",), lambda take: pytest.fail("made again")).scores is fit.scores
