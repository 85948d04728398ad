"""What a repair of the space is worth: the same sentence pairs scored after centring, trimming and whitening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.embeddings.agreement import RESAMPLES, Correlation, Gap, correlation, spearman
from demos.bert.embeddings.anisotropy import contributions, dominating
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.whitening import all_but_the_top, centred, fit_axes, whitened

RAW, TRIMMED, CENTRED, TOPLESS, WHITE, WHITE_ALL = "raw", "trimmed", "centred", "topless", "white", "white_all"
TRIM = 3  # dimensions
FEW = 64  # axes, far fewer than the sentences they are fitted on; 32 to 383 were tried, and most score a little better


@dataclass(frozen=True)
class Repaired:
    """One repair, and how well its cosines follow the ratings."""

    name: str
    dimensions: int  # how many directions are left to the cosine
    cosines: np.ndarray  # <float64>[pairs]
    found: Correlation
    gain: Gap | None  # of rho over the vectors as they are; None for these


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


def repairs(
    sample: np.ndarray, vectors: np.ndarray, first: Sequence[int], second: Sequence[int], scores: np.ndarray
) -> list[Repaired]:
    """Each repair's agreement: pairs of rows `first` and `second` of `vectors` [m, d] against `scores` [pairs].

    The gain's interval is a bootstrap over pairs, the same draws for both (Efron 1979).
    Raises UserError as `repair` does.
    """
    drawn = np.random.default_rng(0).integers(len(scores), size=(RESAMPLES, len(scores)))
    results: list[Repaired] = []
    base = np.zeros(RESAMPLES)
    for name, rows in repair(sample, vectors).items():
        cosines = cosine(rows[list(first)], rows[list(second)])
        found = correlation(cosines, scores)
        resampled = spearman(cosines[drawn], scores[drawn])
        gain = None
        if name == RAW:
            base = resampled
        else:
            low, high = np.nanpercentile(resampled - base, [2.5, 97.5])
            gain = Gap(found.spearman - results[0].found.spearman, float(low), float(high))
        results.append(Repaired(name, _directions(name, rows.shape[1], sample), cosines, found, gain))
    return results


def _directions(name: str, width: int, sample: np.ndarray) -> int:
    return width - axes_to_drop(sample.shape[1]) if name == TOPLESS else width
