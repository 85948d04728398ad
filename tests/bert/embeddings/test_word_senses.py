"""Sense scores against pair counting by hand; chance from vectors that are all the same; a row a word."""

from itertools import combinations

import numpy as np
import pytest

from demos.bert.embeddings.word_occurrences import Use, find_word
from demos.bert.embeddings.word_senses import (
    SenseUse,
    blind_accuracy,
    cluster,
    neighbour_accuracy,
    rand_index,
    score_senses,
)
from demos.bert.model.models import LoadedModel
from tests.bert.embeddings.stepping import walked

SENSES = ["a", "a", "a", "b", "b", "b", "c", "c"]


def counted(senses: list[str], clusters: list[int]) -> float:
    """The adjusted Rand index, pair by pair (Hubert and Arabie 1985)."""
    pairs = list(combinations(range(len(senses)), 2))
    alike = [senses[i] == senses[j] for i, j in pairs]
    together = [clusters[i] == clusters[j] for i, j in pairs]
    both = sum(x and y for x, y in zip(alike, together, strict=True))
    expected = sum(alike) * sum(together) / len(pairs)
    highest = (sum(alike) + sum(together)) / 2
    return (both - expected) / (highest - expected)


@pytest.mark.parametrize("seed", range(4))
def test_the_rand_index_equals_counting_pairs(seed: int) -> None:
    vectors = np.random.default_rng(seed).normal(size=(8, 6)).astype(np.float32)
    labels = cluster(vectors, 3).tolist()
    assert len(set(labels)) == 3
    assert rand_index(vectors, SENSES) == pytest.approx(counted(SENSES, labels))


def test_clusters_go_by_direction_and_find_what_lies_apart() -> None:
    rng = np.random.default_rng(5)
    centres = {"a": [9.0, 0, 0], "b": [0, 9.0, 0], "c": [0, 0, 9.0]}
    vectors = np.array([centres[one] for one in SENSES]) + rng.normal(size=(8, 3)) * 0.3
    vectors *= rng.uniform(0.1, 10, size=(8, 1))  # lengths say nothing
    assert rand_index(vectors.astype(np.float32), SENSES) == pytest.approx(1)
    assert neighbour_accuracy(vectors, SENSES) == 1


def test_the_nearest_neighbour_by_hand() -> None:
    vectors = np.array([[1.0, 0], [0.9, 0.1], [0, 1.0], [0.6, 0.8]])
    # 0 and 1 are each other's; 2's nearest is 3 and 3's is 2
    assert neighbour_accuracy(vectors, ["a", "b", "c", "c"]) == 0.5
    assert neighbour_accuracy(vectors, ["a", "a", "b", "a"]) == 0.5


def test_equal_vectors_give_chance_and_no_more() -> None:
    same = np.ones((8, 4), dtype=np.float32)
    assert rand_index(same, SENSES) == 0
    assert neighbour_accuracy(same, SENSES) == pytest.approx(blind_accuracy(SENSES))
    assert blind_accuracy(SENSES) == pytest.approx((6 * 2 / 7 + 2 * 1 / 7) / 8)
    two = np.array([[1.0, 0]] * 4 + [[0, 1.0]] * 4)
    assert len(set(cluster(two, 3).tolist())) == 2  # no third to be found


def test_every_word_is_scored_at_every_layer(tiny: LoadedModel) -> None:
    banks = ["The bank paid.", "A bank lent it.", "On the bank we sat.", "The muddy bank."]
    lines = {"bank": banks, "bat": ["A bat."] * 2}
    labelled = [
        SenseUse(word, "xxyy"[at], Use(line, *find_word(line, word)[0]))
        for word, found in lines.items()
        for at, line in enumerate(found)
    ]
    told, scores = walked(score_senses(tiny, labelled))
    assert told[-1].done == told[-1].total == 5  # one sentence stands twice
    assert scores.rand.shape == scores.neighbour.shape == (2, 4)  # the static table, then layers 0 to 2
    assert (scores.words, scores.senses, scores.uses) == (("bank", "bat"), (2, 1), (4, 2))
    assert scores.rand[0, 0] == 0
    assert scores.neighbour[0, 0] == pytest.approx(scores.chance[0]) == pytest.approx(1 / 3)
