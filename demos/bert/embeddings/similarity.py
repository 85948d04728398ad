"""The similarity of sentences by their vectors: a short list and its limits, cosine similarity, disagreements."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.model.encoding import encode
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


def sentences_of(texts: str | Sequence[str] | None) -> list[str]:
    """The lines of `texts`, or the texts of a list, that hold more than spaces, stripped.

    Raises UserError for more than MAX_SENTENCES of them, or for more characters in all than `clean_text` takes.
    """
    if texts is None or isinstance(texts, str):
        lines = clean_text(texts, "The list").replace("\r", "\n").split("\n")
    else:
        clean_text("".join(texts), "The list")
        lines = [clean_text(text) for text in texts]
    sentences = [line.strip() for line in lines if line.strip()]
    if len(sentences) > MAX_SENTENCES:
        raise UserError(f"The list has {len(sentences):,} sentences; the limit is {MAX_SENTENCES}.")
    return sentences


def check_tokens(loaded: LoadedModel, sentences: Iterable[str], have: str = "The list has") -> None:
    """Raises UserError for sentences of more than MAX_LIST_TOKENS tokens in all."""
    tokens = sum(len(encode(loaded.tokenizer, sentence)) for sentence in sentences)
    if tokens > MAX_LIST_TOKENS:
        raise UserError(f"{have} {tokens:,} tokens; the limit is {MAX_LIST_TOKENS:,} in total.")


def beyond_library(loaded: LoadedModel, sentences: Iterable[str]) -> int:
    """The number of sentences that have more tokens than sentence-transformers uses of a text with this model."""
    limit = loaded.spec.max_seq_length
    if limit is None:
        return 0
    long = (text for text in sentences if len(text) > limit - 2)  # a token has a character or more
    return sum(len(encode(loaded.tokenizer, text, max_length=limit + 1)) > limit for text in long)


def as_in_library(loaded: LoadedModel, sentences: Sequence[str]) -> list[str]:
    """The sentences, each ending after the last token that sentence-transformers uses of it with this model.

    WordPiece takes the longest piece each time, so what is left has the same tokens as before.
    """
    limit = loaded.spec.max_seq_length
    if limit is None:
        return list(sentences)
    encodings = (encode(loaded.tokenizer, text, max_length=limit) for text in sentences)
    return [
        encoding.text[: max(end for _, end in encoding.offsets)] if encoding.dropped else text
        for text, encoding in zip(sentences, encodings, strict=True)
    ]


def normalised(vectors: np.ndarray) -> np.ndarray:
    """Each row divided by its length, [m, D]; a zero row stays."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)


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
    units = normalised(np.asarray(vectors, dtype=np.float64))
    return np.clip(units @ units.T, -1, 1)


def disagreements(first: np.ndarray, second: np.ndarray) -> list[Disagreement]:
    """Every pair of sentences, the widest gap between two cosine matrices [m, m] first."""
    rows, columns = np.triu_indices(len(first), k=1)
    gaps = np.abs(first - second)[rows, columns]
    return [
        Disagreement(i, j, float(first[i, j]), float(second[i, j]))
        for i, j in ((int(rows[k]), int(columns[k])) for k in np.argsort(-gaps, kind="stable"))
    ]
