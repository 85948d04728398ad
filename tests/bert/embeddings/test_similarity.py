"""Cosine against scikit-learn itself; a short list of sentences and its limits."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import cosine_similarity

from demos.bert.embeddings.similarity import (
    check_tokens,
    cosine,
    cosine_matrix,
    disagreements,
    normalised,
    sentences_of,
)
from demos.bert.model.models import LoadedModel
from demos.errors import UserError


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


def test_lines_become_sentences() -> None:
    assert sentences_of(" one \n\n \r\ntwo") == ["one", "two"]
    assert sentences_of(None) == []
    with pytest.raises(UserError, match="65 sentences; the limit is 64"):
        sentences_of("a\n" * 65)
    with pytest.raises(UserError, match="The list has 20,001 characters"):
        sentences_of("a" * 20_001)


def test_a_long_list_is_refused_in_one_sentence(tiny: LoadedModel) -> None:
    with pytest.raises(UserError, match=r"The list has 4,\d+ tokens; the limit is 4,096 in total"):
        check_tokens(tiny, ["a " * 600] * 9)


def test_cosine_of_the_same_the_opposite_the_orthogonal_and_nothing() -> None:
    x = np.array([[0.1, 0.7], [1, 0], [3, 0], [0, 0]], dtype=np.float32)
    y = np.array([[0.1, 0.7], [-2, 0], [0, 5], [1, 1]], dtype=np.float32)
    assert cosine(x, y).tolist() == [1, -1, 0, 0]


def test_normalised_rows_have_length_one_and_zero_stays() -> None:
    rows = normalised(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32))
    np.testing.assert_allclose(rows, np.array([[0.6, 0.8], [0.0, 0.0]]), atol=1e-7)
    assert rows.dtype == np.float32
