"""Two runs compared head by head: weights, or contributions, in the rows of their alignment, and how far apart."""

from dataclasses import dataclass

import numpy as np

from demos.bert.attention.alignment import SHOWN, Alignment, Side, align, arranged
from demos.bert.attention.contributions import Measured
from demos.bert.attention.rollout import to_words
from demos.counting import head_name, layer_name


@dataclass(frozen=True)
class Which:
    """The part of a run's attention: one head of one layer, the mean of a layer's heads, or of all (None)."""

    layer: int | None = None
    head: int | None = None  # goes for nothing without a layer

    def of(self, shares: np.ndarray) -> np.ndarray:
        """[L, A, n, n] -> [n, n]"""
        if self.layer is None:
            return shares.mean(axis=(0, 1))
        return shares[self.layer].mean(axis=0) if self.head is None else shares[self.layer, self.head]

    @property
    def name(self) -> str:
        """As the page speaks of it."""
        if self.layer is None:
            return "mean of all layers and heads"
        return f"{layer_name(self.layer)}, mean of all heads" if self.head is None else head_name(self.layer, self.head)


@dataclass(frozen=True)
class Comparison:
    """Two sides in the r rows of one alignment; cells of a word that a side lacks are nan."""

    alignment: Alignment
    left: np.ndarray  # <float64>[r, r]
    right: np.ndarray  # <float64>[r, r]
    heads: np.ndarray | None  # <float64>[L, A]: `moved` head by head; None where the sides have other numbers
    measure: str  # WEIGHT or CONTRIBUTION: what both sides hold the shares of

    @property
    def difference(self) -> np.ndarray:
        """right - left: <float64>[r, r], above 0 where the right side looks more."""
        return self.right - self.left


def compare(
    left: Measured, right: Measured, left_which: Which, right_which: Which, fold: bool, shown: int = SHOWN
) -> Comparison:
    """Compare one attention of each run by one measure, among the first `shown` tokens; `fold` as in `align`.

    By contribution, each norm is a share of its whole row (`Measured.shares`): so both sides' rows sum to 1, as weights
    do, and two models' vectors may have any length.
    """
    alignment = align(left.run.encoding, right.run.encoding, fold, shown)
    of_left, of_right = _in_units(left, alignment, "left"), _in_units(right, alignment, "right")
    same_shape = left.run.attentions.shape[:2] == right.run.attentions.shape[:2]
    return Comparison(
        alignment,
        arranged(left_which.of(of_left), alignment, "left"),
        arranged(right_which.of(of_right), alignment, "right"),
        moved(arranged(of_left, alignment, "left"), arranged(of_right, alignment, "right")) if same_shape else None,
        left.measure,
    )


def moved(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The share of attention that lies elsewhere on the right, [..., r, r] twice -> [...]: 0 none, 1 all of it.

    The total variation distance of two rows, 1/2 sum_j |p_j - q_j|, on average over the rows that both sides have (Jain
    and Wallace 2019 take it of a model's outputs, here it is of attention). A word that one side lacks has weight 0
    there, and what a row gives beyond the picture counts as one word more. nan where no row is shared.
    """
    shared = np.isfinite(left).any(axis=-1) & np.isfinite(right).any(axis=-1)  # [..., r]
    rows = np.abs(_whole(left) - _whole(right)).sum(axis=-1) / 2  # [..., r]
    count = shared.sum(axis=-1)
    return np.where(count > 0, np.where(shared, rows, 0).sum(axis=-1) / np.maximum(count, 1), np.nan)


def _in_units(by: Measured, alignment: Alignment, side: Side) -> np.ndarray:
    """A run's shares between one side's units, cut where the picture ends: <float64>[L, A, u, u]"""
    units = alignment.left if side == "left" else alignment.right
    end = 1 + units[-1].tokens[-1]
    shares = np.stack([by.shares(layer)[:, :end, :end] for layer in range(by.run.num_layers)]).astype(np.float64)
    if not alignment.by_word:
        return shares
    return to_words(shares, [unit.tokens[0] for unit in units])


def _whole(weights: np.ndarray) -> np.ndarray:
    """Rows with 0 for nan, and one more entry for what they lack to 1: [..., r, r] -> [..., r, r + 1]"""
    filled = np.nan_to_num(weights)
    rest = np.clip(1 - filled.sum(axis=-1, keepdims=True), 0, None)
    return np.concatenate([filled, rest], axis=-1)
