"""A run's pooling and head written in the weights of a stock transformers class, so that `pipeline` needs no code.

BertForSequenceClassification reads [CLS] through one dense layer with tanh, DistilBert's through one with ReLU, then
comes a linear layer. What a run trained is brought into that form without training, exact but for float32's rounding:

- The mean over the tokens becomes one more Transformer layer: all queries and keys are 0, so softmax is even over what
  is not padding, and the value that [CLS] takes is the mean. The layer before hands its states on 2^-30 times as large
  and the values make that good, so the residual adds nothing; two large constants of opposite sign decide each
  LayerNorm's deviation alone, so it divides by what its weight multiplies with. A coordinate left at 0 tells what it
  took off as the mean.
- A linear head without a dense layer: tanh(e x) / e is x for a small e; ReLU(x) - ReLU(-x) is x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

SMALL = 2.0**-30  # of the last layer's states where a mean is read after them; a power of two costs no digit
LARGE = 2.0**20  # the two constants
STRAIGHT = 2.0**-14  # tanh(STRAIGHT x) / STRAIGHT is x to 1e-6 for |x| up to 25
SPARE = 3  # coordinates beside those that carry numbers: one that stays 0, the two constants

State = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Names:
    """How an architecture calls its parts."""

    prefix: str  # of the encoder in a class with a head
    layers: str
    depth: str  # the configuration's field for how many layers
    dropout: str  # its field for the head's dropout
    query: str
    key: str
    value: str
    out: str
    norm: str
    inner: str
    outer: str
    last_norm: str
    dense: str  # the head's dense layer, with the prefix
    activation: str  # after that dense layer


NAMES = {
    "bert": Names(
        "bert", "encoder.layer", "num_hidden_layers", "classifier_dropout", "attention.self.query",
        "attention.self.key", "attention.self.value", "attention.output.dense", "attention.output.LayerNorm",
        "intermediate.dense", "output.dense", "output.LayerNorm", "bert.pooler.dense", "tanh",
    ),
    "distilbert": Names(
        "distilbert", "transformer.layer", "n_layers", "seq_classif_dropout", "attention.q_lin", "attention.k_lin",
        "attention.v_lin", "attention.out_lin", "sa_layer_norm", "ffn.lin1", "ffn.lin2", "output_layer_norm",
        "pre_classifier", "relu",
    ),
}  # fmt: skip


def why_not(model_type: str, width: int, pooling: str, hidden: Sequence[int], activation: str, outputs: int) -> str:
    """Why no stock class computes this head, as the end of "... because"; "" where one does.

    `pooling` is "" where the head reads each token.
    """
    if model_type not in NAMES:
        return f"transformers has no such class for {model_type}"
    names = NAMES[model_type]
    if not pooling:
        return "its class has one linear layer on each token, and this head has more" if hidden else ""
    if pooling not in ("cls", "mean"):
        return f"its class reads one vector, and the {pooling} over the tokens is none that attention can make"
    if len(hidden) > 1:
        return "its class has one dense layer before the last, and this head has more"
    if hidden and activation != names.activation:
        return f"its class has {names.activation} after the dense layer, and this head {activation}"
    needed = hidden[0] if hidden else outputs * (2 if names.activation == "relu" else 1)
    room = width - SPARE if pooling == "mean" else width
    if needed > room:
        return f"its dense layer has {room:,} numbers to give, and this head takes {needed:,}"
    return ""


def rewritten(encoder: Any, linears: Sequence[nn.Linear], pooling: str) -> tuple[State, dict[str, Any]]:
    """(the weights of the stock class for a sequence's logits, what changes in its configuration).

    `linears` are the head's one or two linear layers; `why_not` was asked before.
    """
    config = encoder.config
    names, width = NAMES[config.model_type], config.hidden_size
    state = {f"{names.prefix}.{name}": value for name, value in encoder.state_dict().items()}
    rows, changed = linears[0].weight, {}
    if pooling == "mean":
        layers = getattr(config, names.depth)
        inner = getattr(config, "intermediate_size", None) or config.hidden_dim
        _add_mean(state, f"{names.prefix}.{names.layers}", names, layers, rows, inner)
        rows = torch.zeros(len(rows), width)
        rows.fill_diagonal_(1)
        rows[:, len(linears[0].weight)] = -1  # what LayerNorm took off as the mean
        changed[names.depth] = layers + 1
    if len(linears) > 1:
        head = _padded(rows, linears[0].bias, linears[1].weight, width)
    elif names.activation == "tanh":
        head = _padded(rows * STRAIGHT, None, torch.eye(len(rows)) / STRAIGHT, width)
    else:
        both = torch.cat([torch.eye(len(rows)), -torch.eye(len(rows))], dim=1)
        head = _padded(torch.cat([rows, -rows]), None, both, width)
    state[f"{names.dense}.weight"], state[f"{names.dense}.bias"], state["classifier.weight"] = head
    state["classifier.bias"] = linears[-1].bias
    return state, changed


def _padded(
    rows: torch.Tensor, bias: torch.Tensor | None, last: torch.Tensor, width: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The dense layer's weight [d, d] and bias [d], and the last layer's weight [C, d], filled up with zeros."""
    dense, biases, classifier = torch.zeros(width, width), torch.zeros(width), torch.zeros(len(last), width)
    dense[: len(rows)] = rows
    if bias is not None:
        biases[: len(rows)] = bias
    classifier[:, : last.shape[1]] = last
    return dense, biases, classifier


def _add_mean(state: State, layers: str, names: Names, number: int, rows: torch.Tensor, inner: int) -> None:
    """One more layer, `number`, after which the first coordinates hold `rows` [r, d] times the tokens' mean."""
    count, width = rows.shape
    before = f"{layers}.{number - 1}.{names.last_norm}"
    for part in ("weight", "bias"):
        state[f"{before}.{part}"] = state[f"{before}.{part}"] * SMALL
    out, constants = torch.zeros(width, width), torch.zeros(width)
    out[:count] = rows
    constants[count + 1], constants[count + 2] = LARGE, -LARGE
    straight = torch.full((width,), LARGE * math.sqrt(2 / width))  # the deviation that LayerNorm divides by
    zeros = torch.zeros(width)
    parts = {
        names.query: (torch.zeros(width, width), zeros),
        names.key: (torch.zeros(width, width), zeros),
        names.value: (torch.eye(width) / SMALL, zeros),
        names.out: (out, constants),
        names.norm: (straight, zeros),
        names.inner: (torch.zeros(inner, width), torch.zeros(inner)),
        names.outer: (torch.zeros(width, inner), zeros),
        names.last_norm: (straight, zeros),
    }
    for name, (weight, bias) in parts.items():
        state[f"{layers}.{number}.{name}.weight"] = weight.clone()  # safetensors takes no memory that two share
        state[f"{layers}.{number}.{name}.bias"] = bias.clone()
