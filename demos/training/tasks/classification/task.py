"""Task: a class for a sentence, or for a pair of sentences that the encoder reads as one sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.events import Mistake, Result
from demos.training.metrics import calibration, score
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, Example
from demos.training.tasks.heads import dense_head
from demos.training.tasks.losses import class_weights, loss_of, units_of
from demos.training.tasks.one_of_several import OneOfSeveral, likeliest, surest_first
from demos.training.tasks.task import Answers, Batch, Ended, Features, pair_ids, pool, token_ids


@dataclass(frozen=True)
class Classification(OneOfSeveral):
    """One vector, perhaps dense layers, then a linear layer to C logits (Devlin et al. 2019, figures 4a and 4b)."""

    labels: tuple[str, ...]
    pooling: str = "mean"
    hidden: tuple[int, ...] = ()
    dropout: float = 0.1
    activation: str = "tanh"
    weights: tuple[float, ...] = ()  # of the classes in the loss; none where all count alike
    smoothing: float = 0.0
    pairs: bool = False  # whether the class is of two sentences, read as one sequence

    @classmethod
    def of(
        cls, labels: tuple[str, ...], settings: Settings, counts: Sequence[int] = (), pairs: bool = False
    ) -> Classification:
        """The task that these settings describe; `counts` is how often each class occurs in the training split."""
        weights = class_weights(counts) if settings.class_weights and counts else ()
        return cls(labels, settings.pooling, settings.hidden, settings.dropout, weights=weights, pairs=pairs)

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

    def head(self, width: int, generator: torch.Generator | None) -> nn.Module:
        """See `dense_head`."""
        return dense_head(width, self.hidden, self.activation, self.dropout, len(self.labels), generator)

    def logits(self, head: nn.Module, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        """[batch, n, d] -> [batch, C]."""
        result: torch.Tensor = head(pool(hidden, batch.attention_mask, self.pooling))
        return result

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Cross-entropy: -log of the probability that softmax gives the right class, mean over the batch."""
        return loss_of(logits, targets, self.weights, self.smoothing)

    def units(self, targets: torch.Tensor) -> float:
        """Sentences, or their classes' weights."""
        return units_of(targets, self.weights)

    def baseline(self, dataset: Dataset) -> tuple[str, float]:
        """The accuracy, on the test's, of always answering the training sentences' most frequent class."""
        label, accuracy = self.majority(dataset)
        return f"always “{self.labels[label]}”", accuracy

    def outcome(self, dataset: Dataset, answers: Answers, ended: Ended) -> Result:
        """With the scores, and the mistakes, the most confident first."""
        predicted = [likeliest(row) for row in answers]
        scores = score([example.label for example in dataset.test], predicted, len(self.labels))
        wrong = [
            Mistake(example.text, example.label, guess, row, example.pair)
            for example, guess, row in zip(dataset.test, predicted, answers, strict=True)
            if guess != example.label
        ]
        label, accuracy = self.majority(dataset)
        return Result(
            labels=self.labels,
            accuracy=scores.accuracy,
            macro_f1=scores.macro_f1,
            **ended.run,
            majority_label=self.labels[label],
            majority_accuracy=accuracy,
            confusion=scores.confusion,
            mistakes=surest_first(wrong),
            answers=tuple(answers),
            calibration=calibration(
                [max(row) for row in answers],
                [guess == example.label for guess, example in zip(predicted, dataset.test, strict=True)],
            ),
        )


def example_of(boxes: Sequence[str]) -> Example:
    """A person's own sentence, or two of them. Raises UserError for an empty box."""
    texts = [clean_text(box, "The sentence").strip() for box in boxes]
    if not texts or not all(texts):
        raise UserError("Write a sentence for the trained model first." if len(texts) < 2 else "Write both sentences.")
    return Example(texts[0], 0, *texts[1:2])
