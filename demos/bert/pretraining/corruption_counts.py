"""Many corruptions of one text: how often each kind and each token came up, and whether chance explains the gap."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.stats import chi2, chisquare

from demos.bert.pretraining.corruption import MASK, RANDOM, SAME, Corruption, Shares


@dataclass(frozen=True)
class Fit:
    """Pearson's chi-square test: the distance of counts from the expected ones."""

    statistic: float
    freedom: int  # degrees of freedom
    p: float  # how often chance alone gives a gap as large, if the shares are what they should be


@dataclass(frozen=True)
class Draws:
    """The kinds of all n tokens in each of N draws."""

    kinds: np.ndarray  # <int8>[N, n]
    free: np.ndarray  # <bool>[n]: whether a token may be chosen

    @cached_property
    def counts(self) -> np.ndarray:
        """The numbers of tokens that were masked, replaced and kept up to each draw: <int64>[N, 3]."""
        return np.stack([(self.kinds == kind).sum(axis=1) for kind in (MASK, RANDOM, SAME)], axis=1).cumsum(axis=0)

    @property
    def running(self) -> np.ndarray:
        """The share of each kind among all tokens chosen up to each draw: <float64>[N, 3]; rows sum to 1."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    @property
    def chosen(self) -> np.ndarray:
        """The number of times that each token was chosen: <int64>[n]."""
        return (self.kinds > 0).sum(axis=0)


def draw_many(draw: Callable[[], Corruption], special: Sequence[int], count: int) -> Draws:
    """`count` corruptions of one input, which `draw` makes one by one."""
    return Draws(np.stack([draw().kinds for _ in range(count)]), ~np.array(special, dtype=bool))


def fit_kinds(draws: Draws, requested: Shares) -> Fit | None:
    """Whether masked, replaced and kept tokens came up as often as requested; None where only one of them could."""
    counts = draws.counts[-1]
    shares = np.array(requested.kinds)
    could = shares > 1e-9
    if could.sum() < 2:
        return None
    expected = shares[could] / shares[could].sum() * counts.sum()
    test = chisquare(counts[could], expected)
    return Fit(float(test.statistic), int(could.sum()) - 1, float(test.pvalue))


def fit_places(draws: Draws) -> Fit | None:
    """Whether all m tokens that may be chosen were chosen equally often; None where each draw takes all of them.

    A draw takes k different tokens, so counts scatter less than if each token were drawn by itself: Pearson's sum is
    multiplied by (m - 1) / (m - k), and then follows chi-square with m - 1 degrees of freedom. Only for single tokens:
    the chances of whole words differ: the longer, the smaller.
    """
    counts = draws.chosen[draws.free]
    m, k = len(counts), counts.sum() / len(draws.kinds)
    if k >= m:
        return None
    statistic = float(chisquare(counts).statistic * (m - 1) / (m - k))
    return Fit(statistic, m - 1, float(chi2.sf(statistic, m - 1)))
