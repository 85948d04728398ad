"""Common code of the tasks whose answer is one of several: a class of a sentence, an ending; scored by accuracy."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from demos.training.metrics import ACCURACY, calibration, majority
from demos.training.tasks.heads import PooledTask
from demos.training.tasks.task import MAX_MISTAKES, Answers, Batch, Ended


def likeliest(chances: Sequence[float]) -> int:
    """The place of the highest probability; of equals the first."""
    return max(range(len(chances)), key=chances.__getitem__)


@dataclass(frozen=True, kw_only=True)
class OneOfSeveral(PooledTask):
    """A `Task` that turns logits [batch, C] into answers and scores; examples have a `label`."""

    @property
    def metric(self) -> str:
        """Accuracy, unless the task says another."""
        return ACCURACY

    def answers(self, logits: torch.Tensor, batch: Batch) -> list[tuple[float, ...]]:
        """The probability of each of the several."""
        return [tuple(row) for row in logits.float().softmax(dim=-1).tolist()]

    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Accuracy."""
        return (logits.argmax(dim=-1) == targets).float().mean()

    def score(self, answers: Answers, targets: Sequence[int]) -> float:
        """Accuracy."""
        right = [likeliest(row) == target for row, target in zip(answers, targets, strict=True)]
        return sum(right) / max(1, len(right))

    def majority(self, dataset: Any) -> tuple[int, float]:
        """The most frequent correct answer in the training examples, and its share in the test's."""
        train, test = ([example.label for example in split] for split in (dataset.train, dataset.test))
        return majority(train, test, len(self.labels))

    def common_outcome(self, dataset: Any, answers: Answers, ended: Ended) -> dict[str, Any]:
        """The result of each of these tasks, by its fields' names."""
        label, accuracy = self.majority(dataset)
        right = [likeliest(row) == example.label for row, example in zip(answers, dataset.test, strict=True)]
        return {
            **ended.run,
            "labels": self.labels,
            "majority_label": self.labels[label],
            "majority_accuracy": accuracy,
            "answers": tuple(answers),
            "calibration": calibration([max(row) for row in answers], right),
        }


def surest_first(mistakes: Sequence[Any]) -> tuple[Any, ...]:
    """The first MAX_MISTAKES mistakes, the most confident first."""
    return tuple(sorted(mistakes, key=lambda mistake: -mistake.probabilities[mistake.predicted])[:MAX_MISTAKES])
