"""How predictions are scored: accuracy, precision, recall and F1 per class, MCC, confusions, calibration, baseline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BINS = 10


@dataclass(frozen=True)
class Scores:
    """What `score` finds; C classes."""

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
    """How far a model's confidence is from how often it is right."""

    bins: tuple[Bin, ...]
    error: float  # the expected calibration error; NaN without answers


def confusion_matrix(targets: Sequence[int], predicted: Sequence[int], num_classes: int) -> np.ndarray:
    """Sentences by (true class, predicted class): int [C, C]."""
    counts = np.zeros((num_classes, num_classes), dtype=np.int64)
    np.add.at(counts, (np.asarray(targets, dtype=np.int64), np.asarray(predicted, dtype=np.int64)), 1)
    return counts


def score(targets: Sequence[int], predicted: Sequence[int], num_classes: int) -> Scores:
    """`score_confusion` of these answers."""
    return score_confusion(confusion_matrix(targets, predicted, num_classes).tolist())


def score_confusion(confusion: Sequence[Sequence[int]]) -> Scores:
    """Accuracy; precision, recall and F1 = 2TP / (2TP + FP + FN) of each class, 0 where that is 0/0; macro F1; MCC.

    scikit-learn's, with `labels=range(C), zero_division=0`; macro F1 is the classes' plain mean. MCC is Gorodkin's
    (2004) for C classes, (c s - t·p) / √((s² - p·p)(s² - t·t)) of c right among s, t true and p predicted a class;
    0 where one class is all there is or all that is answered.
    """
    counts = np.asarray(confusion, dtype=np.int64)
    hits = np.diag(counts).astype(np.float64)
    truth, guessed = counts.sum(axis=1), counts.sum(axis=0)  # [C], [C]

    def share(of: np.ndarray, among: np.ndarray) -> tuple[float, ...]:
        return tuple(np.divide(of, among, out=np.zeros_like(of), where=among > 0).tolist())

    f1 = share(2 * hits, truth + guessed)
    total = int(counts.sum())
    spread = (total**2 - int(guessed @ guessed)) * (total**2 - int(truth @ truth))
    agreement = int(hits.sum()) * total - int(truth @ guessed)
    return Scores(
        accuracy=float(hits.sum() / max(1, total)),
        macro_f1=sum(f1) / max(1, len(f1)),
        mcc=agreement / math.sqrt(spread) if spread else 0.0,
        precision=share(hits, guessed),
        recall=share(hits, truth),
        f1=f1,
        confusion=tuple(tuple(row) for row in counts.tolist()),
    )


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
    found = tuple(
        Bin(float(edges[m]), float(edges[m + 1]), int(counts[m]), float(confident[m]), float(accurate[m]))
        for m in range(bins)
    )
    gaps = np.nansum(counts * np.abs(accurate - confident))
    return Calibration(found, float(gaps / len(sure)) if len(sure) else math.nan)


def majority(train_labels: Sequence[int], test_labels: Sequence[int], num_classes: int) -> tuple[int, float]:
    """The training sentences' most frequent class (the first of equals), and its share of the test sentences."""
    label = int(np.bincount(np.asarray(train_labels, dtype=np.int64), minlength=num_classes).argmax())
    return label, float(np.mean([other == label for other in test_labels])) if test_labels else 0.0
