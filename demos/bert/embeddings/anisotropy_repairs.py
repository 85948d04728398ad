"""Repairs of a lopsided space, fitted without labels, and what each is worth on rated sentence pairs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.agreement import Correlation, Gap, correlation, gap_between
from demos.bert.embeddings.anisotropy import contributions, dominating
from demos.bert.embeddings.similarity import cosine
from demos.errors import UserError

RAW, TRIMMED, CENTRED, TOPLESS, WHITE, WHITE_ALL = "raw", "trimmed", "centred", "topless", "white", "white_all"
TRIM = 3  # dimensions
SMALLEST = 1e-5  # of the widest spread, or of the mean's length: what is narrower is rounding, not data
FEW = 64  # axes, far fewer than the sentences they are fitted on; 32 to 383 were tried, and most score a little better


@dataclass(frozen=True)
class Axes:
    """The principal axes of a sample of n vectors: as many as it really spans, at most min(n - 1, d)."""

    mean: np.ndarray  # <float64>[d]
    directions: np.ndarray  # <float64>[r, d], orthonormal, the widest first
    variances: np.ndarray  # <float64>[r], along each, divided by n - 1

    @property
    def rank(self) -> int:
        return len(self.variances)


def fit_axes(sample: np.ndarray) -> Axes:
    """Mean and principal axes of [n, d] vectors: the covariance's eigenvectors, which are the SVD's and come sooner.

    Raises UserError where the vectors are all one and the same.
    """
    rows = np.asarray(sample, dtype=np.float64)
    if len(rows) < 2:
        raise UserError("At least two sentences are needed to measure how their vectors are spread.")
    mean = rows.mean(axis=0)
    rows = rows - mean
    variances, columns = np.linalg.eigh(rows.T @ rows / (len(rows) - 1))
    variances, directions = variances[::-1], columns.T[::-1]
    if variances[0] <= (SMALLEST * np.linalg.norm(mean)) ** 2:
        raise UserError("All these vectors are equal, so they have no spread.")
    rank = min(int((variances > SMALLEST**2 * variances[0]).sum()), len(rows) - 1)
    return Axes(mean, directions[:rank], variances[:rank])


def centred(vectors: np.ndarray, axes: Axes) -> np.ndarray:
    """x - mean: [m, d] -> [m, d]."""
    return np.asarray(vectors, dtype=np.float64) - axes.mean


def all_but_the_top(vectors: np.ndarray, axes: Axes, count: int) -> np.ndarray:
    """x - mean, less its parts along the `count` widest axes: [m, d] -> [m, d].

    Mu and Viswanath 2018 (their rule of thumb: d / 100 axes).
    """
    top = axes.directions[:count]
    rows = centred(vectors, axes)
    return rows - (rows @ top.T) @ top


def whitened(vectors: np.ndarray, axes: Axes, count: int | None = None) -> np.ndarray:
    """(x - mean) W, W = U S^(-1/2): each of the `count` widest axes stretched to a variance of 1, [m, d] -> [m, k].

    Su et al. 2021 (their "whitening-k"). On the sample itself the covariance is then the identity.
    All axes of the sample where no `count` is given; never more than it has.
    """
    k = axes.rank if count is None else min(count, axes.rank)
    return centred(vectors, axes) @ axes.directions[:k].T / np.sqrt(axes.variances[:k])


def axes_to_drop(width: int) -> int:
    """Mu and Viswanath's rule of thumb (2018): one of a hundred dimensions."""
    return max(1, round(width / 100))


def repair(sample: np.ndarray, vectors: np.ndarray) -> dict[str, np.ndarray]:
    """Vectors [m, d] after each repair, fitted on `sample` [n, d] without any rating.

    Raises UserError where the sample's vectors are all the same.
    """
    axes = fit_axes(sample)
    dropped = dominating(contributions(sample), TRIM)
    return {
        RAW: np.asarray(vectors, dtype=np.float64),
        TRIMMED: np.delete(np.asarray(vectors, dtype=np.float64), dropped, axis=1),
        CENTRED: centred(vectors, axes),
        TOPLESS: all_but_the_top(vectors, axes, axes_to_drop(axes.directions.shape[1])),
        WHITE: whitened(vectors, axes, FEW),
        WHITE_ALL: whitened(vectors, axes),
    }


@dataclass(frozen=True)
class Repaired:
    """One repair, and how well its cosines follow the ratings."""

    name: str
    dimensions: int  # how many directions are left to the cosine
    cosines: np.ndarray  # <float64>[pairs]
    correlation: Correlation
    gain: Gap | None  # of rho over the vectors as they are; None for these


def repairs(
    sample: np.ndarray, vectors: np.ndarray, first: Sequence[int], second: Sequence[int], scores: np.ndarray
) -> list[Repaired]:
    """Each repair's agreement: pairs of rows `first` and `second` of `vectors` [m, d] against `scores` [pairs].

    Raises UserError as `repair` does.
    """
    results: list[Repaired] = []
    for name, rows in repair(sample, vectors).items():
        cosines = cosine(rows[list(first)], rows[list(second)])
        gain = gap_between(cosines, results[0].cosines, scores) if results else None
        left = rows.shape[1] - (axes_to_drop(rows.shape[1]) if name == TOPLESS else 0)
        results.append(Repaired(name, left, cosines, correlation(cosines, scores), gain))
    return results
