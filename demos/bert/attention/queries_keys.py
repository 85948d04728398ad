"""A head from the inside: its queries and keys, their scaled dot products, and the softmax that makes weights."""

from dataclasses import dataclass

import numpy as np

from demos.bert.encoder.norm_and_feed_forward import layer_norm
from demos.bert.encoder.rotary import rotated
from demos.bert.model.layer_numbers import layer_index
from demos.bert.model.layer_weights import HeadWeights, head_weights
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run
from demos.errors import UserError


@dataclass(frozen=True)
class QueriesKeys:
    """The queries and keys of one layer's heads: `queries` and `keys`, each <float32>[A, n, d_k]."""

    queries: np.ndarray
    keys: np.ndarray


def check_layer(layer: float, num_layers: int) -> int:
    """`layer` as an index into transformers' `attentions`, 0..L-1; negative ones count from the end, as in Python.

    Raises UserError for what is no whole number or lies outside.
    """
    return layer_index(layer, num_layers, f"the model's attention has layers 0 to {num_layers - 1}")


def check_head(head: float, num_heads: int) -> int:
    """`head` as an index, 0..A-1. Raises UserError for what is no whole number or lies outside."""
    if isinstance(head, bool) or head not in range(num_heads):
        raise UserError(f"There is no head {str(head)[:20]!r} here; the model has heads 0 to {num_heads - 1}.")
    return int(head)


def queries_and_keys(loaded: LoadedModel, run: Run, layer: int) -> QueriesKeys:
    """q = x W_Q + b_Q and k = x W_K + b_K of every token, head by head, from the states that enter `layer`.

    Vaswani et al. 2017, section 3.2.2. hidden_states[layer] is what layer `layer` reads: index 0 holds the embeddings.
    ModernBERT's x is the LayerNorm of that state, and q and k are rotated by the token's position.
    """
    weights = head_weights(loaded.model, layer)
    read, base = read_by(weights, run.hidden_states[layer]), weights.rotary_base
    both = [split_heads(linear(read), run.num_heads) for linear in (weights.query, weights.key)]
    if base is not None:
        both = [rotated(vectors, np.arange(len(read)), base).astype(np.float32) for vectors in both]
    return QueriesKeys(*both)


def read_by(weights: HeadWeights, states: np.ndarray) -> np.ndarray:
    """The vectors that W_Q, W_K and W_V are applied to, of the states that enter the layer: [n, d] -> [n, d]."""
    return states if weights.before is None else layer_norm(weights.before, states).result


def scaled_dot_products(queries: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """q . k / sqrt(d_k) for every two tokens: [..., n, d_k] twice -> [..., n, n] (Vaswani et al. 2017, eq. 1)."""
    return queries @ np.swapaxes(keys, -1, -2) / np.sqrt(queries.shape[-1])


def split_heads(vectors: np.ndarray, num_heads: int) -> np.ndarray:
    """[n, A * d_k] -> [A, n, d_k]"""
    return np.ascontiguousarray(vectors.reshape(len(vectors), num_heads, -1).swapaxes(0, 1))
