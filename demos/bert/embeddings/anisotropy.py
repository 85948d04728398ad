"""Anisotropy: how alike vectors are that have nothing to do with each other, and which dimensions make them so."""

import numpy as np
from scipy.stats import beta

from demos.bert.embeddings.similarity import normalised
from demos.errors import UserError


def contributions(vectors: np.ndarray, groups: np.ndarray | None = None) -> np.ndarray:
    """Each dimension's contribution to the mean cosine of two rows: [n, d] -> float64 [d], which sums to that mean.

    That mean, of words drawn at random from different contexts, is 0 where directions are spread evenly, 1 where all
    are one (Ethayarajh 2019, section 3.4); here it is taken over all such pairs of the rows. The mean of x_i y_i / (|x|
    |y|) over all pairs of rows (Timkey and van Schijndel 2021) whose `groups` [n] differ: two tokens of one sentence
    are no strangers. Summed group by group, so no pair is written out: the sum over all ordered pairs is the square of
    the sum, less the same within each group. Raises UserError where no two rows are of different groups.
    """
    units = normalised(np.asarray(vectors, dtype=np.float64))
    order = np.arange(len(units)) if groups is None else np.argsort(groups, kind="stable")
    ranked = order if groups is None else np.asarray(groups)[order]
    starts = np.flatnonzero(np.diff(ranked, prepend=ranked[:1] - 1))
    sizes = np.diff(starts, append=len(units))
    pairs = len(units) ** 2 - float((sizes**2).sum())
    if pairs <= 0:
        raise UserError("Vectors of at least two sentences are needed.")
    within = np.add.reduceat(units[order], starts, axis=0)  # [groups, d]
    return (units.sum(axis=0) ** 2 - (within**2).sum(axis=0)) / pairs


def stranger_cosines(vectors: np.ndarray, groups: np.ndarray | None = None) -> np.ndarray:
    """The cosine of every two rows of different `groups`, each pair once: [n, d] -> float32 [pairs]."""
    units = normalised(np.asarray(vectors, dtype=np.float64)).astype(np.float32)
    apart = np.triu(np.ones((len(units), len(units)), dtype=bool), k=1)
    if groups is not None:
        apart &= np.asarray(groups)[:, None] != np.asarray(groups)[None, :]
    return np.clip(units @ units.T, -1, 1)[apart]


def dominating(shares: np.ndarray, count: int = 3) -> np.ndarray:
    """The `count` dimensions that contribute most, the largest first."""
    return np.argsort(-shares, kind="stable")[:count]


def random_shares(edges: np.ndarray, width: int) -> np.ndarray:
    """The share of cosines in each bin between `edges` if all directions were random: [b + 1] -> [b].

    Two Gaussian vectors of `width` numbers: (1 + cosine) / 2 follows a Beta((d - 1) / 2, (d - 1) / 2), whose mean is a
    cosine of 0 and whose standard deviation is 1 / sqrt(d).
    """
    half = (width - 1) / 2
    return np.diff(beta.cdf((np.asarray(edges) + 1) / 2, half, half))
