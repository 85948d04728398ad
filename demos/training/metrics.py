"""Scores of predictions: by class and in all, as scikit-learn computes them; calibration; the majority baseline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest
from sklearn.metrics import confusion_matrix, matthews_corrcoef, precision_recall_fscore_support

BINS = 10
SPEARMAN, PEARSON = "Spearman's ρ", "Pearson's r"
ACCURACY, MACRO_F1, MCC = "accuracy", "macro F1", "MCC"
MICRO_F1, SUBSET_ACCURACY = "micro F1", "subset accuracy"
CORRELATIONS = (SPEARMAN, PEARSON, MCC)  # metrics that are no share of anything and may be below 0


@dataclass(frozen=True)
class Scores:
    """The result of `score`; C classes."""

    accuracy: float
    macro_f1: float
    mcc: float
    precision: tuple[float, ...]  # [C]
    recall: tuple[float, ...]  # [C]
    f1: tuple[float, ...]  # [C]
    confusion: tuple[tuple[int, ...], ...]  # [C][C]: true class, predicted class


@dataclass(frozen=True)
class Bin:
    """The answers whose probability lies in (low, high]."""

    low: float
    high: float
    count: int
    confidence: float  # their mean probability; NaN where there is none
    accuracy: float  # the share of them that is right; NaN where there is none


@dataclass(frozen=True)
class Calibration:
    """The difference between a model's confidence and its accuracy."""

    bins: tuple[Bin, ...]
    error: float  # the expected calibration error; NaN without answers


def score(targets: Sequence[int], predicted: Sequence[int], num_classes: int) -> Scores:
    """`score_confusion` of these answers."""
    return score_confusion(confusion_matrix(targets, predicted, labels=range(num_classes)).tolist())


def score_confusion(confusion: Sequence[Sequence[int]]) -> Scores:
    """Accuracy; each class's precision, recall and F1, 0 where that is 0/0; macro F1, their plain mean; MCC.

    MCC is Gorodkin's (2004) for C classes; 0 where one class is all there is or all that is answered.
    """
    counts = np.asarray(confusion, dtype=np.int64)
    truth, guesses = (places.ravel() for places in np.indices(counts.shape))
    weights = counts.ravel()  # an example for each cell, which counts as often as it occurs
    precision, recall, f1, _ = precision_recall_fscore_support(
        truth, guesses, labels=range(len(counts)), sample_weight=weights, zero_division=0
    )
    return Scores(
        accuracy=float(np.trace(counts) / max(1, counts.sum())),
        macro_f1=float(f1.mean()),
        mcc=float(matthews_corrcoef(truth, guesses, sample_weight=weights)),
        precision=tuple(precision.tolist()),
        recall=tuple(recall.tolist()),
        f1=tuple(f1.tolist()),
        confusion=tuple(map(tuple, counts.tolist())),
    )


def f1_of(label: str) -> str:
    """The name of one class's F1."""
    return f"F1 of “{label}”"


def class_metrics(
    confusion: Sequence[Sequence[int]], labels: Sequence[str], headline: str = ACCURACY, positive: str = ""
) -> dict[str, float]:
    """The scores of answers with classes by their names, `headline` first; with F1 of the class `positive`, if any."""
    scores = score_confusion(confusion)
    metrics = {ACCURACY: scores.accuracy}
    if positive in labels:
        metrics[f1_of(positive)] = scores.f1[list(labels).index(positive)]
    metrics |= {MACRO_F1: scores.macro_f1, MCC: scores.mcc}
    return {headline: metrics[headline], **metrics} if headline in metrics else metrics


def always(confusion: Sequence[Sequence[int]], label: int) -> list[list[int]]:
    """The confusion matrix of the same examples, were each given this class."""
    return [[sum(row) if guess == label else 0 for guess in range(len(row))] for row in confusion]


def wilson(hits: int, count: int) -> tuple[float, float]:
    """The 95% interval of a share (Wilson 1927), which stays within 0 and 1."""
    interval = binomtest(hits, count).proportion_ci(0.95, method="wilson")
    return float(interval.low), float(interval.high)


def calibration(confidence: Sequence[float], right: Sequence[bool], bins: int = BINS) -> Calibration:
    """Answers in `bins` equally wide bins by their probability, and the expected calibration error.

    Guo et al. 2017, "On Calibration of Modern Neural Networks", section 2: the bins are ((m - 1) / M, m / M], and ECE,
    equation 3, is the bins' |accuracy - confidence|, each weighted by its share of the answers.
    """
    sure, hits = np.asarray(confidence, dtype=np.float64), np.asarray(right, dtype=np.float64)
    edges = np.linspace(0, 1, bins + 1)
    at = np.clip(np.searchsorted(edges, sure, side="left") - 1, 0, bins - 1)  # side left: closed on the right
    counts = np.bincount(at, minlength=bins)  # [M]
    total = np.bincount(at, weights=sure, minlength=bins), np.bincount(at, weights=hits, minlength=bins)
    with np.errstate(invalid="ignore"):
        confident, accurate = (of / counts for of in total)  # NaN where a bin is empty
    counted = tuple(
        Bin(float(edges[m]), float(edges[m + 1]), int(counts[m]), float(confident[m]), float(accurate[m]))
        for m in range(bins)
    )
    gaps = np.nansum(counts * np.abs(accurate - confident))
    return Calibration(counted, float(gaps / len(sure)) if len(sure) else math.nan)


def majority(train_labels: Sequence[int], test_labels: Sequence[int], num_classes: int) -> tuple[int, float]:
    """The training sentences' most frequent class (the first of equals), and its share of the test sentences."""
    label = int(np.bincount(np.asarray(train_labels, dtype=np.int64), minlength=num_classes).argmax())
    return label, float(np.mean([other == label for other in test_labels])) if test_labels else 0.0
