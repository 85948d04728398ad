"""The place of each architecture's layers; one layer's weights as numpy arrays, under the same names for all."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Linear:
    """y = x W + b; torch stores W transposed, [outputs, inputs]."""

    weight: np.ndarray  # <float32>[out, in]
    bias: np.ndarray  # <float32>[out]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """[n, in] -> [n, out]"""
        y: np.ndarray = x @ self.weight.T + self.bias
        return y


@dataclass(frozen=True)
class Norm:
    """The learned parameters of LayerNorm: a gain and an offset for each of the d dimensions."""

    gain: np.ndarray  # <float32>[d], gamma; torch calls it weight
    offset: np.ndarray  # <float32>[d], beta; torch calls it bias
    epsilon: float  # keeps the division from zero; BERT's is 1e-12


@dataclass(frozen=True)
class LayerWeights:
    """All that one layer has learnt; d wide, A heads of d_k = d / A, feed-forward f wide (BERT: f = 4d)."""

    query: Linear  # W_Q [d, d]: as stored, head h owns its rows h * d_k to (h + 1) * d_k
    key: Linear
    value: Linear
    output: Linear  # W_O [d, d]: as stored, head h owns its columns h * d_k to (h + 1) * d_k
    attention_norm: Norm
    inner: Linear  # W_1 [f, d], as stored
    outer: Linear  # W_2 [d, f], as stored
    output_norm: Norm
    activation: str  # transformers' name of the function between W_1 and W_2; "gelu" in every published BERT
    num_heads: int


# Where each architecture of transformers keeps the parts of a layer, by the names of `LayerWeights`.
_BERT = {
    "query": "attention.self.query", "key": "attention.self.key", "value": "attention.self.value",
    "output": "attention.output.dense", "attention_norm": "attention.output.LayerNorm",
    "inner": "intermediate.dense", "outer": "output.dense", "output_norm": "output.LayerNorm",
}  # fmt: skip
PARTS = {
    "bert": _BERT,
    "electra": _BERT,
    "roberta": _BERT,
    "xlm-roberta": _BERT,
    "distilbert": {
        "query": "attention.q_lin", "key": "attention.k_lin", "value": "attention.v_lin",
        "output": "attention.out_lin", "attention_norm": "sa_layer_norm",
        "inner": "ffn.lin1", "outer": "ffn.lin2", "output_norm": "output_layer_norm",
    },
    "albert": {
        "query": "attention.query", "key": "attention.key", "value": "attention.value",
        "output": "attention.dense", "attention_norm": "attention.LayerNorm",
        "inner": "ffn", "outer": "ffn_output", "output_norm": "full_layer_layer_norm",
    },
}  # fmt: skip
# The list of a model's layers, as a program writes it; ALBERT has one layer, which it applies again and again.
LAYERS = dict.fromkeys(PARTS, "model.encoder.layer") | {
    "distilbert": "model.transformer.layer",
    "albert": "(model.config.num_hidden_layers * [model.encoder.albert_layer_groups[0].albert_layers[0]])",
}


def layer_of(model: Any, layer: int) -> Any:
    """The module of encoder layer `layer`, wherever this architecture keeps it."""
    if hasattr(model, "transformer"):
        return model.transformer.layer[layer]
    shared = getattr(model.encoder, "albert_layer_groups", None)
    return model.encoder.layer[layer] if shared is None else shared[0].albert_layers[0]


def _architecture(module: Any) -> str:
    """The name in PARTS of a layer's kind."""
    marks = {"sa_layer_norm": "distilbert", "full_layer_layer_norm": "albert"}
    return next((name for mark, name in marks.items() if hasattr(module, mark)), "bert")


def activation_of(module: Any) -> Any:
    """The function between W_1 and W_2 of a layer."""
    path = {"bert": "intermediate.intermediate_act_fn", "distilbert": "ffn.activation", "albert": "activation"}
    return attrgetter(path[_architecture(module)])(module)


def layer_parts(module: Any) -> dict[str, Any]:
    """A layer's submodules by the names of `LayerWeights`: each architecture has its own."""
    return {name: attrgetter(path)(module) for name, path in PARTS[_architecture(module)].items()}


def layer_weights(model: Any, layer: int) -> LayerWeights:
    """The weights of encoder layer `layer` (0 is the first); nothing is copied where they are float32 on the CPU."""
    config = model.config
    weights: dict[str, Any] = {}
    for name, part in layer_parts(layer_of(model, layer)).items():
        weight, bias = (parameter.detach().cpu().float().numpy() for parameter in (part.weight, part.bias))
        weights[name] = Norm(weight, bias, float(part.eps)) if name.endswith("norm") else Linear(weight, bias)
    activation = getattr(config, "hidden_act", None) or config.activation  # DistilBERT says `activation`
    return LayerWeights(**weights, activation=str(activation), num_heads=config.num_attention_heads)
