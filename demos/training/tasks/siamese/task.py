"""A task on rated pairs: both sentences through the same encoder, and the cosine of their vectors to be the rating."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from demos.bert.embeddings.agreement import Pair, correlation, gap_between, scores_of
from demos.training.data.splits import Splits
from demos.training.events import PairResult
from demos.training.settings import Settings
from demos.training.tasks.regression import Regression
from demos.training.tasks.siamese.data import PairDataset
from demos.training.tasks.task import Answers, Batch, Ended, Features, pool, token_ids


@dataclass(frozen=True)
class Siamese(Regression):
    """Sentence-BERT with its regression objective (Reimers and Gurevych 2019, section 3): no layers on top.

    The loss is that of sentence-transformers' CosineSimilarityLoss: (cosine - rating / top)².
    """

    kind: ClassVar[str] = "siamese"
    data: ClassVar[type[Splits]] = PairDataset
    pooling: str = "mean"
    top: float = 5.0  # the rating for which the cosine is 1

    @classmethod
    def of(cls, dataset: PairDataset, settings: Settings) -> Self:
        """The task that this data set and these settings describe."""
        return cls(settings.pooling, dataset.top)

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
