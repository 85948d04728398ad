"""A head from the inside: its queries and keys, their scaled dot products, and the softmax that makes weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from demos.bert.model.layer_numbers import layer_index
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run


@dataclass(frozen=True)
class QueriesKeys:
    """What one layer's heads compare: `queries` and `keys`, each <float32>[H, n, d_k]."""

    queries: np.ndarray
    keys: np.ndarray


def check_layer(layer: float, num_layers: int) -> int:
    """`layer` as an index into transformers' `attentions`, 0..L-1; negative ones count from the end, as in Python.

    Raises UserError for what is no whole number or lies outside.
    """
    return layer_index(layer, num_layers, f"the model's attention has layers 0 to {num_layers - 1}")


def queries_and_keys(loaded: LoadedModel, run: Run, layer: int) -> QueriesKeys:
    """q = W_q x + b_q and k = W_k x + b_k of every token, head by head, from the states that enter `layer`.

    Vaswani et al. 2017, section 3.2.2. hidden_states[layer] is what layer `layer` reads: index 0 holds the embeddings.
    """
    states = run.hidden_states[layer]  # [n, d]
    query, key = _projections(loaded.model, layer)
    return QueriesKeys(
        _split_heads(_apply(query, states), run.num_heads), _split_heads(_apply(key, states), run.num_heads)
    )


def scaled_dot_products(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """q . k / sqrt(d_k) for every two tokens: [..., n, d_k] twice -> [..., n, n] (Vaswani et al. 2017, eq. 1)."""
    return queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1])


def softmax(scores: np.ndarray) -> np.ndarray:
    """exp(s) / sum exp(s) over the last axis."""
    weights: np.ndarray = special.softmax(scores, axis=-1)
    return weights


def _projections(model: Any, layer: int) -> tuple[Any, Any]:
    """The two linear maps of a layer, wherever this architecture keeps them."""
    if hasattr(model, "transformer"):  # DistilBERT
        attention = model.transformer.layer[layer].attention
        return attention.q_lin, attention.k_lin
    attention = model.encoder.layer[layer].attention.self
    return attention.query, attention.key


def _apply(linear: Any, states: np.ndarray) -> np.ndarray:
    weight, bias = (tensor.detach().cpu().float().numpy() for tensor in (linear.weight, linear.bias))
    return states @ weight.T + bias  # [n, d]


def _split_heads(vectors: np.ndarray, num_heads: int) -> np.ndarray:
    """[n, H * d_k] -> [H, n, d_k]"""
    return np.ascontiguousarray(vectors.reshape(len(vectors), num_heads, -1).swapaxes(0, 1))
