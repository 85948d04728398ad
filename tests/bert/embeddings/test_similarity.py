"""Cosine and PCA against scikit-learn and scipy themselves; a short list of sentences and its limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import cosine_similarity

from demos.bert.embeddings import similarity as embeddings
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine, cosine_matrix, disagreements, embed, project
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.models import LoadedModel
from demos.errors import UserError

SENTENCES = [
    "A kettle whistles.",
    "Nobody had told the orchestra that the hall would be cold, so they played in gloves.",
    "Der Zug hält hier nicht mehr.",
    "Is it raining? 😅",
]


def test_a_short_list_is_embedded_through_the_cache(tiny: LoadedModel) -> None:
    cache = VectorCache()
    choices = [Choice("mean", 2), Choice("max", "sum_all")]
    mean, largest = embed(cache, tiny, SENTENCES, choices)
    assert mean is cache.get(tiny, SENTENCES, choices[:1])[0]
    assert mean.shape == largest.shape == (4, 32)


def test_cosine_equals_scikit_learn_and_knows_zero() -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 9))
    np.testing.assert_allclose(cosine_matrix(vectors), cosine_similarity(vectors), atol=1e-12)
    np.testing.assert_array_equal(cosine_matrix(np.zeros((2, 3))), np.zeros((2, 2)))
    assert np.abs(cosine_matrix(1e-30 * vectors)).max() <= 1


def test_disagreements_name_every_pair_once_widest_first() -> None:
    first = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.5], [0.1, 0.5, 1.0]])
    second = np.array([[1.0, 0.8, 0.7], [0.8, 1.0, 0.4], [0.7, 0.4, 1.0]])
    found = disagreements(first, second)
    assert [(pair.i, pair.j) for pair in found] == [(0, 2), (0, 1), (1, 2)]
    assert (found[0].first, found[0].second) == (0.1, 0.7)


def test_pca_equals_the_eigenvectors_of_the_covariance() -> None:
    vectors = np.random.default_rng(1).normal(size=(8, 5)) * [5, 3, 1, 0.5, 0.1]
    projection = project(vectors, 3)
    centred = vectors - vectors.mean(axis=0)
    values, directions = np.linalg.eigh(np.cov(centred.T))
    np.testing.assert_allclose(np.abs(projection.points), np.abs(centred @ directions[:, ::-1][:, :3]), atol=1e-9)
    np.testing.assert_allclose(projection.explained, values[::-1][:3] / values.sum(), atol=1e-12)


def test_pca_of_few_sentences_pads_with_zeros_and_keeps_distances() -> None:
    vectors = np.random.default_rng(2).normal(size=(2, 7))
    projection = project(vectors, 3)
    assert projection.points.shape == (2, 3)
    assert projection.explained[0] == pytest.approx(1)
    np.testing.assert_allclose(cdist(projection.points, projection.points), cdist(vectors, vectors), atol=1e-9)
    same = project(np.ones((3, 7), dtype=np.float32), 2)
    assert not same.points.any()
    assert not same.explained.any()


def test_lines_become_sentences() -> None:
    assert embeddings.sentences_of(" one \n\n \r\ntwo") == ["one", "two"]
    assert embeddings.sentences_of(None) == []
    with pytest.raises(UserError, match="65 sentences; the limit is 64"):
        embeddings.sentences_of("a\n" * 65)
    with pytest.raises(UserError, match="The list has 20,001 characters"):
        embeddings.sentences_of("a" * 20_001)


def test_layers_count_as_transformers_does() -> None:
    assert [embeddings.resolve_layer(layer, 6) for layer in (0, 6, -1, -7, 2.0)] == [0, 6, 6, 0, 2]
    for bad in (7, -8, 1.5, float("nan"), float("inf"), True, "x", None):
        with pytest.raises(UserError, match="There is no layer"):
            embeddings.resolve_layer(bad, 6)  # type: ignore[arg-type]


def test_a_long_list_is_refused_in_one_sentence(tiny: LoadedModel) -> None:
    with pytest.raises(UserError, match=r"The list has 4,\d+ tokens; the limit is 4,096 in all"):
        embed(VectorCache(), tiny, ["a " * 600] * 9, [Choice("mean", 2)])


def test_cosine_of_the_same_the_opposite_the_orthogonal_and_nothing() -> None:
    x = np.array([[0.1, 0.7], [1, 0], [3, 0], [0, 0]], dtype=np.float32)
    y = np.array([[0.1, 0.7], [-2, 0], [0, 5], [1, 1]], dtype=np.float32)
    assert cosine(x, y).tolist() == [1, -1, 0, 0]
