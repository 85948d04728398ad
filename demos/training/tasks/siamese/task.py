"""A task on rated pairs: both sentences through the same encoder, and the cosine of their vectors to be the rating."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from demos.bert.embeddings.agreement import Pair, correlation, gap_between, scores_of
from demos.training.data.splits import Splits
from demos.training.events import PairLook, PairResult
from demos.training.metrics import SPEARMAN
from demos.training.settings import Settings
from demos.training.tasks.siamese.data import PairDataset
from demos.training.tasks.task import Answers, Batch, Ended, Features, Task, pool, token_ids


@dataclass(frozen=True)
class Siamese(Task):
    """Sentence-BERT with its regression objective (Reimers and Gurevych 2019, section 3): no layers on top."""

    kind: ClassVar[str] = "siamese"
    data: ClassVar[type[Splits]] = PairDataset
    metric: ClassVar[str] = SPEARMAN
    loss_name: ClassVar[str] = "mean squared error"
    pooling: str = "mean"
    top: float = 5.0  # the rating that a cosine of 1 stands for

    @classmethod
    def of(cls, dataset: PairDataset, settings: Settings) -> Siamese:
        """The task that this data set and these settings describe."""
        return cls(settings.pooling, dataset.top)

    @property
    def labels(self) -> tuple[str, ...]:
        """None: a rating is no class."""
        return ()

    def features(self, tokenizer: Any, examples: Sequence[Pair], max_length: int) -> list[Features]:
        """Two sequences a pair, each [CLS] sentence [SEP]; the target is the rating as a share of the highest."""
        rows = token_ids(tokenizer, [text for pair in examples for text in (pair.first, pair.second)], max_length)
        return [
            Features((first, second), pair.score / self.top, cut or cut_too)
            for (first, cut), (second, cut_too), pair in zip(rows[::2], rows[1::2], examples, strict=True)
        ]

    def head(self, width: int, generator: torch.Generator | None) -> nn.Module:
        """Nothing: what is trained is the encoder alone."""
        return nn.Identity()

    def logits(self, head: nn.Module, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        """The cosine of each pair: [2 batch, n, d], first and second by turns -> [batch]."""
        vectors = pool(hidden.float(), batch.attention_mask, self.pooling)  # [2 batch, d]
        return F.cosine_similarity(vectors[::2], vectors[1::2])

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """(cosine - rating / top)², mean over the batch: sentence-transformers' CosineSimilarityLoss."""
        return F.mse_loss(logits, targets)

    def answers(self, logits: torch.Tensor, batch: Batch) -> list[tuple[float]]:
        """The cosine."""
        return [(cosine,) for cosine in logits.tolist()]

    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """None: the correlation over one batch's few pairs is noise."""
        return torch.full((), math.nan, device=logits.device)

    def look(
        self, step: int, epoch: float, train_loss: float, loss: float, answers: Answers, targets: Sequence[float]
    ) -> PairLook:
        """With Spearman's rho over all the held-out pairs."""
        agreement = correlation(np.array([row[0] for row in answers]), np.array(targets))
        return PairLook(step, epoch, train_loss, loss, agreement.spearman, agreement.low, agreement.high)

    def outcome(self, dataset: PairDataset, answers: Answers, ended: Ended) -> PairResult:
        """Before against after, on the same held-out pairs."""
        before, after = (np.array([row[0] for row in rows]) for rows in (ended.before, answers))  # [pairs]
        ratings = scores_of(dataset.test)
        return PairResult(
            before=tuple(before.tolist()),
            after=tuple(after.tolist()),
            loss_before=ended.loss_before,
            **ended.run,
            agreement_before=correlation(before, ratings),
            agreement=correlation(after, ratings),
            gap=gap_between(after, before, ratings),
        )


TASK = Siamese
