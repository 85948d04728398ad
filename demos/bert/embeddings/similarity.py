"""Sentences and what their vectors say: a short list embedded, cosine similarity, disagreements, and a PCA map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import PCA

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.encoding import encode
from demos.bert.model.layer_numbers import layer_index
from demos.bert.model.models import LoadedModel
from demos.bert.model.text import clean_text
from demos.errors import UserError

MAX_SENTENCES = 64
MAX_LIST_TOKENS = 4_096  # a pass over more would hold up everyone else


@dataclass(frozen=True)
class Disagreement:
    """Two sentences that two choices judge differently: i < j, and the cosine under each choice."""

    i: int
    j: int
    first: float
    second: float


@dataclass(frozen=True)
class Projection:
    """Sentences in few dimensions: points [m, k], and the share of the variance that each axis holds [k]."""

    points: np.ndarray
    explained: np.ndarray


def sentences_of(texts: str | None) -> list[str]:
    """The lines of `texts` that hold more than spaces, stripped.

    Raises UserError for more than MAX_SENTENCES lines, or a text over the character limit of `clean_text`.
    """
    lines = clean_text(texts, "The list").replace("\r", "\n").split("\n")
    sentences = [line.strip() for line in lines if line.strip()]
    if len(sentences) > MAX_SENTENCES:
        raise UserError(f"The list has {len(sentences):,} sentences; the limit is {MAX_SENTENCES}.")
    return sentences


def resolve_layer(layer: float, num_layers: int) -> int:
    """`layer` as an index into hidden_states, 0..L; negative ones count from the end, as in Python.

    Raises UserError for what is no whole number or lies outside.
    """
    return layer_index(layer, num_layers + 1, f"the model has 0 (the embedding output) to {num_layers}")


def embed(
    cache: VectorCache, loaded: LoadedModel, sentences: Sequence[str], choices: Sequence[Choice]
) -> list[np.ndarray]:
    """For each choice, one vector a sentence: float32 [m, D], as `VectorCache.get` gives them, for one short list.

    Raises UserError for a list of more than MAX_LIST_TOKENS tokens, and as `VectorCache.get` does.
    """
    tokens = sum(len(encode(loaded.tokenizer, sentence)) for sentence in sentences)
    if tokens > MAX_LIST_TOKENS:
        raise UserError(f"The list has {tokens:,} tokens; the limit is {MAX_LIST_TOKENS:,} in all.")
    return cache.get(loaded, sentences, choices)


def cosine(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """x . y / (|x| |y|) over the last axis, float64, in -1..1: [..., d] twice -> [...]. A zero vector is like nothing.

    Equal vectors give exactly 1, so that "nothing changed" reads as nothing.
    """
    x, y = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    norms = np.linalg.norm(x, axis=-1) * np.linalg.norm(y, axis=-1)
    raw = np.divide((x * y).sum(axis=-1), norms, out=np.zeros(norms.shape), where=norms > 0)
    same = (x == y).all(axis=-1) & (norms > 0)
    return np.where(same, 1.0, np.clip(raw, -1, 1))


def cosine_matrix(vectors: np.ndarray) -> np.ndarray:
    """x . y / (|x| |y|) for every two rows: [m, d] -> float64 [m, m], in -1..1. A zero vector is like nothing: 0."""
    rows = np.asarray(vectors, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    units = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    return np.clip(units @ units.T, -1, 1)


def disagreements(first: np.ndarray, second: np.ndarray) -> list[Disagreement]:
    """Every pair of sentences, the widest gap between two cosine matrices [m, m] first."""
    rows, columns = np.triu_indices(len(first), k=1)
    gaps = np.abs(first - second)[rows, columns]
    return [
        Disagreement(i, j, float(first[i, j]), float(second[i, j]))
        for i, j in ((int(rows[k]), int(columns[k])) for k in np.argsort(-gaps, kind="stable"))
    ]


def project(vectors: np.ndarray, dimensions: int) -> Projection:
    """PCA (Pearson 1901), scikit-learn's: the directions along which the sentences differ most, [m, d] -> [m, k].

    m sentences span m - 1 directions at most; axes beyond hold zeros. Exact and without chance.
    """
    rows = np.asarray(vectors, dtype=np.float64)
    points, explained = np.zeros((len(rows), dimensions)), np.zeros(dimensions)
    k = min(dimensions, *rows.shape)
    if not np.allclose(rows, rows[0], rtol=0, atol=1e-9):  # one and the same point has no directions
        pca = PCA(n_components=k, svd_solver="full")
        points[:, :k] = pca.fit_transform(rows)
        explained[:k] = pca.explained_variance_ratio_
    return Projection(points, explained)
