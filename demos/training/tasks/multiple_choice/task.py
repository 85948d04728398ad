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
from demos.training.events import ChoiceMistake, ChoiceResult, Epoch
from demos.training.metrics import calibration, majority
from demos.training.settings import Settings
from demos.training.tasks.heads import dense_head
from demos.training.tasks.losses import loss_of, units_of
from demos.training.tasks.multiple_choice.data import LETTERS, MAX_ENDINGS, MIN_ENDINGS, ChoiceDataset, ChoiceExample
from demos.training.tasks.task import Answers, Batch, Ended, Features, pair_ids, pool

MAX_MISTAKES = 200


@dataclass(frozen=True)
class MultipleChoice:
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
        return cls(
            choices,
            settings.pooling,
            settings.hidden,
            settings.dropout,
            settings.activation,
            settings.label_smoothing,
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """The endings' places as letters."""
        return tuple(LETTERS[: self.choices])

    @property
    def metric(self) -> str:
        return "accuracy"

    def features(self, tokenizer: Any, examples: Sequence[ChoiceExample], max_length: int) -> list[Features]:
        """[CLS] context start [SEP] ending [SEP] of each ending, segments 0 and 1, cut to `max_length` tokens."""
        pairs = [pair for example in examples for pair in sequences_of(example)]
        rows = pair_ids(tokenizer, pairs, max_length)
        found, at = [], 0
        for example in examples:
            mine = rows[at : at + len(example.endings)]
            at += len(mine)
            ids, segments, cut = zip(*mine, strict=True)
            found.append(Features(ids, example.label, any(cut), segments))
        return found

    def head(self, width: int, generator: torch.Generator | None) -> nn.Module:
        """One number a sequence; see `dense_head`."""
        return dense_head(width, self.hidden, self.activation, self.dropout, 1, generator)

    def targets(self, features: Sequence[Features], longest: int) -> torch.Tensor:
        """The right endings' places: [batch]."""
        return torch.tensor([feature.target for feature in features])

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

    def answers(self, logits: torch.Tensor, batch: Batch) -> list[tuple[float, ...]]:
        """Each ending's probability."""
        return [tuple(row) for row in logits.float().softmax(dim=-1).tolist()]

    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Accuracy."""
        return (logits.argmax(dim=-1) == targets).float().mean()

    def baseline(self, dataset: ChoiceDataset) -> tuple[str, float]:
        """The accuracy, on the test's, of always taking the place that is most often right in training."""
        place, accuracy = self._majority(dataset)
        return f"always ending {LETTERS[place]}", accuracy

    def _majority(self, dataset: ChoiceDataset) -> tuple[int, float]:
        train, test = ([example.label for example in split] for split in (dataset.train, dataset.test))
        return majority(train, test, self.choices)

    def look(
        self, step: int, epoch: float, train_loss: float, loss: float, answers: Answers, targets: Sequence[int]
    ) -> Epoch:
        """With the accuracy."""
        right = [_argmax(row) == target for row, target in zip(answers, targets, strict=True)]
        return Epoch(step, epoch, train_loss, loss, sum(right) / max(1, len(right)))

    def outcome(self, dataset: ChoiceDataset, answers: Answers, ended: Ended) -> ChoiceResult:
        """With the right ending's margin in each item, and the mistakes, the most confident first."""
        taken = [_argmax(row) for row in answers]
        right = [example.label == place for example, place in zip(dataset.test, taken, strict=True)]
        wrong = [
            ChoiceMistake(example.context, example.start, example.endings, example.label, place, row)
            for example, place, row in zip(dataset.test, taken, answers, strict=True)
            if place != example.label
        ]
        wrong.sort(key=lambda mistake: -mistake.probabilities[mistake.predicted])
        margins = (
            row[example.label] - max(chance for at, chance in enumerate(row) if at != example.label)
            for example, row in zip(dataset.test, answers, strict=True)
        )
        place, accuracy = self._majority(dataset)
        return ChoiceResult(
            labels=self.labels,
            accuracy=sum(right) / max(1, len(right)),
            loss=ended.loss,
            majority_label=LETTERS[place],
            majority_accuracy=accuracy,
            margins=tuple(margins),
            mistakes=tuple(wrong[:MAX_MISTAKES]),
            answers=tuple(answers),
            calibration=calibration([max(row) for row in answers], right),
            steps=ended.steps,
            seconds=ended.seconds,
            examples_per_second=ended.examples_per_second,
            folder=ended.folder,
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


def _argmax(row: Sequence[float]) -> int:
    return max(range(len(row)), key=row.__getitem__)
