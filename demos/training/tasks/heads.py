"""The layers on top of the encoder (dropout, perhaps dense layers, a last linear layer) and their cross-entropy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Self, TypedDict

import torch
import torch.nn.functional as F
from torch import nn

from demos.training.settings import Settings
from demos.training.tasks.task import NO_LABEL, SeededDropout, Task, pool

ACTIVATIONS: dict[str, type[nn.Module]] = {"tanh": nn.Tanh, "relu": nn.ReLU, "gelu": nn.GELU}


def dense_head(
    width: int, hidden: Sequence[int], activation: str, dropout: float, outputs: int, generator: torch.Generator | None
) -> nn.Sequential:
    """width -> each of `hidden` -> outputs, dropout before each linear layer; applies to any [..., width].

    Weights from N(0, 0.02²), as BERT's own (Devlin et al.'s code: initializer_range), biases 0.
    """
    widths = [width, *hidden, outputs]
    layers: list[nn.Module] = []
    for number, (before, after) in enumerate(pairwise(widths)):
        if number:
            layers.append(ACTIVATIONS[activation]())
        linear = nn.Linear(before, after)
        linear.weight.data.normal_(0, 0.02, generator=generator)
        linear.bias.data.zero_()
        layers += [SeededDropout(dropout), linear]
    return nn.Sequential(*layers)


def head_parameters(width: int, hidden: Sequence[int], outputs: int) -> int:
    """Weights and biases of `dense_head`."""
    return sum(before * after + after for before, after in pairwise([width, *hidden, outputs]))


def loss_of(logits: torch.Tensor, targets: torch.Tensor, weights: Sequence[float] = ()) -> torch.Tensor:
    """The mean cross-entropy of logits [..., C] against targets [...], those that are NO_LABEL left out.

    `weights`, one a class, make it a weighted mean.
    """
    return F.cross_entropy(
        logits.float().flatten(0, -2),
        targets.flatten(),
        weight=torch.tensor(weights, device=logits.device) if weights else None,
        ignore_index=NO_LABEL,
    )


def units_of(targets: torch.Tensor, weights: Sequence[float] = ()) -> float:
    """The divisor of `loss_of`, so that batches' means add up to the mean over all: labels, or their weights."""
    labels = targets[targets != NO_LABEL]
    return float(torch.tensor(weights, device=labels.device)[labels].sum()) if weights else float(len(labels))


def class_weights(counts: Sequence[int]) -> tuple[float, ...]:
    """N / (C n) for a class that occurs n times among N: each class weighs alike in all (King and Zeng 2001).

    This is scikit-learn's "balanced".
    """
    return tuple(sum(counts) / (len(counts) * max(1, count)) for count in counts)


class HeadFields(TypedDict):
    hidden: tuple[int, ...]
    dropout: float
    weights: tuple[float, ...]


def head_fields(settings: Settings, class_counts: Sequence[int] = ()) -> HeadFields:
    """The fields of a `HeadTask` that these settings describe; weights only where classes are counted and weighed."""
    weights = class_weights(class_counts) if settings.class_weights and class_counts else ()
    return {"hidden": settings.hidden, "dropout": settings.dropout, "weights": weights}


@dataclass(frozen=True, kw_only=True)
class HeadTask(Task):
    """A task with additional layers on the encoder, trained by cross-entropy."""

    hidden: tuple[int, ...] = ()
    dropout: float = 0.1
    activation: str = "tanh"
    weights: tuple[float, ...] = ()  # of the classes in the loss; none where all count alike

    @property
    def outputs(self) -> int:
        """The number of outputs of the last layer: one logit for each class."""
        return len(self.labels)

    def head(self, width: int, generator: torch.Generator | None) -> nn.Module:
        """See `dense_head`."""
        return dense_head(width, self.hidden, self.activation, self.dropout, self.outputs, generator)

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Cross-entropy: -ln of the probability that softmax gives to the correct label, mean over all labels."""
        return loss_of(logits, targets, self.weights)

    def units(self, targets: torch.Tensor) -> float:
        """The number of labels, or the sum of their weights."""
        return units_of(targets, self.weights)


@dataclass(frozen=True, kw_only=True)
class PooledTask(HeadTask):
    """A task whose layers read one vector a sequence, or all of its vectors, one after another."""

    pooling: str = "mean"
    positions: int = 0  # tokens that a sequence is padded to where nothing is pooled

    def fitted(self, longest: int) -> Self:
        """Without pooling, the head has weights for each position of the longest sequence."""
        return replace(self, positions=longest) if self.pooling == "none" else self

    def head(self, width: int, generator: torch.Generator | None) -> nn.Module:
        """See `dense_head`: over one vector, or over all positions' vectors, one after another."""
        read = width * max(1, self.positions)
        return dense_head(read, self.hidden, self.activation, self.dropout, self.outputs, generator)

    def pooled(self, hidden: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        """The head's input from each sequence: see `pool`."""
        return pool(hidden, attention_mask, self.pooling, self.positions)
