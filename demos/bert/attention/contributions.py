"""The lengths of attention's contributions, weight times transformed value, and each token's share from itself.

Goro Kobayashi and others (2020), Attention is Not Only a Weight, EMNLP, section 2: a head adds alpha_ij f(x_j) to token
i, with f(x) = (x W_V + b_V) W_O of head h. Kobayashi and others (2021), Incorporating Residual and Normalization Layers
into Analysis of Masked Language Models, EMNLP, section 3: with the residual connection and the LayerNorm behind it.
In ModernBERT the LayerNorm is before attention: there x_j is its output, and nothing is scaled behind the residual.
"""

from dataclasses import dataclass

import numpy as np

from demos.bert.attention.patterns import pattern_scores
from demos.bert.attention.queries_keys import read_by, split_heads
from demos.bert.model.layer_weights import HeadWeights, head_weights
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run

WEIGHT, CONTRIBUTION = "weight", "contribution"  # the two measures of attention


@dataclass(frozen=True)
class Contributions:
    """The vectors that the heads of one layer add to token i: alpha_ij f(x_j), summed over j and the heads."""

    transformed: np.ndarray  # <float32>[A, n, d]: f(x_j) = (x_j W_V + b_V) W_O of head h
    lengths: np.ndarray  # <float32>[A, n]: |f(x_j)|
    norms: np.ndarray  # <float32>[A, n, n]: |alpha_ij f(x_j)| = alpha_ij |f(x_j)|
    added: np.ndarray  # <float32>[n, d]: the sum over h and j of alpha_ij f(x_j), and b_O: attention's output


def contributions(loaded: LoadedModel, run: Run, layer: int) -> Contributions:
    """Every step from the states that enter `layer` to what its attention adds to each token."""
    weights, attention = head_weights(loaded.model, layer), run.attentions[layer]
    transformed = _transformed(weights, run.hidden_states[layer])
    lengths = np.linalg.norm(transformed, axis=-1)
    added = (attention @ transformed).sum(axis=0) + weights.output.bias
    return Contributions(transformed, lengths, attention * lengths[:, None, :], added)


@dataclass(frozen=True)
class Measured:
    """A run's attention by one of two measures: the weights, or with `lengths` <float32>[L, A, n] the contributions.

    It is worked out a layer at a time: of long inputs in large models, all layers at once are half a gigabyte.
    """

    run: Run
    lengths: np.ndarray | None = None

    @property
    def measure(self) -> str:
        return WEIGHT if self.lengths is None else CONTRIBUTION

    def amounts(self, layer: int) -> np.ndarray:
        """The weights alpha_ij of `layer`, or the norms |alpha_ij f(x_j)|: <float32>[A, n, n]."""
        weights: np.ndarray = self.run.attentions[layer]
        return weights if self.lengths is None else weights * self.lengths[layer][:, None, :]

    def shares(self, layer: int) -> np.ndarray:
        """The same with rows that sum to 1; weights do so, norms are divided by the sum of their row."""
        amounts = self.amounts(layer)
        if self.lengths is None:
            return amounts
        sums = amounts.sum(axis=-1, keepdims=True)
        return amounts / np.maximum(sums, np.finfo(sums.dtype).tiny)

    def scores(self) -> dict[str, np.ndarray]:
        """Each pattern's score of every head (`pattern_scores`), by the shares: <float64>[L, A] by its name."""
        encoding, layers = self.run.encoding, range(self.run.num_layers)
        if self.lengths is None:
            return pattern_scores(self.run.attentions, encoding)
        by_layer = [pattern_scores(self.shares(layer)[None], encoding) for layer in layers]
        return {name: np.concatenate([scores[name] for scores in by_layer]) for name in by_layer[0]}


def measured(loaded: LoadedModel, run: Run, measure: str) -> Measured:
    """The run by `measure`; anything but "contribution" means the weights."""
    if measure != CONTRIBUTION:
        return Measured(run)
    return Measured(run, np.stack([value_lengths(loaded, run, layer) for layer in range(run.num_layers)]))


def value_lengths(loaded: LoadedModel, run: Run, layer: int) -> np.ndarray:
    """The length of f(x_j) of every head and token of `layer`: <float32>[A, n]."""
    transformed = _transformed(head_weights(loaded.model, layer), run.hidden_states[layer])
    return np.linalg.norm(transformed, axis=-1)


