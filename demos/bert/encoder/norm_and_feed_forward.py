"""The rest of an encoder layer with every step kept: residual, LayerNorm, feed-forward, residual, LayerNorm."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from demos.bert.model.layer_weights import LayerWeights, Norm
from demos.errors import UserError


@dataclass(frozen=True)
class NormLedger:
    """LayerNorm of each token's d numbers, step by step (Ba, Kiros and Hinton 2016, section 3)."""

    mean: np.ndarray  # <float32>[n]
    deviation: np.ndarray  # <float32>[n]: sqrt(mean squared distance from the mean + epsilon), over d and not d - 1
    normalised: np.ndarray  # <float32>[n, d] = (x - mean) / deviation
    gain: np.ndarray  # <float32>[d]
    offset: np.ndarray  # <float32>[d]
    result: np.ndarray  # <float32>[n, d] = gain * normalised + offset


@dataclass(frozen=True)
class BlockLedger:
    """The lecture's six equations. The feed-forward is f wide inside (BERT: f = 4d).

    Devlin et al. 2019, section 3; Vaswani et al. 2017, sections 3.1 and 3.3.
    """

    x: np.ndarray  # <float32>[n, d]
    t1: np.ndarray  # <float32>[n, d] = MultiHead(x)
    t2: np.ndarray  # <float32>[n, d] = x + T1
    norm3: NormLedger  # its result is T3 = LayerNorm(T2)
    inner: np.ndarray  # <float32>[n, f] = T3 W_1 + b_1
    active: np.ndarray  # <float32>[n, f] = GELU(inner)
    t4: np.ndarray  # <float32>[n, d] = active W_2 + b_2
    t5: np.ndarray  # <float32>[n, d] = T3 + T4
    norm_out: NormLedger  # its result is H = LayerNorm(T5)

    @property
    def t3(self) -> np.ndarray:
        return self.norm3.result

    @property
    def h(self) -> np.ndarray:
        return self.norm_out.result


def layer_norm(norm: Norm, x: np.ndarray) -> NormLedger:
    """The steps of LayerNorm over the last axis of x [n, d]; added up in float64."""
    wide = x.astype(np.float64)
    mean = wide.mean(axis=-1, keepdims=True)
    deviation = np.sqrt(((wide - mean) ** 2).mean(axis=-1, keepdims=True) + norm.epsilon)
    normalised = (wide - mean) / deviation
    result = norm.gain * normalised + norm.offset
    means, deviations, normalised, result = (
        part.astype(np.float32) for part in (mean[..., 0], deviation[..., 0], normalised, result)
    )
    return NormLedger(means, deviations, normalised, norm.gain, norm.offset, result)


def gelu(x: np.ndarray) -> np.ndarray:
    """x times the chance that a standard normal number lies below x: x (1 + erf(x / sqrt 2)) / 2.

    Hendrycks and Gimpel 2016, section 2: the exact form, which BERT uses, and not its approximation by tanh.
    """
    return (x * ndtr(x.astype(np.float64))).astype(x.dtype)


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    """GELU's approximation x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2, of Google's first code and of GPT-2."""
    wide = x.astype(np.float64)
    below = np.tanh(np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3))
    return (0.5 * wide * (1.0 + below)).astype(x.dtype)


def relu(x: np.ndarray) -> np.ndarray:
    """max(x, 0), of the original Transformer (Vaswani et al. 2017, section 3.3)."""
    return np.maximum(x, 0)


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "gelu": gelu,
    "gelu_new": gelu_tanh,
    "gelu_pytorch_tanh": gelu_tanh,
    "relu": relu,
}


def activation(name: str) -> Callable[[np.ndarray], np.ndarray]:
    """The function between W_1 and W_2. Raises UserError for one that no BERT we know of uses."""
    if name not in ACTIVATIONS:
        raise UserError(f"This model's feed-forward network uses {name[:40]!r}, which is not supported here.")
    return ACTIVATIONS[name]


def complete(weights: LayerWeights, x: np.ndarray, t1: np.ndarray) -> BlockLedger:
    """From x and T1 = MultiHead(x), both [n, d], to the layer's output H. Raises UserError as `activation` does."""
    act = activation(weights.activation)
    t2 = x + t1
    norm3 = layer_norm(weights.attention_norm, t2)
    inner = weights.inner(norm3.result)
    active = act(inner)
    t4 = weights.outer(active)
    t5 = norm3.result + t4
    return BlockLedger(x, t1, t2, norm3, inner, active, t4, t5, layer_norm(weights.output_norm, t5))
