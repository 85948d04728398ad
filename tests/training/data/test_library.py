"""The bundled library: balanced, varied, without twins, and about what it says."""

from __future__ import annotations

import csv
import itertools
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from demos.bert.embeddings.maps import NEIGHBOURS
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import normalised
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.models import LoadedModel

PATH = Path(__file__).parents[3] / "assets" / "data" / "library.tsv"
MAX_COSINE = 0.65
MAX_JACCARD = 0.5  # of two sentences' word 3-grams


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with PATH.open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_topics_are_balanced_and_no_sentence_comes_twice(rows: list[dict[str, str]]) -> None:
    assert set(Counter(row["topic"] for row in rows).values()) == {32}
    sentences = [row["sentence"] for row in rows]
    assert len({sentence.casefold() for sentence in sentences}) == len(sentences) == 320
    assert all(5 <= len(sentence.split()) <= 23 for sentence in sentences)
    assert all(sentence == sentence.strip() and '"' not in sentence for sentence in sentences)
    assert sum(sentence.endswith("?") for sentence in sentences) >= 25
    topics = [row["topic"] for row in rows]
    assert sum(a != b for a, b in itertools.pairwise(topics)) > 250  # shuffled


def test_no_two_sentences_share_a_frame(rows: list[dict[str, str]]) -> None:
    grams = []
    for row in rows:
        words = re.findall(r"\w+(?:'\w+)*", row["sentence"].lower())
        grams.append({tuple(words[at : at + 3]) for at in range(len(words) - 2)})
    worst = max(len(a & b) / len(a | b) for a, b in itertools.combinations(grams, 2))
    assert worst < MAX_JACCARD


def test_the_mean_finds_a_topic_s_sentences_and_cls_fewer(rows: list[dict[str, str]], bundled: LoadedModel) -> None:
    choices = [Choice("mean", 6), Choice("cls", 6)]
    vectors = VectorCache().get(bundled, [row["sentence"] for row in rows], choices)
    topics = np.array([row["topic"] for row in rows])
    shares = []
    for found in vectors:
        cosines = normalised(found) @ normalised(found).T
        np.fill_diagonal(cosines, -1)
        nearest = np.argsort(-cosines, axis=1)[:, :NEIGHBOURS]
        shares.append(float((topics[nearest] == topics[:, None]).mean()))
        if found is vectors[0]:
            assert cosines.max() < MAX_COSINE
    assert shares[0] == pytest.approx(0.64, abs=0.01)  # as library.md says
    assert shares[1] == pytest.approx(0.48, abs=0.01)
