"""The vectors a classifier may be given: joined from layers, they are the pooling's own."""

import numpy as np
import pytest

from demos.bert.embeddings.frozen_features import CONCAT_ALL, features_of, joined, parts_of, width_of
from demos.bert.embeddings.pooling import CONCAT_LAST_FOUR, POOLINGS, SUM_ALL, SUM_LAST_FOUR, Choice
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.models import LoadedModel

SENTENCES = ["The kettle sings.", "Where did the orchestra leave its gloves? 🎻", "Ja."]


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("layer", [1, SUM_LAST_FOUR, SUM_ALL, CONCAT_LAST_FOUR])
def test_joined_layers_are_the_pooled_combination(tiny: LoadedModel, pooling: str, layer: int | str) -> None:
    choice, cache = Choice(pooling, layer), VectorCache()
    (expected,) = cache.get(tiny, SENTENCES, [choice])
    parts = parts_of(choice, 2)
    vectors = dict(zip(parts, cache.get(tiny, SENTENCES, parts), strict=True))
    np.testing.assert_allclose(joined(choice, 2, vectors), expected, atol=1e-5)


def test_all_layers_side_by_side_begin_with_the_embedding_output(tiny: LoadedModel) -> None:
    choice = Choice("mean", CONCAT_ALL)
    singles = [Choice("mean", layer) for layer in range(3)]
    assert parts_of(choice, 2) == singles
    vectors = VectorCache().get(tiny, SENTENCES, singles)
    wide = joined(choice, 2, dict(zip(singles, vectors, strict=True)))
    assert wide.shape == (3, width_of(choice, 2, 32)) == (3, 96)
    np.testing.assert_allclose(wide[:, 32:64], vectors[1], atol=1e-5)


def test_what_is_on_offer(tiny: LoadedModel) -> None:
    offered = features_of(tiny)
    assert len(offered) == len(set(offered)) == 4 * (3 + 4)
    assert Choice("max", CONCAT_ALL) in offered


def test_noise_of_float32_is_no_feature() -> None:
    choice = Choice("mean", 0)
    vectors = np.full((4, 1), 0.25, dtype=np.float32) + np.array([[0], [1], [2], [3]], dtype=np.float32) * 3e-8
    assert np.ptp(vectors) > 0
    assert np.ptp(joined(choice, 2, {choice: vectors})) == 0
