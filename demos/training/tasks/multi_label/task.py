"""Task: any number of labels for a sentence, each decided by itself: a sigmoid a label, binary cross-entropy."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.splits import Splits
from demos.training.events import BINARY, Outcome
from demos.training.metrics import MICRO_F1, Calibration, calibration
from demos.training.settings import Settings
from demos.training.tasks.heads import PooledTask, head_fields
from demos.training.tasks.multi_label.data import LabelledSentence, MultiLabelDataset
from demos.training.tasks.multi_label.scores import LabelScores, marks_of, micro_f1, score_labels
from demos.training.tasks.task import MAX_MISTAKES, Answers, Batch, Ended, Features, token_ids

THRESHOLD = 0.5  # the probability from which on a label is given
MAX_NAMED = 3  # labels of the baseline that are named


@dataclass(frozen=True)
class LabelMistake(LabelledSentence):
    """A test sentence of which the trained model gets at least one label wrong."""

    predicted: tuple[int, ...]
    probabilities: tuple[float, ...]  # of each label


@dataclass(frozen=True)
class MultiLabelResult(Outcome):
    """The trained model's results on the test sentences; C labels."""

    labels: tuple[str, ...]
    scores: LabelScores
    baseline: str  # in words: the labels that `baseline_f1` is of predicting always
    baseline_f1: float  # micro F1
    usual: str  # in words: the set of labels that most training sentences have, perhaps none
    usual_accuracy: float  # the subset accuracy of always predicting that set
    mistakes: tuple[LabelMistake, ...]  # the most confident first
    wrong: int  # sentences with a mistake, of which `mistakes` has the first
    sentences: int  # test sentences
    unlabelled: int  # of them those without a label
    answers: tuple[tuple[float, ...], ...] = ()  # [m][C]: each test sentence's probabilities, in the data set's order
    calibration: Calibration | None = None  # of the decisions on single labels

    @property
    def metrics(self) -> dict[str, float]:
        """The scores by their names, the headline first."""
        return self.scores.metrics


