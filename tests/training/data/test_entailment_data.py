"""The premises and hypotheses of our own: plain text, each premise with each relation, no premise in two splits."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

from demos.training.sources import SOURCES
from tests.training.hand_written_data import DATA, read_rows, sheet_of, stray_text

CLASSES = ("contradiction", "entailment", "neutral")
ROWS = read_rows(DATA / "entailment.tsv")


def test_each_premise_has_one_hypothesis_of_each_relation_and_one_split() -> None:
    by_premise = defaultdict(list)
    for row in ROWS:
        assert tuple(row) == ("premise", "hypothesis", "label", "split")
        assert not any(stray_text(cell) or not cell for cell in row.values())
        by_premise[row["premise"]].append(row)
    assert len(by_premise) == 32
    for rows in by_premise.values():
        assert sorted(row["label"] for row in rows) == sorted(CLASSES)
        assert len({row["split"] for row in rows}) == 1
    texts = [text.casefold() for text in {*by_premise, *(row["hypothesis"] for row in ROWS)}]
    assert len(set(texts)) == 32 * 4
    assert Counter(row["split"] for row in ROWS) == {"train": 60, "validation": 12, "test": 24}


def test_the_page_reads_it_as_pairs() -> None:
    data = SOURCES["entailment"].load(0, 1_500)
    assert (data.kind, data.labels) == ("pair", CLASSES)  # type: ignore[attr-defined]
    assert (len(data.train), len(data.validation), len(data.test)) == (60, 12, 24)


def test_what_the_hypothesis_alone_gives_away_is_told() -> None:
    """A known fault of such data (Gururangan et al. 2018): the sheet says how large it is here."""
    counts = CountVectorizer(ngram_range=(1, 2)).fit_transform([row["hypothesis"] for row in ROWS])
    labels = np.array([row["label"] for row in ROWS])
    premises = [row["premise"] for row in ROWS]
    model = LogisticRegression(max_iter=1_000)
    guesses = cross_val_predict(model, counts, labels, groups=premises, cv=GroupKFold(8))
    assert f"its hypothesis alone gets {(guesses == labels).mean():.2f}" in sheet_of("entailment.tsv")
