"""Task: one number for a pair of sentences, as in GLUE's STS-B, or for a text, such as a rating: a regression."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import nn

from demos.bert.embeddings.agreement import Correlation, Pair, correlation
from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.splits import Splits
from demos.training.events import Outcome
from demos.training.metrics import PEARSON, SPEARMAN
from demos.training.settings import Settings
from demos.training.tasks.heads import PooledTask, head_fields
from demos.training.tasks.regression import Regression
from demos.training.tasks.similarity.data import LOWEST, POINTS, SimilarityDataset, width_of
from demos.training.tasks.task import MAX_MISTAKES, Answers, Batch, Ended, Features, pair_ids, token_ids


@dataclass(frozen=True)
class Scored:
    """A test pair, or a text whose `second` is "", its score in the data and the trained model's."""

    first: str
    second: str
    gold: float
    predicted: float

    @property
    def error(self) -> float:
        """The points by which the prediction lies above the gold score; below 0 where it lies below."""
        return self.predicted - self.gold


@dataclass(frozen=True)
class SimilarityResult(Outcome):
    """The agreement of the trained model's scores with those of the test examples. `loss` is the mean squared error."""

    agreement: Correlation
    loss_before: float  # on the validation examples, before the first step
    mean_loss: float  # mean squared error of always answering the training examples' mean score
    trained_range: tuple[float, float, float]  # of the training examples: lowest, mean, highest score
    mistakes: tuple[Scored, ...]  # the largest errors first
    answers: tuple[Scored, ...] = ()  # every test example, in the data set's order
    points: tuple[int, ...] = POINTS  # as of the data set

    @property
    def noun(self) -> str:
        """The name of an example."""
        return "pair" if any(scored.second for scored in self.answers) else "text"

    @property
    def metrics(self) -> dict[str, float]:
        """The headline first: the BERT paper reports Spearman's, GLUE's leaderboard both."""
        return {SPEARMAN: self.agreement.spearman, PEARSON: self.agreement.pearson}


@dataclass(frozen=True, kw_only=True)
class Similarity(Regression, PooledTask):
    """One vector a pair or a text, perhaps dense layers, then a linear layer to one number.

    The loss is that of transformers for problem_type "regression". The number may lie a little outside the scale.
    """

    kind: ClassVar[str] = "similarity"
    data: ClassVar[type[Splits]] = SimilarityDataset
    trained_range: tuple[float, float, float]  # of the training examples: lowest, mean, highest score
    points: tuple[int, ...] = POINTS  # as of the data set
    single: bool = False  # whether a score is that of one text

    @classmethod
    def of(cls, dataset: SimilarityDataset, settings: Settings) -> Self:
        """The task that this data set and these settings describe."""
        return cls(
            trained_range=dataset.trained_range,
            points=dataset.points,
            single=dataset.single,
            pooling=settings.pooling,
            **head_fields(settings),
        )

    @property
    def outputs(self) -> int:
        """The score."""
        return 1

    @property
    def output_names(self) -> tuple[str]:
        """The name of the number, with the scale of single texts; heads of other names can't go on as this one."""
        return (f"score from {self.points[0]} to {self.points[-1]}" if self.single else "score",)

    def head(self, width: int, generator: torch.Generator | None) -> nn.Module:
        """Freshly made, it answers about the training examples' mean score, so that no step is spent on finding it.

        Its last weights are as large as the scale is wide: a step of Adam changes a weight by as much on any scale.
        """
        head: Any = super().head(width, generator)
        head[-1].weight.data.mul_(width_of(self.points))
        head[-1].bias.data.fill_(self.trained_range[1])
        return head

    def features(self, tokenizer: Any, examples: Sequence[Pair], max_length: int) -> list[Features]:
        """[CLS] first [SEP] second [SEP] of each pair, or [CLS] text [SEP]; the target is its score."""
        if self.single:
            texts = token_ids(tokenizer, [pair.first for pair in examples], max_length)
            return [Features((ids,), float(pair.score), cut) for (ids, cut), pair in zip(texts, examples, strict=True)]
        rows = pair_ids(tokenizer, [(pair.first, pair.second) for pair in examples], max_length)
        return [
            Features((ids,), float(pair.score), cut, (segments,))
            for (ids, segments, cut), pair in zip(rows, examples, strict=True)
        ]

    def logits(self, head: nn.Module, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        """[batch, n, d] -> [batch]: a score each."""
        return head(self.pooled(hidden, batch.attention_mask)).squeeze(-1)

    def mean_loss(self, dataset: SimilarityDataset) -> float:
        """The mean squared error, on the test examples, of always answering the training examples' mean score."""
        return float(np.mean([(pair.score - self.trained_range[1]) ** 2 for pair in dataset.test]))

    def outcome(self, dataset: SimilarityDataset, answers: Answers, ended: Ended) -> SimilarityResult:
        """With every example's two scores, and the largest errors."""
        scored = tuple(
            Scored(pair.first, pair.second, pair.score, row[0]) for pair, row in zip(dataset.test, answers, strict=True)
        )
        gold, predicted = (np.array([getattr(pair, name) for pair in scored]) for name in ("gold", "predicted"))
        return SimilarityResult(
            agreement=correlation(predicted, gold),
            loss_before=ended.loss_before,
            mean_loss=self.mean_loss(dataset),
            trained_range=self.trained_range,
            mistakes=tuple(sorted(scored, key=lambda pair: -abs(pair.error))[:MAX_MISTAKES]),
            answers=scored,
            points=self.points,
            **ended.run,
        )


TASK = Similarity


def example_of(boxes: Sequence[str]) -> Pair:
    """A person's own pair, or a text where the second box is empty. Raises UserError for an empty first box."""
    first, second, *_ = [*(clean_text(box, "The sentence").strip() for box in boxes), "", ""]
    if not first:
        raise UserError("Write a sentence in the first box.")
    return Pair(first, second, LOWEST)
