"""Search by meaning: sentences ranked by cosine, the keyword baseline (TF-IDF), and precision over a whole list."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata
from sklearn.feature_extraction.text import TfidfVectorizer


@dataclass(frozen=True)
class Precision:
    """The precision of a list in which each sentence is the query once."""

    k: int
    value: float  # relevant ones among the first k, as a share of k, averaged over all queries
    filled: float  # how many of the k places are filled, on average
    chance: float  # the expected value of k random texts


def ranking(scores: np.ndarray) -> np.ndarray:
    """The places of `scores` [m], the highest first; equal ones keep their order."""
    return np.argsort(-np.asarray(scores), kind="stable")


def ranks(scores: np.ndarray) -> np.ndarray:
    """The rank of each of `scores` [m], from 1; equal ones in their order."""
    return rankdata(-np.asarray(scores), method="ordinal").astype(int)


WORD = re.compile(r"(?u)\b\w\w+\b")  # scikit-learn's own


class Keywords:
    """TF-IDF over a list of sentences: a word counts the more, the fewer sentences have it.

    Scikit-learn's: lower case, words of two letters or more without English function words ("how", "do", "the"),
    tf x (ln((1 + m) / (1 + df)) + 1), each sentence scaled to length 1.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        self.vectorizer = TfidfVectorizer(stop_words="english", token_pattern=WORD.pattern)
        self._analyse = self.vectorizer.build_analyzer()
        self.size = len(sentences)
        try:
            self._weights = self.vectorizer.fit_transform(sentences)  # sparse [m, words]
        except ValueError:  # no sentence has a word that others lack
            self._weights = None

    def shared(self, query: str, sentences: Sequence[str]) -> list[frozenset[tuple[int, int]]]:
        """The places in each sentence of the query's words that count: characters [start, end)."""
        words = set(self._analyse(query))
        return [
            frozenset(match.span() for match in WORD.finditer(sentence) if match[0].lower() in words)
            for sentence in sentences
        ]

    def scores(self, query: str) -> np.ndarray:
        """The cosine of the query with each sentence, float64 [m]; 0 where they share no word."""
        if self._weights is None:
            return np.zeros(self.size)
        return (self._weights @ self.vectorizer.transform([query]).T).toarray()[:, 0]

    def matrix(self) -> np.ndarray:
        """The cosine of every two sentences, float64 [m, m]."""
        if self._weights is None:
            return np.zeros((self.size, self.size))
        return (self._weights @ self._weights.T).toarray()


def precision_at(similarity: np.ndarray, labels: Sequence[str], k: int = 10, above: float = -np.inf) -> Precision:
    """Precision at k with each sentence as the query, searched for among the others: similarity [m, m].

    A sentence is relevant where it has the query's label. Only those with a similarity over `above` are found: a place
    that stays empty counts as wrong. Equal ones are taken in the list's order.
    (Manning, Raghavan and Schuetze 2008, Introduction to Information Retrieval, section 8.4.)
    """
    m = len(labels)
    k = min(k, m - 1)
    if k < 1:
        return Precision(0, 0.0, 0.0, 0.0)
    scores = np.array(similarity, dtype=np.float64)
    np.fill_diagonal(scores, -np.inf)  # a query does not find itself
    last = np.partition(scores, m - k, axis=1)[:, [m - k]]  # the k-th highest of each row
    higher, equal = scores > last, scores == last
    room = k - higher.sum(axis=1, keepdims=True)
    retrieved = (higher | (equal & (equal.cumsum(axis=1) <= room))) & (scores > above)
    numbers = np.unique(np.asarray(labels), return_inverse=True)[1]
    same = numbers[:, None] == numbers[None, :]
    chance = (int(same.sum()) - m) / (m * (m - 1))
    return Precision(k, float((retrieved & same).sum() / (m * k)), float(retrieved.sum() / m), chance)
