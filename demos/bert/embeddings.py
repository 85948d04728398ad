"""From token vectors to one vector a sentence: pooling x layer, cosine similarity, and a PCA map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import PCA

from demos.bert.encoding import encode
from demos.bert.layers import layer_index
from demos.bert.models import LoadedModel
from demos.bert.pooling import POOLINGS, Choice
from demos.bert.run import Run, RunCache
from demos.bert.text import clean_text
from demos.errors import UserError

MAX_SENTENCES = 64
MAX_LIST_TOKENS = 4_096  # a pass over more would hold up everyone else
BATCH_TOKENS = 1_024  # attentions come with every run, n x n a head: no more than this is held at once


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


def token_weights(run: Run, choice: Choice) -> np.ndarray:
    """How much of each token is in the pooled vector: [n], sums to 1.

    cls: all of it from the first token. mean: 1/n from each. mean_no_special: the same without [CLS] and [SEP].
    max: the share of the d numbers in which this token is the largest.
    Raises UserError for an unknown pooling, or where there is no token to take the mean of.
    """
    n = len(run.encoding)
    if choice.pooling == "cls":
        return np.eye(1, n)[0]
    if choice.pooling == "mean":
        return np.full(n, 1 / n)
    if choice.pooling == "mean_no_special":
        words = 1 - np.array(run.encoding.special_tokens_mask)
        if not words.any():
            raise UserError("A sentence has no token besides [CLS] and [SEP], so their mean without these is empty.")
        return words / words.sum()
    if choice.pooling == "max":
        states = run.hidden_states[choice.layer]  # [n, d]
        return np.bincount(states.argmax(axis=0), minlength=n) / states.shape[1]
    raise UserError(f"There is no pooling {str(choice.pooling)[:40]!r} here; choose one of {', '.join(POOLINGS)}.")


def pool(run: Run, choice: Choice) -> np.ndarray:
    """One vector for the sentence: float32 [d].

    `mean` is sentence-transformers' own (Reimers and Gurevych 2019, section 3): every token counts, [CLS] and
    [SEP] included, padding not. Raises UserError as `token_weights` does.
    """
    weights = token_weights(run, choice)
    states = run.hidden_states[choice.layer]  # [n, d]
    if choice.pooling == "max":
        return states.max(axis=0)
    if choice.pooling == "cls":
        return states[0]
    return states[weights > 0].mean(axis=0)


def embed(
    cache: RunCache, loaded: LoadedModel, sentences: Sequence[str], choices: Sequence[Choice]
) -> list[np.ndarray]:
    """For each choice, one vector a sentence: float32 [m, d]; the runs come from the shared cache where they are there.

    A sentence beyond 512 tokens is cut, as `encode` does. Raises UserError for a list of more than
    MAX_LIST_TOKENS tokens, and as `token_weights` does.
    """
    lengths = [len(encode(loaded.tokenizer, sentence)) for sentence in sentences]
    if sum(lengths) > MAX_LIST_TOKENS:
        raise UserError(f"The list has {sum(lengths):,} tokens; the limit is {MAX_LIST_TOKENS:,} in all.")
    batches: list[list[str]] = [[]]
    room = BATCH_TOKENS
    for sentence, length in zip(sentences, lengths, strict=True):
        if length > room and batches[-1]:
            batches.append([])
            room = BATCH_TOKENS
        batches[-1].append(sentence)
        room -= length
    vectors: list[list[np.ndarray]] = [[] for _ in choices]
    for batch in batches:
        for run in cache.get_many(loaded, [(sentence, "") for sentence in batch]):
            for choice, rows in zip(choices, vectors, strict=True):
                rows.append(pool(run, choice))
    return [np.stack(rows) for rows in vectors]


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
