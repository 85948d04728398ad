"""Common code of the tasks whose answer is one number: squared error, scored by rank correlation."""

import math
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F

from demos.bert.embeddings.agreement import Pair, correlation
from demos.training.events import PairLook
from demos.training.metrics import SPEARMAN
from demos.training.tasks.task import Answers, Batch, Task


class Regression(Task):
    """A task whose `logits` are one number an example: [batch]."""

    metric: ClassVar[str] = SPEARMAN
    loss_name: ClassVar[str] = "mean squared error"

    @property
    def labels(self) -> tuple[str, ...]:
        """None: a number is no class."""
        return ()

    def as_text(self, example: Pair, name: str) -> tuple[str, str]:
        """As T5's paper has STS-B: scores are rounded to the nearest 0.2 and written as text.

        Scores of single texts are not rounded.
        """
        if not example.second:
            return f"{name} sentence: {example.first}", f"{example.score:g}"
        given = f"{name} sentence1: {example.first} sentence2: {example.second}"
        return given, f"{round(example.score * 5) / 5:.1f}"

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """(answer - target)², mean over the batch."""
        return F.mse_loss(logits.float(), targets)

    def units(self, targets: torch.Tensor) -> float:
        """The number of examples."""
        return float(len(targets))

    def answers(self, logits: torch.Tensor, batch: Batch) -> list[tuple[float]]:
        """The number, as it comes."""
        return [(number,) for number in logits.float().tolist()]

    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """None: the correlation over one batch's few examples is noise."""
        return torch.full((), math.nan, device=logits.device)

    def look(
        self, step: int, epoch: float, train_loss: float, loss: float, answers: Answers, targets: Sequence[float]
    ) -> PairLook:
        """With Spearman's rho over all the validation examples."""
        agreement = correlation(np.array([row[0] for row in answers]), np.array(targets))
        return PairLook(step, epoch, train_loss, loss, agreement.spearman, agreement.low, agreement.high)
