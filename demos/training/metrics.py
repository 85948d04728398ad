"""How predictions are scored: accuracy, F1 per class and its mean, the confusion matrix, the majority baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Scores:
    """What `score` finds; C classes."""

    accuracy: float
    macro_f1: float
    f1: tuple[float, ...]  # [C]
    confusion: tuple[tuple[int, ...], ...]  # [C][C]: true class, predicted class


def confusion_matrix(targets: Sequence[int], predicted: Sequence[int], num_classes: int) -> np.ndarray:
    """Sentences by (true class, predicted class): int [C, C]."""
    counts = np.zeros((num_classes, num_classes), dtype=np.int64)
    np.add.at(counts, (np.asarray(targets, dtype=np.int64), np.asarray(predicted, dtype=np.int64)), 1)
    return counts


def score(targets: Sequence[int], predicted: Sequence[int], num_classes: int) -> Scores:
    """Accuracy, F1 = 2TP / (2TP + FP + FN) of each class (0 where that is 0/0), their plain mean, the confusions.

    Macro F1 is scikit-learn's `f1_score(..., labels=range(C), average="macro", zero_division=0)`.
    """
    counts = confusion_matrix(targets, predicted, num_classes)
    hits = np.diag(counts).astype(np.float64)
    either = counts.sum(axis=0) + counts.sum(axis=1)  # 2TP + FP + FN
    f1 = np.divide(2 * hits, either, out=np.zeros_like(hits), where=either > 0)
    return Scores(
        accuracy=float(hits.sum() / max(1, counts.sum())),
        macro_f1=float(f1.mean()),
        f1=tuple(f1.tolist()),
        confusion=tuple(tuple(row) for row in counts.tolist()),
    )


def majority(train_labels: Sequence[int], test_labels: Sequence[int], num_classes: int) -> tuple[int, float]:
    """The training sentences' most frequent class (the first of equals), and its share of the test sentences."""
    label = int(np.bincount(np.asarray(train_labels, dtype=np.int64), minlength=num_classes).argmax())
    return label, float(np.mean([other == label for other in test_labels])) if test_labels else 0.0
