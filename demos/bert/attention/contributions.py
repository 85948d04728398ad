"""What attention adds, in lengths: a weight times the vector it is given to, and how much of a token stays itself.

Goro Kobayashi and others (2020), Attention is Not Only a Weight, EMNLP, section 2: a head adds a_ij f(x_j) to token i,
with f(x) = W^O_h (W_V x + b_V). Kobayashi and others (2021), Incorporating Residual and Normalization Layers into
Analysis of Masked Language Models, EMNLP, section 3: with the residual connection and the LayerNorm behind it.
"""

from __future__ import annotations

import numpy as np

from demos.bert.attention.queries_keys import split_heads
from demos.bert.model.layer_weights import LayerWeights, layer_weights
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run


def value_lengths(loaded: LoadedModel, run: Run, layer: int) -> np.ndarray:
    """The length of f(x_j) of every head and token of `layer`: <float32>[H, n]."""
    transformed = _transformed(layer_weights(loaded.model, layer), run.hidden_states[layer])
    lengths: np.ndarray = np.linalg.norm(transformed, axis=-1)
    return lengths


def staying_shares(loaded: LoadedModel, run: Run, layer: int) -> np.ndarray:
    """Of each token, the share that comes from itself after attention, residual and LayerNorm of `layer`: <float>[n].

    1 - r with Kobayashi et al.'s mixing ratio r: the length of what comes from the token itself (its own attention and
    the residual), over that and the length of what comes from all others; both as LayerNorm scales them. Biases belong
    to neither.
    """
    weights, states, attention = layer_weights(loaded.model, layer), run.hidden_states[layer], run.attentions[layer]
    values = _transformed(weights, states)  # [H, n, d]
    mixed = (attention @ values).sum(axis=0)  # [n, d]
    itself = (np.diagonal(attention, axis1=1, axis2=2)[..., None] * values).sum(axis=0)
    deviation = (mixed + weights.output.bias + states).std(axis=-1, keepdims=True)

    def scaled(part: np.ndarray) -> np.ndarray:
        centred = (part - part.mean(axis=-1, keepdims=True)) / deviation * weights.attention_norm.gain
        lengths: np.ndarray = np.linalg.norm(centred, axis=-1)
        return lengths

    own, others = scaled(itself + states), scaled(mixed - itself)
    shares: np.ndarray = own / (own + others)
    return shares


def _transformed(weights: LayerWeights, states: np.ndarray) -> np.ndarray:
    """f(x) of every head: states [n, d] -> [H, n, d]."""
    values = split_heads(weights.value(states), weights.num_heads)  # [H, n, d_k]
    columns = split_heads(weights.output.weight, weights.num_heads)  # [H, d, d_k]
    transformed: np.ndarray = values @ columns.swapaxes(1, 2)
    return transformed
