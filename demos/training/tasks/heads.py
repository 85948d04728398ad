"""The layers on top of the encoder: dropout, perhaps dense layers with an activation, a last linear layer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import nn

from demos.training.tasks.task import SeededDropout

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
