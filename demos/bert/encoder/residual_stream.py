"""A token's path through all layers: how long its vector is, where it points, and how much each layer changes it."""

from dataclasses import dataclass

import numpy as np

from demos.bert.model.run import Run


@dataclass(frozen=True)
class Paths:
    """Every token's path; L layers, n tokens. Index 0 of the first axis is the embedding output, l layer l - 1's."""

    norms: np.ndarray  # <float64>[L + 1, n]: |x_l|
    to_start: np.ndarray  # <float64>[L + 1, n]: cosine to the token's own embedding output
    to_next: np.ndarray  # <float64>[L + 1, n - 1]: cosine of tokens i and i + 1
    to_mean: np.ndarray  # <float64>[L + 1, n]: cosine to the mean of all n tokens after the same layer
    change: np.ndarray  # <float64>[L, n]: |x_(l+1) - x_l| / |x_l|
    points: np.ndarray  # <float64>[L + 1, n, 2]: PCA, fitted on all states of all layers
    explained: np.ndarray  # <float64>[2]: each axis' share of the variance


def paths(run: Run) -> Paths:
    """The paths of a run's n tokens, from its hidden states alone."""
    states = run.hidden_states.astype(np.float64)  # [L + 1, n, d]
    norms = np.linalg.norm(states, axis=-1)
    units = states / norms[..., None]
    means = states.mean(axis=1, keepdims=True)  # [L + 1, 1, d]
    means /= np.linalg.norm(means, axis=-1, keepdims=True)
    points, explained = principal_plane(states.reshape(-1, states.shape[-1]))
    return Paths(
        norms=norms,
        to_start=(units * units[:1]).sum(axis=-1),
        to_next=(units[:, :-1] * units[:, 1:]).sum(axis=-1),
        to_mean=(units * means).sum(axis=-1),
        change=np.linalg.norm(np.diff(states, axis=0), axis=-1) / norms[:-1],
        points=points.reshape(*norms.shape, 2),
        explained=explained,
    )


def principal_plane(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """PCA (Pearson 1901) by the eigenvectors of the smaller of the two products: rows [m, d] -> ([m, 2], [2]).

    The points on the two axes along which the rows differ most, and the share of the variance that each axis holds.
    scikit-learn's full SVD gives the same up to an axis' sign, in seconds where this takes a tenth of one. Each axis
    points to where its furthest point lies. Axes beyond what the rows span hold zeros.
    """
    centred = rows.astype(np.float64) - rows.mean(axis=0)
    m, d = centred.shape
    product = centred @ centred.T if m < d else centred.T @ centred
    total = float(np.trace(product))
    points, explained = np.zeros((m, 2)), np.zeros(2)
    size = len(product)
    k = min(2, size)
    values, vectors = np.linalg.eigh(product)  # ascending
    for axis in range(k):
        value, vector = float(values[size - 1 - axis]), vectors[:, size - 1 - axis]
        if value <= 1e-12 * max(total, 1e-30):
            break
        along = vector * np.sqrt(value) if m < d else centred @ vector
        points[:, axis] = along * np.sign(along[np.abs(along).argmax()])
        explained[axis] = value / total
    return points, explained