@dataclass(frozen=True)
class MultiLabel(PooledTask):
    """One vector, perhaps dense layers, then a linear layer to C logits; the sigmoid of each is a probability.

    The loss is that of transformers for problem_type "multi_label_classification".
    """

    kind: ClassVar[str] = "labels"
    data: ClassVar[type[Splits]] = MultiLabelDataset
    metric: ClassVar[str] = MICRO_F1
    labels: tuple[str, ...]

    @property
    def loss_name(self) -> str:  # type: ignore[override]
        """Binary cross-entropy, and whether rare labels have more weight in it."""
        return f"weighted {BINARY}" if self.weights else BINARY

    @classmethod
    def of(cls, dataset: MultiLabelDataset, settings: Settings) -> Self:
        """The task that this data set and these settings describe."""
        fields = head_fields(settings)
        if settings.class_weights:
            fields["weights"] = positive_weights(dataset.counts("train"), len(dataset.train))
        return cls(dataset.labels, pooling=settings.pooling, **fields)

    def features(self, tokenizer: Any, examples: Sequence[LabelledSentence], max_length: int) -> list[Features]:
        """[CLS] sentence [SEP], cut to `max_length` tokens; the target is 0 or 1 for each label."""
        rows = token_ids(tokenizer, [example.text for example in examples], max_length)
        marks = marks_of([example.labels for example in examples], len(self.labels)).tolist()
        return [Features((ids,), tuple(target), cut) for (ids, cut), target in zip(rows, marks, strict=True)]

    def targets(self, features: Sequence[Features], longest: int) -> torch.Tensor:
        """[batch, C] in float32: 0 or 1."""
        return torch.tensor([feature.target for feature in features], dtype=torch.float32)

    def as_text(self, example: LabelledSentence, name: str) -> tuple[str, str]:
        """Not in T5's paper: as SST-2, the answer is the labels' names with commas between them."""
        return f"{name} sentence: {example.text}", ", ".join(self.labels[label] for label in example.labels) or "none"

    def logits(self, head: nn.Module, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        """[batch, n, d] -> [batch, C]."""
        return head(self.pooled(hidden, batch.attention_mask))

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Binary cross-entropy, mean over sentences and labels; `weights` weigh what is there (`pos_weight`)."""
        weights = torch.tensor(self.weights, device=logits.device) if self.weights else None
        return F.binary_cross_entropy_with_logits(logits.float(), targets, pos_weight=weights)

    def units(self, targets: torch.Tensor) -> float:
        """The number of sentences: the loss is not divided by weights."""
        return float(len(targets))

    def answers(self, logits: torch.Tensor, batch: Batch) -> list[tuple[float, ...]]:
        """The probability of each label; they need not add up to 1."""
        return [tuple(row) for row in logits.float().sigmoid().tolist()]

    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Micro F1; 1 where no label is there and none is given."""
        predicted = (logits.sigmoid() >= THRESHOLD).float()
        right, all_labels = (predicted * targets).sum(), (predicted + targets).sum()
        return torch.where(all_labels > 0, 2 * right / all_labels.clamp(min=1), torch.ones_like(right))

    def score(self, answers: Answers, targets: Sequence[Sequence[int]]) -> float:
        """Micro F1."""
        return micro_f1(np.array(targets, dtype=np.int64), self._marks(answers))

    def _marks(self, answers: Answers) -> np.ndarray:
        return marks_of([given(answer) for answer in answers], len(self.labels))

    def baseline(self, dataset: MultiLabelDataset) -> tuple[str, float]:
        """The micro F1, on the test's, of always predicting the same labels: those best for the training sentences."""
        same = best_constant(dataset.counts("train"), len(dataset.train))
        return f"always {self._named(same)}", self._constant_scores(dataset, same).micro_f1

    def _constant_scores(self, dataset: MultiLabelDataset, same: Sequence[int]) -> LabelScores:
        """The scores on the test sentences were each given the same labels."""
        true = marks_of([example.labels for example in dataset.test], len(self.labels))
        return score_labels(true, marks_of([same] * len(true), len(self.labels)))

    def _named(self, labels: Sequence[int]) -> str:
        if not labels:
            return "no label"
        if len(labels) == len(self.labels):
            return f"all {len(labels)} labels"
        names = ", ".join(f"“{self.labels[label]}”" for label in labels[:MAX_NAMED])
        return f"{names} and {len(labels) - MAX_NAMED} more" if len(labels) > MAX_NAMED else names

    def outcome(self, dataset: MultiLabelDataset, answers: Answers, ended: Ended) -> MultiLabelResult:
        """With the scores of each label, and the mistakes, the most confident first."""
        true = marks_of([example.labels for example in dataset.test], len(self.labels))
        predicted = self._marks(answers)
        wrong = [
            LabelMistake(example.text, example.labels, given(row), tuple(row))
            for example, row in zip(dataset.test, answers, strict=True)
            if given(row) != example.labels
        ]
        wrong.sort(key=lambda mistake: -surest(mistake))
        same = best_constant(dataset.counts("train"), len(dataset.train))
        usual = dataset.sets("train").most_common(1)[0][0]  # of equals the first seen
        return MultiLabelResult(
            labels=self.labels,
            scores=score_labels(true, predicted),
            baseline=self._named(same),
            baseline_f1=self._constant_scores(dataset, same).micro_f1,
            usual=self._named(usual),
            usual_accuracy=self._constant_scores(dataset, usual).subset_accuracy,
            mistakes=tuple(wrong[:MAX_MISTAKES]),
            wrong=len(wrong),
            sentences=len(true),
            unlabelled=int((true.sum(axis=1) == 0).sum()),
            answers=tuple(answers),
            calibration=calibration(*decisions(answers, [example.labels for example in dataset.test])),
            **ended.run,
        )


TASK = MultiLabel


def best_constant(counts: Sequence[int], total: int) -> tuple[int, ...]:
    """The labels, ascending, whose prediction for each of `total` sentences gives the highest micro F1.

    They are the k most frequent labels for some k: micro F1 is 2 TP / (predicted + true), and of the k times `total`
    predicted labels n_1 + ... + n_k are right. Of equals the fewest.
    """
    ordered = sorted(range(len(counts)), key=lambda label: -counts[label])
    right = list(accumulate(counts[label] for label in ordered))
    best = max(range(len(counts)), key=lambda at: right[at] / ((at + 1) * total + sum(counts)))
    return tuple(sorted(ordered[: best + 1]))


def positive_weights(counts: Sequence[int], total: int) -> tuple[float, ...]:
    """(total - n) / n for a label that n of `total` sentences have: what is there then weighs as what is not.

    PyTorch's `pos_weight`, as its documentation recommends it.
    """
    return tuple(max(1, total - count) / max(1, count) for count in counts)


def given(answer: Sequence[float]) -> tuple[int, ...]:
    """The labels whose probability is THRESHOLD or more."""
    return tuple(label for label, chance in enumerate(answer) if chance >= THRESHOLD)


def surest(mistake: LabelMistake) -> float:
    """The confidence of the surest wrong decision: the probability of a wrong label, or of a missing correct one."""
    wrong = set(mistake.labels) ^ set(mistake.predicted)
    return max(max(mistake.probabilities[label], 1 - mistake.probabilities[label]) for label in wrong)


def decisions(answers: Answers, true: Sequence[Sequence[int]]) -> tuple[list[float], list[bool]]:
    """(the probability of each decision on one label, whether it is right), sentence by sentence, label by label."""
    sure, right = [], []
    for answer, labels in zip(answers, true, strict=True):
        for label, chance in enumerate(answer):
            sure.append(max(chance, 1 - chance))
            right.append((chance >= THRESHOLD) == (label in labels))
    return sure, right


def example_of(boxes: Sequence[str]) -> LabelledSentence:
    """A person's own sentence. Raises UserError for an empty box."""
    text = clean_text(boxes[0], "The sentence").strip() if boxes else ""
    if not text:
        raise UserError("Write a sentence for the trained model first.")
    return LabelledSentence(text, ())
