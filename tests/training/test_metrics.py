"""Scores are scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score

from demos.training.metrics import majority, score


@pytest.mark.parametrize("seed", range(6))
def test_scores_are_scikit_learns(seed: int) -> None:
    random = np.random.default_rng(seed)
    classes = int(random.integers(2, 9))
    targets = random.integers(0, classes, 60).tolist()
    predicted = random.integers(0, classes - seed % 2, 60).tolist()  # with odd seeds one class is never answered
    scores = score(targets, predicted, classes)
    labels = list(range(classes))
    assert scores.accuracy == pytest.approx(accuracy_score(targets, predicted))
    assert scores.macro_f1 == pytest.approx(
        f1_score(targets, predicted, labels=labels, average="macro", zero_division=0)
    )
    assert scores.f1 == pytest.approx(f1_score(targets, predicted, labels=labels, average=None, zero_division=0))
    assert scores.confusion == tuple(map(tuple, confusion_matrix(targets, predicted, labels=labels).tolist()))


def test_the_majority_baseline_is_scikit_learns_dummy() -> None:
    train, test = [2, 1, 2, 0, 2, 1], [1, 2, 2, 0]
    dummy = DummyClassifier(strategy="most_frequent").fit(np.zeros((6, 1)), train)
    label, accuracy = majority(train, test, 3)
    assert accuracy == dummy.score(np.zeros((4, 1)), test) == 0.5
    assert label == dummy.predict(np.zeros((1, 1)))[0] == 2
