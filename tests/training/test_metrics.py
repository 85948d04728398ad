"""Scores are scikit-learn's, and so is the curve of a calibration; its error is the definition over that curve."""

import math

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.dummy import DummyClassifier
from sklearn.metrics import (
    accuracy_score,
    confusion_matrix,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
)

from demos.training.metrics import always, calibration, class_metrics, f1_of, majority, score


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
    each = {"labels": labels, "average": None, "zero_division": 0}
    assert scores.precision == pytest.approx(precision_score(targets, predicted, **each))
    assert scores.recall == pytest.approx(recall_score(targets, predicted, **each))
    assert scores.mcc == pytest.approx(matthews_corrcoef(targets, predicted))
    assert scores.confusion == tuple(map(tuple, confusion_matrix(targets, predicted, labels=labels).tolist()))


def test_the_majority_baseline_is_scikit_learns_dummy() -> None:
    train, test = [2, 1, 2, 0, 2, 1], [1, 2, 2, 0]
    dummy = DummyClassifier(strategy="most_frequent").fit(np.zeros((6, 1)), train)
    label, accuracy = majority(train, test, 3)
    assert accuracy == dummy.score(np.zeros((4, 1)), test) == 0.5
    assert label == dummy.predict(np.zeros((1, 1)))[0] == 2


@pytest.mark.parametrize(
    ("targets", "predicted", "mcc"),
    [([0, 1, 2], [0, 1, 2], 1), ([0, 1], [1, 0], -1), ([0, 1], [1, 1], 0)],
)
def test_matthews_at_its_ends_and_where_one_class_is_all(targets: list[int], predicted: list[int], mcc: float) -> None:
    assert (
        score(targets, predicted, 3).mcc == pytest.approx(mcc) == pytest.approx(matthews_corrcoef(targets, predicted))
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_bars_of_a_calibration_are_scikit_learns_curve(seed: int) -> None:
    random = np.random.default_rng(seed)
    sure = random.beta(4, 2, 300)
    sure[:4] = 0.3, 0.7, 0.5, 1.0  # on the bins' edges
    right = random.random(300) < sure**1.5
    found = calibration(sure.tolist(), right.tolist())
    accuracy, confidence = calibration_curve(right, sure, n_bins=10, strategy="uniform")
    assert [(one.low, one.high) for one in found.bins] == [pytest.approx((k / 10, (k + 1) / 10)) for k in range(10)]
    filled = [one for one in found.bins if one.count]
    assert all(math.isnan(one.accuracy) for one in found.bins if not one.count)
    assert [one.accuracy for one in filled] == pytest.approx(accuracy.tolist())
    assert [one.confidence for one in filled] == pytest.approx(confidence.tolist())
    counts = np.array([one.count for one in filled])
    assert counts.sum() == 300
    assert found.error == pytest.approx(float((counts / 300 * np.abs(accuracy - confidence)).sum()))


def test_a_calibrated_model_has_no_error_and_no_answers_have_none() -> None:
    assert calibration([0.75] * 8, [True] * 6 + [False] * 2).error == pytest.approx(0)
    assert calibration([0.0, 1.0], [False, True]).error == 0
    assert math.isnan(calibration([], []).error)


@pytest.mark.parametrize("seed", range(4))
def test_the_metrics_of_two_classes_are_scikit_learns_with_the_headline_first(seed: int) -> None:
    random = np.random.default_rng(seed)
    targets, predicted = random.integers(0, 2, 80).tolist(), random.integers(0, 2 - seed // 3, 80).tolist()
    confusion = confusion_matrix(targets, predicted, labels=[0, 1]).tolist()
    for positive in (0, 1):
        name = f1_of(("other", "same")[positive])
        metrics = class_metrics(confusion, ("other", "same"), name, ("other", "same")[positive])
        assert list(metrics) == [name, "accuracy", "macro F1", "MCC"]
        assert metrics[name] == pytest.approx(f1_score(targets, predicted, pos_label=positive, zero_division=0))
    assert list(class_metrics(confusion, ("other", "same"), "MCC")) == ["MCC", "accuracy", "macro F1"]
    assert list(class_metrics(confusion, ("other", "same"))) == ["accuracy", "macro F1", "MCC"]
    guesses = always(confusion, 1)
    assert guesses == confusion_matrix(targets, [1] * 80, labels=[0, 1]).tolist()
    assert class_metrics(guesses, ("other", "same"), "MCC")["MCC"] == 0
