"""Rotary positions (Su et al. 2021): each pair of components of a query or key is rotated by position x frequency."""

import numpy as np

from demos.bert.encoder.position import divisors

BASE = 10_000.0  # of the frequencies, as in the original paper; ModernBERT has 160,000 in its global layers


def frequencies(width: int, base: float = BASE) -> np.ndarray:
    """<float64>[width / 2]: the angle, in radians, by which one position turns each pair of components."""
    return 1 / divisors(width, base)


def rotated(vectors: np.ndarray, position: float | np.ndarray, base: float = BASE) -> np.ndarray:
    """[width], or [..., n, width] with n positions -> <float64> of the same shape.

    Component i and component i + width / 2 are a pair, as in transformers.
    """
    first, second = np.split(np.asarray(vectors, np.float64), 2, axis=-1)
    angles = np.multiply.outer(position, frequencies(vectors.shape[-1], base))
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, second * cos + first * sin], axis=-1)
