"""Search: ranks, TF-IDF and precision at k against references written out plainly."""

import math
import re

import numpy as np
import pytest
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.search import Keywords, precision_at, ranking, ranks
from demos.bert.embeddings.similarity import cosine_matrix
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.models import LoadedModel
from demos.training.data.lists import our_library


def plain_precision(similarity: np.ndarray, labels: list[str], k: int, above: float) -> tuple[float, float]:
    """(precision, filled places) by sorting each row."""
    right = filled = 0
    for query in range(len(labels)):
        others = [at for at in range(len(labels)) if at != query]
        best = sorted(others, key=lambda at: (-similarity[query, at], at))[:k]
        best = [at for at in best if similarity[query, at] > above]
        filled += len(best)
        right += sum(labels[at] == labels[query] for at in best)
    return right / (k * len(labels)), filled / len(labels)


def test_ranking_keeps_the_order_of_equals() -> None:
    assert ranking(np.array([0.1, 0.5, 0.5, -1])).tolist() == [1, 2, 0, 3]
    assert ranks(np.array([0.1, 0.5, 0.5, -1])).tolist() == [3, 1, 2, 4]


@pytest.mark.parametrize("above", [-np.inf, 0.0])
def test_precision_equals_a_plain_count(above: float) -> None:
    rng = np.random.default_rng(5)
    similarity = np.round(rng.normal(size=(40, 40)), 1)  # rounded, so that many are equal
    labels = [f"topic {k}" for k in rng.integers(0, 5, size=40)]
    before = similarity.copy()
    found = precision_at(similarity, labels, 10, above)
    assert (found.value, found.filled) == pytest.approx(plain_precision(similarity, labels, 10, above))
    same = sum(a == b for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j)
    assert found.chance == pytest.approx(same / (40 * 39))
    np.testing.assert_array_equal(similarity, before)


def test_precision_of_a_short_list() -> None:
    found = precision_at(np.eye(3), ["a", "a", "b"], 10)
    assert (found.k, found.value) == (2, pytest.approx(2 / 6))
    assert precision_at(np.eye(1), ["a"]).value == 0


def test_tfidf_equals_its_formula() -> None:
    sentences = ["Bread needs yeast.", "The bread, the bread and butter!", "Stars twinkle.", "🎻"]
    query = "How do I bake bread with butter?"

    def words(text: str) -> list[str]:
        return [word for word in re.findall(r"\w\w+", text.lower()) if word not in ENGLISH_STOP_WORDS]

    vocabulary = sorted({word for sentence in sentences for word in words(sentence)})
    df = {word: sum(word in words(sentence) for sentence in sentences) for word in vocabulary}

    def vector(text: str) -> np.ndarray:
        weights = [words(text).count(word) * (math.log(5 / (1 + df[word])) + 1) for word in vocabulary]
        return np.array(weights) / (np.linalg.norm(weights) or 1)

    keywords = Keywords(sentences)
    expected = np.array([vector(sentence) for sentence in sentences])
    np.testing.assert_allclose(keywords.scores(query), expected @ vector(query), atol=1e-12)
    np.testing.assert_allclose(keywords.matrix(), expected @ expected.T, atol=1e-12)
    marked = [
        [sentence[slice(*span)] for span in sorted(spans)]
        for sentence, spans in zip(sentences, keywords.shared(query, sentences), strict=True)
    ]
    assert marked == [["Bread"], ["bread", "bread", "butter"], [], []]


def test_a_list_without_words_finds_nothing() -> None:
    keywords = Keywords(["?!", "the", "🎻"])
    assert keywords.scores("the violin").tolist() == [0, 0, 0]
    assert keywords.matrix().shape == (3, 3)


def test_on_the_library_the_mean_beats_cls_and_both_beat_words(bundled: LoadedModel) -> None:
    """What the page says of the bundled model: on a third of the library, so that it takes a second."""
    sentences, topics = our_library().sentences[::3], list(our_library().topics[::3])
    cls, mean = VectorCache().get(bundled, sentences, [Choice("cls", 6), Choice("mean", 6)])
    by_cls, by_mean = (precision_at(cosine_matrix(rows), topics).value for rows in (cls, mean))
    words = precision_at(Keywords(sentences).matrix(), topics, above=0)
    assert by_mean > by_cls + 0.03
    assert by_cls > words.chance + 0.1
    assert words.value < by_cls
    assert words.filled < 5
    assert by_mean == pytest.approx(plain_precision(cosine_matrix(mean), topics, 10, -np.inf)[0])
