"""Task: a class for a sentence, or for a pair of sentences that the encoder reads as one sequence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import nn

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.benchmarks import metric_of, positive_class
from demos.training.data.splits import Splits
from demos.training.events import Mistake, Result
from demos.training.metrics import ACCURACY, always, class_metrics, score
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, Example
from demos.training.tasks.heads import head_fields
from demos.training.tasks.one_of_several import OneOfSeveral, likeliest, surest_first
from demos.training.tasks.task import Answers, Batch, Ended, Features, pair_ids, token_ids


@dataclass(frozen=True)
class Classification(OneOfSeveral):
    """One vector, perhaps dense layers, then a linear layer to C logits (Devlin et al. 2019, figures 4a and 4b)."""

    kind: ClassVar[str] = "classification"
    data: ClassVar[type[Splits]] = Dataset
    labels: tuple[str, ...]
    pairs: bool = False  # whether the class is of two sentences, read as one sequence
    headline: str = ACCURACY  # the metric by which the data set is judged: GLUE's own for GLUE's tasks
    positive: str = ""  # of two classes, the one that F1 is of; "" for none

    @classmethod
    def of(cls, dataset: Dataset, settings: Settings) -> Self:
        """The task that this data set and these settings describe."""
        own = head_fields(settings, dataset.counts("train"))
        positive = positive_class(dataset.source, dataset.labels)
        metric = metric_of(dataset.source)
        return cls(dataset.labels, dataset.kind == "pair", metric, positive, pooling=settings.pooling, **own)

    @property
    def metric(self) -> str:
        """The headline."""
        return self.headline

    @property
    def batch_metric(self) -> str:
        """Accuracy, where the metric is one that a batch's few examples say little of."""
        return "" if self.headline == ACCURACY else ACCURACY

    def score(self, answers: Answers, targets: Sequence[int]) -> float:
        """By the metric."""
        if self.headline == ACCURACY:
            return super().score(answers, targets)
        return self._metric_of(score(targets, [likeliest(row) for row in answers], len(self.labels)).confusion)

    def _metric_of(self, confusion: Sequence[Sequence[int]]) -> float:
        return class_metrics(confusion, self.labels, self.headline, self.positive)[self.headline]

    def features(self, tokenizer: Any, examples: Sequence[Example], max_length: int) -> list[Features]:
        """[CLS] sentence [SEP], or [CLS] first [SEP] second [SEP], cut to `max_length` tokens."""
        if any(example.pair for example in examples):
            pairs = pair_ids(tokenizer, [(example.text, example.pair) for example in examples], max_length)
            return [
                Features((ids,), example.label, cut, (segments,))
                for (ids, segments, cut), example in zip(pairs, examples, strict=True)
            ]
        rows = token_ids(tokenizer, [example.text for example in examples], max_length)
        return [Features((ids,), example.label, cut) for (ids, cut), example in zip(rows, examples, strict=True)]

    def as_text(self, example: Example, name: str) -> tuple[str, str]:
        """As SST-2, MNLI or MRPC in T5's paper; the answer is the class's name."""
        if not self.pairs:
            texts = f"sentence: {example.text}"
        elif "entailment" in self.labels:
            texts = f"hypothesis: {example.pair} premise: {example.text}"
        else:
            texts = f"sentence1: {example.text} sentence2: {example.pair}"
        return f"{name} {texts}", self.labels[example.label]

    def logits(self, head: nn.Module, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        """[batch, n, d] -> [batch, C]."""
        return head(self.pooled(hidden, batch.attention_mask))

    def baseline(self, dataset: Dataset) -> tuple[str, float]:
        """The score, on the test's, of always answering the training sentences' most frequent class."""
        label, _ = self.majority(dataset)
        confusion = [[0] * len(self.labels) for _ in self.labels]
        for true, count in enumerate(dataset.counts("test")):
            confusion[true][true] = count
        return f"always “{self.labels[label]}”", self._metric_of(always(confusion, label))

    def outcome(self, dataset: Dataset, answers: Answers, ended: Ended) -> Result:
        """With the scores, and the mistakes, the most confident first."""
        predicted = [likeliest(row) for row in answers]
        scores = score([example.label for example in dataset.test], predicted, len(self.labels))
        wrong = [
            Mistake(example.text, example.label, guess, row, example.pair)
            for example, guess, row in zip(dataset.test, predicted, answers, strict=True)
            if guess != example.label
        ]
        return Result(
            accuracy=scores.accuracy,
            macro_f1=scores.macro_f1,
            confusion=scores.confusion,
            mistakes=surest_first(wrong),
            headline=self.headline,
            positive=self.positive,
            **self.common_outcome(dataset, answers, ended),
        )


TASK = Classification


def example_of(boxes: Sequence[str]) -> Example:
    """A person's own sentence, or two of them. Raises UserError for an empty box."""
    texts = [clean_text(box, "The sentence").strip() for box in boxes]
    if not texts or not all(texts):
        raise UserError("Write a sentence for the trained model first." if len(texts) < 2 else "Write both sentences.")
    return Example(texts[0], 0, *texts[1:2])
