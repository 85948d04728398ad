"""Positions added to the words, or concatenated with them: the same query both ways, with every matrix kept."""

from dataclasses import dataclass
from math import exp, lgamma, pi, sqrt

import numpy as np

from demos.bert.embeddings.similarity import normalised


@dataclass(frozen=True)
class AddedOrConcatenated:
    """n tokens, d wide, and one head's matrix W [d, d_k]: (w + p) W, and [w; p] times W above W (without biases)."""

    word: np.ndarray  # <float32>[n, d]
    position: np.ndarray  # <float32>[n, d]
    weight: np.ndarray  # <float32>[d, d_k]
    total: np.ndarray  # <float32>[n, d] = word + position
    beside: np.ndarray  # <float32>[n, 2d]: the word's numbers, then the position's
    stacked: np.ndarray  # <float32>[2d, d_k]: the matrix twice
    from_sum: np.ndarray  # <float32>[n, d_k]
    from_concatenation: np.ndarray  # <float32>[n, d_k]

    @property
    def difference(self) -> float:
        """The furthest that the two results lie apart: rounding alone."""
        return float(np.abs(self.from_sum - self.from_concatenation).max())


def added_or_concatenated(word: np.ndarray, position: np.ndarray, weight: np.ndarray) -> AddedOrConcatenated:
    """Both ways for words and positions [n, d] and a head's matrix [d, d_k]; nothing is normalised in between."""
    total, beside, stacked = word + position, np.hstack([word, position]), np.vstack([weight, weight])
    return AddedOrConcatenated(word, position, weight, total, beside, stacked, total @ weight, beside @ stacked)


def overlap(rows: np.ndarray, others: np.ndarray) -> float:
    """The mean size of the cosine of a row [a, d] and one of the `others` [b, d]; 0 where all are orthogonal."""
    return float(np.abs(normalised(rows) @ normalised(others).T).mean())


def mean_overlap(width: int) -> float:
    """The expected `overlap` for random directions of this width: E|cos| = Γ(d/2) / (√π Γ((d + 1)/2))."""
    return exp(lgamma(width / 2) - lgamma((width + 1) / 2)) / sqrt(pi)
