"""Task: which of several endings fits, each read as a sequence of its own, one vector V to score them with."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.events import ChoiceMistake, ChoiceResult
from demos.training.metrics import calibration
from demos.training.settings import Settings
from demos.training.tasks.heads import dense_head
from demos.training.tasks.losses import loss_of, units_of
from demos.training.tasks.multiple_choice.data import LETTERS, MAX_ENDINGS, MIN_ENDINGS, ChoiceDataset, ChoiceExample
from demos.training.tasks.one_of_several import OneOfSeveral, likeliest, surest_first
from demos.training.tasks.task import Answers, Batch, Ended, Features, pair_ids, pool


@dataclass(frozen=True)
class MultipleChoice(OneOfSeveral):
    """k sequences an item; V · C_i, its score, is softmaxed over the k (Devlin et al. 2019, section 4.4)."""

    choices: int
    pooling: str = "mean"
    hidden: tuple[int, ...] = ()
    dropout: float = 0.1
    activation: str = "tanh"
    smoothing: float = 0.0

    @classmethod
    def of(cls, choices: int, settings: Settings) -> MultipleChoice:
        """The task that these settings describe."""
        return cls(choices, settings.pooling, settings.hidden, settings.dropout)

    @property
    def labels(self) -> tuple[str, ...]:
        """The endings' places as letters."""
        return tuple(LETTERS[: self.choices])

    def features(self, tokenizer: Any, examples: Sequence[ChoiceExample], max_length: int) -> list[Features]:
        """[CLS] context start [SEP] ending [SEP] of each ending, segments 0 and 1, cut to `max_length` tokens."""
        pairs = [pair for example in examples for pair in sequences_of(example)]
        rows = pair_ids(tokenizer, pairs, max_length)
        features, at = [], 0
        for example in examples:
            own = rows[at : at + len(example.endings)]
            at += len(own)
            ids, segments, cut = zip(*own, strict=True)
            features.append(Features(ids, example.label, any(cut), segments))
        return features

    def head(self, width: int, generator: torch.Generator | None) -> nn.Module:
        """One number a sequence; see `dense_head`."""
        return dense_head(width, self.hidden, self.activation, self.dropout, 1, generator)

    def logits(self, head: nn.Module, hidden: torch.Tensor, batch: Batch) -> torch.Tensor:
        """[batch k, n, d] -> [batch, k]; a person's own item may have fewer endings, or more."""
        scores: torch.Tensor = head(pool(hidden, batch.attention_mask, self.pooling))  # [batch k, 1]
        choices = len(scores) // len(batch.features) if batch.features else self.choices
        return scores.view(-1, choices)

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Cross-entropy over the endings, mean over the batch."""
        return loss_of(logits, targets, smoothing=self.smoothing)

    def units(self, targets: torch.Tensor) -> float:
        """Items."""
        return units_of(targets)

    def baseline(self, dataset: ChoiceDataset) -> tuple[str, float]:
        """The accuracy, on the test's, of always taking the place that is most often right in training."""
        place, accuracy = self.majority(dataset)
        return f"always ending {LETTERS[place]}", accuracy

    def outcome(self, dataset: ChoiceDataset, answers: Answers, ended: Ended) -> ChoiceResult:
        """With the right ending's margin in each item, and the mistakes, the most confident first."""
        taken = [likeliest(row) for row in answers]
        right = [example.label == place for example, place in zip(dataset.test, taken, strict=True)]
        wrong = [
            ChoiceMistake(example.context, example.start, example.endings, example.label, place, row)
            for example, place, row in zip(dataset.test, taken, answers, strict=True)
            if place != example.label
        ]
        margins = (
            row[example.label] - max(chance for at, chance in enumerate(row) if at != example.label)
            for example, row in zip(dataset.test, answers, strict=True)
        )
        place, accuracy = self.majority(dataset)
        return ChoiceResult(
            labels=self.labels,
            accuracy=sum(right) / max(1, len(right)),
            **ended.run,
            majority_label=LETTERS[place],
            majority_accuracy=accuracy,
            margins=tuple(margins),
            mistakes=surest_first(wrong),
            answers=tuple(answers),
            calibration=calibration([max(row) for row in answers], right),
        )


def sequences_of(example: ChoiceExample) -> list[tuple[str, str]]:
    """(sentence A, sentence B) of each ending: the context with the start, and the ending."""
    begun = f"{example.context} {example.start}".strip()
    return [(begun, ending) for ending in example.endings]


def example_of(boxes: Sequence[str]) -> ChoiceExample:
    """A person's own item: context, start (may be empty), endings one a line, or with | between them in one line.

    Raises UserError for what is missing.
    """
    context, start, listed = (clean_text(box, "The text").strip() for box in (*boxes, "", "", "")[:3])
    endings = tuple(line.strip() for line in re.split(r"[\n|]", listed) if line.strip())
    if not context and not start:
        raise UserError("Write what happens first.")
    if not MIN_ENDINGS <= len(endings) <= MAX_ENDINGS:
        raise UserError(f"Write {MIN_ENDINGS} to {MAX_ENDINGS} endings, one a line, not {len(endings)}.")
    return ChoiceExample(context, start, endings, 0)
