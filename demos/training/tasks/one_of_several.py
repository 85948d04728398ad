"""What the tasks share whose answer is one of several: a class of a sentence, an ending; scored by accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from demos.training.events import Epoch
from demos.training.metrics import majority
from demos.training.tasks.task import Answers, Batch, Features

MAX_MISTAKES = 200


def likeliest(chances: Sequence[float]) -> int:
    """The place of the highest probability; of equals the first."""
    return max(range(len(chances)), key=chances.__getitem__)


class OneOfSeveral:
    """The part of a `Task` that turns logits [batch, C] into answers and scores; examples have a `label`."""

    labels: Any  # C names: a field of one task, a property of the other

    @property
    def metric(self) -> str:
        return "accuracy"

    def targets(self, features: Sequence[Features], longest: int) -> torch.Tensor:
        """The right answers' places: [batch]."""
        return torch.tensor([feature.target for feature in features])

    def answers(self, logits: torch.Tensor, batch: Batch) -> list[tuple[float, ...]]:
        """The probability of each of the several."""
        return [tuple(row) for row in logits.float().softmax(dim=-1).tolist()]

    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Accuracy."""
        return (logits.argmax(dim=-1) == targets).float().mean()

    def majority(self, dataset: Any) -> tuple[int, float]:
        """What is most often right in the training examples, and how often it is in the test's."""
        train, test = ([example.label for example in split] for split in (dataset.train, dataset.test))
        return majority(train, test, len(self.labels))

    def look(
        self, step: int, epoch: float, train_loss: float, loss: float, answers: Answers, targets: Sequence[int]
    ) -> Epoch:
        """With the accuracy."""
        right = [likeliest(row) == target for row, target in zip(answers, targets, strict=True)]
        return Epoch(step, epoch, train_loss, loss, sum(right) / max(1, len(right)))


def surest_first(mistakes: Sequence[Any]) -> tuple[Any, ...]:
    """The first MAX_MISTAKES mistakes, the most confident first."""
    return tuple(sorted(mistakes, key=lambda one: -one.probabilities[one.predicted])[:MAX_MISTAKES])
