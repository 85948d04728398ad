"""One encoder layer's weights as numpy arrays, under the same names for BERT and DistilBERT."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Linear:
    """y = W x + b, as torch keeps it."""

    weight: np.ndarray  # <float32>[out, in]
    bias: np.ndarray  # <float32>[out]

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """[n, in] -> [n, out]"""
        y: np.ndarray = x @ self.weight.T + self.bias
        return y


@dataclass(frozen=True)
class Norm:
    """What LayerNorm has learnt: a gain and an offset for each of the d numbers."""

    gain: np.ndarray  # <float32>[d], gamma; torch calls it weight
    offset: np.ndarray  # <float32>[d], beta; torch calls it bias
    epsilon: float  # keeps the division from zero; BERT's is 1e-12


@dataclass(frozen=True)
class LayerWeights:
    """All that one layer has learnt; d wide, H heads of d_k = d / H, feed-forward m wide (BERT: m = 4d)."""

    query: Linear  # W_Q [d, d]: head h owns its rows h * d_k to (h + 1) * d_k
    key: Linear
    value: Linear
    output: Linear  # W^O [d, d]: head h owns its columns h * d_k to (h + 1) * d_k
    attention_norm: Norm
    inner: Linear  # W_1 [m, d]
    outer: Linear  # W_2 [d, m]
    output_norm: Norm
    activation: str  # transformers' name of the function between W_1 and W_2; "gelu" in every published BERT
    num_heads: int


def layer_of(model: Any, layer: int) -> Any:
    """The module of encoder layer `layer`, wherever this architecture keeps it."""
    return model.transformer.layer[layer] if hasattr(model, "transformer") else model.encoder.layer[layer]


def layer_parts(module: Any) -> dict[str, Any]:
    """A layer's submodules by the names of `LayerWeights`: BERT's and DistilBERT's own names differ."""
    if hasattr(module, "sa_layer_norm"):  # DistilBERT
        attention, forward = module.attention, module.ffn
        return {
            "query": attention.q_lin,
            "key": attention.k_lin,
            "value": attention.v_lin,
            "output": attention.out_lin,
            "attention_norm": module.sa_layer_norm,
            "inner": forward.lin1,
            "outer": forward.lin2,
            "output_norm": module.output_layer_norm,
        }
    attention = module.attention
    return {
        "query": attention.self.query,
        "key": attention.self.key,
        "value": attention.self.value,
        "output": attention.output.dense,
        "attention_norm": attention.output.LayerNorm,
        "inner": module.intermediate.dense,
        "outer": module.output.dense,
        "output_norm": module.output.LayerNorm,
    }


def layer_weights(model: Any, layer: int) -> LayerWeights:
    """The weights of encoder layer `layer` (0 is the first); nothing is copied where they are float32 on the CPU."""
    config = model.config
    parts = layer_parts(layer_of(model, layer))

    def linear(name: str) -> Linear:
        return Linear(_array(parts[name].weight), _array(parts[name].bias))

    def norm(name: str) -> Norm:
        return Norm(_array(parts[name].weight), _array(parts[name].bias), float(parts[name].eps))

    return LayerWeights(
        query=linear("query"),
        key=linear("key"),
        value=linear("value"),
        output=linear("output"),
        attention_norm=norm("attention_norm"),
        inner=linear("inner"),
        outer=linear("outer"),
        output_norm=norm("output_norm"),
        activation=str(getattr(config, "hidden_act", None) or config.activation),  # DistilBERT says `activation`
        num_heads=config.num_attention_heads,
    )


def _array(tensor: Any) -> np.ndarray:
    array: np.ndarray = tensor.detach().cpu().float().numpy()
    return array
