"""What a task is to the loop, and the first one: a class for a single sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import torch
import torch.nn.functional as F
from torch import nn

from demos.training.data import Dataset, Example
from demos.training.events import Epoch, Look, Mistake, Outcome, Result
from demos.training.metrics import Scores, majority, score
from demos.training.settings import Settings

Answers = Sequence[tuple[float, ...]]  # what a task reads off each example's logits, in the examples' order
MAX_MISTAKES = 200


@dataclass(frozen=True)
class Features:
    """One example as the model takes it."""

    sequences: tuple[tuple[int, ...], ...]  # [CLS] … [SEP] of each text that the encoder reads for this example
    target: int | float
    cut: bool  # tokens fell off at max_length

    @property
    def size(self) -> int:
        """The example's tokens, once its sequences are padded to the longest of them."""
        return len(self.sequences) * max(map(len, self.sequences))


@dataclass(frozen=True)
class Ended:
    """What the loop knows of a run that is over."""

    loss: float  # mean over the test examples
    loss_before: float  # mean over the validation examples, before the first step
    steps: int
    seconds: float
    examples_per_second: float
    folder: str
    before: Answers  # to the validation examples, before the first step


class Task(Protocol):
    """What the loop asks of a task, a frozen dataclass; everything else is the same for all tasks."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes' names, by their index; none where the task has no classes."""

    def features(self, tokenizer: Any, examples: Sequence[Any], max_length: int) -> list[Features]:
        """How examples become tokens."""

    def head(self, width: int, generator: torch.Generator) -> nn.Module:
        """Which layers sit on an encoder of this width, freshly initialised from `generator`."""

    def logits(self, head: nn.Module, hidden: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """From the last hidden states [batch x sequences, n, d] to logits [batch, …]."""

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """What training makes small: a mean over the batch."""

    def answers(self, logits: torch.Tensor) -> torch.Tensor:
        """What is kept of each example: [batch, …] -> [batch, k]."""

    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """How good one batch's answers are, or NaN where a batch is too few to say."""

    def baseline(self, dataset: Any) -> tuple[str, float]:
        """(the class, the accuracy) of always answering the most frequent class; ("", NaN) without classes."""

    def look(self, step: int, epoch: float, train_loss: float, loss: float, answers: Answers, targets: Any) -> Look:
        """What a look at the validation examples tells."""

    def outcome(self, dataset: Any, answers: Answers, ended: Ended) -> Outcome:
        """How good the answers to the test examples are, and what else is told at the end."""


class SeededDropout(nn.Module):
    """Dropout from a generator of its own: `nn.Dropout` draws from the global one, which other threads move."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p
        self.generator: torch.Generator | None = None  # on the values' device; set by who trains

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        if not self.training or not self.p:
            return values
        kept = torch.empty_like(values).bernoulli_(1 - self.p, generator=self.generator)
        return values * kept / (1 - self.p)


def pool(hidden: torch.Tensor, attention_mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """One vector a sentence: [batch, n, d] and [batch, n] -> [batch, d].

    cls: the first token's (Devlin et al. 2019, section 4). mean, max: over the tokens that are not padding
    (Reimers and Gurevych 2019, section 3).
    """
    if pooling == "cls":
        return hidden[:, 0]
    mask = attention_mask.unsqueeze(-1)  # [batch, n, 1]
    if pooling == "max":
        return hidden.masked_fill(mask == 0, -torch.inf).amax(dim=1)
    return (hidden * mask).sum(dim=1) / mask.sum(dim=1)


def token_ids(tokenizer: Any, texts: Sequence[str], max_length: int) -> list[tuple[tuple[int, ...], bool]]:
    """[CLS] text [SEP] of each, cut to `max_length` tokens, and whether it was cut."""
    if not texts:
        return []
    # Never with truncation=...: the tokenizer may be one that all threads share, and that sets it for them all.
    rows = tokenizer(list(texts), truncation=False, verbose=False)["input_ids"]
    return [
        (tuple(ids if len(ids) <= max_length else [*ids[: max_length - 1], ids[-1]]), len(ids) > max_length)
        for ids in rows
    ]


@dataclass(frozen=True)
class Classification:
    """A class for a sentence: pool, perhaps one dense layer with tanh, then a linear layer to C logits."""

    labels: tuple[str, ...]
    pooling: str = "mean"
    hidden: int = 0
    dropout: float = 0.1

    @classmethod
    def of(cls, labels: tuple[str, ...], settings: Settings) -> Classification:
        """The task that these settings describe."""
        return cls(labels, settings.pooling, settings.hidden, settings.dropout)

    def features(self, tokenizer: Any, examples: Sequence[Example], max_length: int) -> list[Features]:
        """[CLS] sentence [SEP], cut to `max_length` tokens."""
        rows = token_ids(tokenizer, [example.text for example in examples], max_length)
        return [Features((ids,), example.label, cut) for (ids, cut), example in zip(rows, examples, strict=True)]

    def head(self, width: int, generator: torch.Generator | None) -> nn.Module:
        """Weights from N(0, 0.02²), as BERT's own (Devlin et al.'s code: initializer_range), biases 0."""
        layers: list[nn.Module] = [SeededDropout(self.dropout)]
        if self.hidden:
            layers += [nn.Linear(width, self.hidden), nn.Tanh(), SeededDropout(self.dropout)]
        layers.append(nn.Linear(self.hidden or width, len(self.labels)))
        for layer in layers:
            if isinstance(layer, nn.Linear):
                layer.weight.data.normal_(0, 0.02, generator=generator)
                layer.bias.data.zero_()
        return nn.Sequential(*layers)

    def logits(self, head: nn.Module, hidden: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """[batch, n, d] -> [batch, C]."""
        result: torch.Tensor = head(pool(hidden, attention_mask, self.pooling))
        return result

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Cross-entropy: -log of the probability that softmax gives the right class, mean over the batch."""
        return F.cross_entropy(logits.float(), targets)

    def answers(self, logits: torch.Tensor) -> torch.Tensor:
        """Each class's probability."""
        return logits.softmax(dim=-1)

    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Accuracy."""
        return (logits.argmax(dim=-1) == targets).float().mean()

    def baseline(self, dataset: Dataset) -> tuple[str, float]:
        """The training sentences' most frequent class, and the accuracy of always answering it to the test's."""
        train, test = ([example.label for example in split] for split in (dataset.train, dataset.test))
        label, accuracy = majority(train, test, len(self.labels))
        return self.labels[label], accuracy

    def look(
        self, step: int, epoch: float, train_loss: float, loss: float, answers: Answers, targets: Sequence[int]
    ) -> Epoch:
        """With the accuracy."""
        right = [_argmax(row) == target for row, target in zip(answers, targets, strict=True)]
        return Epoch(step, epoch, train_loss, loss, sum(right) / max(1, len(right)))

    def scores(self, targets: Sequence[int], predicted: Sequence[int]) -> Scores:
        """Accuracy, macro F1, confusions."""
        return score(targets, predicted, len(self.labels))

    def outcome(self, dataset: Dataset, answers: Answers, ended: Ended) -> Result:
        """With the scores, and the mistakes, the most confident first."""
        predicted = [_argmax(row) for row in answers]
        scores = self.scores([example.label for example in dataset.test], predicted)
        wrong = [
            Mistake(example.text, example.label, guess, row)
            for example, guess, row in zip(dataset.test, predicted, answers, strict=True)
            if guess != example.label
        ]
        wrong.sort(key=lambda mistake: -mistake.probabilities[mistake.predicted])
        label, accuracy = self.baseline(dataset)
        return Result(
            labels=self.labels,
            accuracy=scores.accuracy,
            macro_f1=scores.macro_f1,
            loss=ended.loss,
            majority_label=label,
            majority_accuracy=accuracy,
            confusion=scores.confusion,
            mistakes=tuple(wrong[:MAX_MISTAKES]),
            steps=ended.steps,
            seconds=ended.seconds,
            examples_per_second=ended.examples_per_second,
            folder=ended.folder,
        )


def _argmax(row: Sequence[float]) -> int:
    return max(range(len(row)), key=row.__getitem__)