def staying_shares(loaded: LoadedModel, run: Run, layer: int) -> np.ndarray:
    """The share of each token that comes from itself after attention, residual and LayerNorm of `layer`: <float>[n].

    1 - r with Kobayashi et al.'s mixing ratio r: the length of what comes from the token itself (its own attention and
    the residual), over that and the length of what comes from all others; both as LayerNorm scales them. Biases belong
    to neither.
    """
    weights, states, attention = head_weights(loaded.model, layer), run.hidden_states[layer], run.attentions[layer]
    values = _values(weights, states)
    mixed = _projected(weights, attention @ values)
    itself = _projected(weights, np.diagonal(attention, axis1=1, axis2=2)[..., None] * values)
    deviation = _deviation(weights, mixed, states)
    own, others = (
        np.linalg.norm(_scaled(weights, part), axis=-1) / deviation for part in (itself + states, mixed - itself)
    )
    return own / (own + others)


def added_norms(loaded: LoadedModel, run: Run, layer: int) -> np.ndarray:
    """The length of the vector that token j adds to token i through all heads, behind LayerNorm: <float64>[n, n].

    |g_i(sum_h alpha_ij f_h(x_j))| with g_i(v) = gain * (v - mean v) / deviation_i, LayerNorm's linear part (Kobayashi
    et al. 2021, section 3). Neither the residual nor a bias is in it. The n * n vectors, of d numbers each, are never
    written down: |sum_h a_h u_h|^2 = sum_hk a_h a_k (u_h . u_k), and u_h . u_k depends on token j alone.
    """
    weights, states, attention = head_weights(loaded.model, layer), run.hidden_states[layer], run.attentions[layer]
    transformed = _transformed(weights, states)  # [A, n, d]
    scaled = _scaled(weights, transformed.astype(np.float64)).swapaxes(0, 1)  # [n, A, d]
    products = scaled @ scaled.swapaxes(1, 2)  # u_h . u_k of each token: [n, A, A]
    by_key = attention.astype(np.float64).transpose(2, 1, 0)  # alpha_ij by key, query, head: [n, n, A]
    squares = ((by_key @ products) * by_key).sum(axis=-1)  # [n, n], a row a key
    mixed = _projected(weights, attention @ _values(weights, states))
    return np.sqrt(np.maximum(squares.T, 0)) / _deviation(weights, mixed, states)[:, None]


def _values(weights: HeadWeights, states: np.ndarray) -> np.ndarray:
    """The values of every head, of the states that enter the layer: [n, d] -> [A, n, d_k]."""
    return split_heads(weights.value(read_by(weights, states)), weights.num_heads)


def _projected(weights: HeadWeights, heads: np.ndarray) -> np.ndarray:
    """The product of all heads with W_O, without its bias: [A, n, d_k] -> [n, d]."""
    return heads.swapaxes(0, 1).reshape(heads.shape[1], -1) @ weights.output.weight.T


def _deviation(weights: HeadWeights, mixed: np.ndarray, states: np.ndarray) -> np.ndarray:
    """The divisor of LayerNorm for each token, [n]; `mixed` [n, d] is attention's output without its bias.

    Ones where no LayerNorm is behind attention.
    """
    if weights.behind is None:
        return np.ones(len(states), states.dtype)
    return np.sqrt((mixed + weights.output.bias + states).var(axis=-1) + weights.behind.epsilon)


def _scaled(weights: HeadWeights, parts: np.ndarray) -> np.ndarray:
    """LayerNorm's linear part before the division by the deviation: [..., d] -> [..., d]."""
    if weights.behind is None:
        return parts
    return (parts - parts.mean(axis=-1, keepdims=True)) * weights.behind.gain


def _transformed(weights: HeadWeights, states: np.ndarray) -> np.ndarray:
    """f(x) of every head: states [n, d] -> [A, n, d]."""
    values = _values(weights, states)  # [A, n, d_k]
    columns = weights.output.weight.reshape(states.shape[-1], weights.num_heads, -1)  # [d, A, d_k]; a view
    return values @ columns.transpose(1, 2, 0)
