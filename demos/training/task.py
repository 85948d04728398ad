"""What a task is to the loop, and the first one: a class for a single sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import torch
import torch.nn.functional as F
from torch import nn

from demos.training.data import Example
from demos.training.metrics import Scores, score
from demos.training.settings import Settings


@dataclass(frozen=True)
class Features:
    """One example as the model takes it."""

    input_ids: tuple[int, ...]  # [CLS] … [SEP]
    target: int
    cut: bool  # tokens fell off at max_length


class Task(Protocol):
    """What the loop asks of a task, a frozen dataclass; everything else is the same for all tasks."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes' names, by their index."""

    def features(self, tokenizer: Any, examples: Sequence[Example], max_length: int) -> list[Features]:
        """How examples become tokens."""

    def head(self, width: int, generator: torch.Generator) -> nn.Module:
        """Which layers sit on an encoder of this width, freshly initialised from `generator`."""

    def logits(self, head: nn.Module, hidden: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """From the last hidden states [batch, n, d] to logits [batch, C]."""

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """What training makes small: a mean over the batch."""

    def scores(self, targets: Sequence[int], predicted: Sequence[int]) -> Scores:
        """How good predictions are."""


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
        if not examples:
            return []
        texts = [example.text for example in examples]
        # Never with truncation=...: the tokenizer may be one that all threads share, and that sets it for them all.
        rows = tokenizer(texts, truncation=False, verbose=False)["input_ids"]
        return [
            Features(
                tuple(ids if len(ids) <= max_length else [*ids[: max_length - 1], ids[-1]]),
                example.label,
                len(ids) > max_length,
            )
            for ids, example in zip(rows, examples, strict=True)
        ]

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

    def scores(self, targets: Sequence[int], predicted: Sequence[int]) -> Scores:
        """Accuracy, macro F1, confusions."""
        return score(targets, predicted, len(self.labels))
