"""Scores of predicted sets of labels: each label by itself and all together, as scikit-learn computes them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import accuracy_score, f1_score, multilabel_confusion_matrix, precision_recall_fscore_support

from demos.training.metrics import MACRO_F1, MICRO_F1, SUBSET_ACCURACY


@dataclass(frozen=True)
class LabelScores:
    """The result of `score_labels`; C labels."""

    micro_f1: float
    macro_f1: float
    subset_accuracy: float
    precision: tuple[float, ...]  # [C]
    recall: tuple[float, ...]  # [C]
    f1: tuple[float, ...]  # [C]
    found: tuple[int, ...]  # [C]: sentences that have the label and are given it
    missed: tuple[int, ...]  # [C]: sentences that have it and are not given it
    wrong: tuple[int, ...]  # [C]: sentences that are given it and do not have it

    @property
    def metrics(self) -> dict[str, float]:
        """The scores by their names, the headline first."""
        return {MICRO_F1: self.micro_f1, MACRO_F1: self.macro_f1, SUBSET_ACCURACY: self.subset_accuracy}


def marks_of(sets: Sequence[Sequence[int]], num_labels: int) -> np.ndarray:
    """Sets of labels as int [m, C]: 1 for each label that is there."""
    marks = np.zeros((len(sets), num_labels), dtype=np.int64)
    for row, labels in zip(marks, sets, strict=True):
        row[list(labels)] = 1
    return marks


def score_labels(true: np.ndarray, predicted: np.ndarray) -> LabelScores:
    """Scores of marks [m, C]; precision, recall and F1 are 0 where they are 0/0.

    Micro F1 counts the decisions on all labels together, macro F1 is the plain mean of the labels' F1, and subset
    accuracy the share of sentences whose labels are all right.
    """
    precision, recall, f1, _ = precision_recall_fscore_support(true, predicted, average=None, zero_division=0)
    counts = multilabel_confusion_matrix(true, predicted)  # [C, 2, 2]: true, predicted
    return LabelScores(
        micro_f1=micro_f1(true, predicted),
        macro_f1=float(np.mean(f1)),
        subset_accuracy=float(accuracy_score(true, predicted)),
        precision=tuple(precision.tolist()),
        recall=tuple(recall.tolist()),
        f1=tuple(f1.tolist()),
        found=tuple(counts[:, 1, 1].tolist()),
        missed=tuple(counts[:, 1, 0].tolist()),
        wrong=tuple(counts[:, 0, 1].tolist()),
    )


def micro_f1(true: np.ndarray, predicted: np.ndarray) -> float:
    """2 TP / (2 TP + FP + FN) over all labels of marks [m, C]; 0 where no label is there and none is given."""
    return float(f1_score(true, predicted, average="micro", zero_division=0)) if len(true) else 0.0
