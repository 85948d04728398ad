"""The bundled reviews: balanced, varied, no label in an artefact; a bag of words does worse than frozen vectors."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from demos.bert.model.models import LoadedModel
from tests.training.written import (
    DATA,
    SPLITS,
    Row,
    frames,
    mean_vectors,
    near_copies,
    read_rows,
    stray_text,
    where,
    words,
)

PATH = DATA / "sentiment.tsv"
LABELS = ("negative", "positive")
MAX_JACCARD = 0.5
MAX_COSINE = 0.8
MAX_SAME_FRAME = 3
NEGATIONS = re.compile(r"\b(not|no|never|none|nothing|nobody|no one|neither|nor|without|hardly|cannot)\b|n't\b")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return read_rows(PATH)


@pytest.fixture(scope="module")
def vectors(rows: list[Row], bundled: LoadedModel) -> np.ndarray:
    return mean_vectors(bundled, [row["text"] for row in rows])


@pytest.fixture(scope="module")
def frozen(rows: list[Row], vectors: np.ndarray) -> float:
    """Test accuracy of a logistic regression over the bundled model's frozen mean vectors."""
    return accuracy(LogisticRegression(max_iter=1_000), vectors, rows)


@pytest.fixture(scope="module")
def bag(rows: list[Row]) -> float:
    """The same, over TF-IDF weights of words."""
    texts = np.array([row["text"] for row in rows], dtype=object)
    return accuracy(make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1_000)), texts, rows)


def accuracy(classifier: LogisticRegression | Pipeline, features: np.ndarray, rows: list[Row]) -> float:
    """Fitted on train, scored on test."""
    labels, train, test = np.array([row["label"] for row in rows]), where(rows, "train"), where(rows, "test")
    return float(classifier.fit(features[train], labels[train]).score(features[test], labels[test]))


def surface(text: str) -> list[float]:
    """What can be told of a sentence without understanding it."""
    found, lowered = words(text), text.lower()
    return [
        len(found),
        len(text) / len(found),
        *(text.count(mark) for mark in ",;:!?-'"),
        len(NEGATIONS.findall(lowered)),
        *(found.count(word) for word in ("but", "and", "so", "i", "my", "we", "they", "if", "only")),
        *(found[0] == word for word in ("the", "a", "i", "my", "it", "we", "our")),
        any(c.isdigit() for c in text),
    ]


def test_every_line_has_three_plain_fields(rows: list[Row]) -> None:
    lines = PATH.read_bytes().decode("utf-8").split("\n")
    assert lines[0] == "text\tlabel\tsplit"
    assert lines[-1] == ""
    assert all(line.count("\t") == 2 for line in lines[:-1])
    assert [row["text"] for row in rows if stray_text(row["text"])] == []
    assert {row["label"] for row in rows} == set(LABELS)
    assert {row["split"] for row in rows} == set(SPLITS)
    assert read_rows(PATH, honour_quotes=True) == rows  # the same for a reader that honours quotes


def test_classes_are_equal_in_every_split(rows: list[Row]) -> None:
    counts = Counter((row["split"], row["label"]) for row in rows)
    assert all(counts[split, "negative"] == counts[split, "positive"] for split in SPLITS)
    each = len(rows) // 2
    assert each >= 210
    assert [counts[split, "negative"] for split in SPLITS] == [each * 7 // 10, each // 10, each // 5]


def test_lengths_in_words_are_a_persons(rows: list[Row]) -> None:
    lengths = {label: [len(row["text"].split()) for row in rows if row["label"] == label] for label in LABELS}
    both = lengths["negative"] + lengths["positive"]
    assert min(both) >= 3
    assert max(both) <= 30
    assert len(set(both)) >= 15
    assert abs(np.mean(lengths["negative"]) - np.mean(lengths["positive"])) < 1


def test_no_text_twice_and_no_templates(rows: list[Row]) -> None:
    texts = [row["text"] for row in rows]
    assert len({" ".join(words(text)) for text in texts}) == len(texts)
    assert frames(texts, MAX_SAME_FRAME) == {}
    assert near_copies(texts, MAX_JACCARD) == []


def test_no_held_out_sentence_has_a_near_duplicate_in_train(rows: list[Row], vectors: np.ndarray) -> None:
    train, held_out = where(rows, "train"), where(rows, "validation", "test")
    cosine = vectors[held_out] @ vectors[train].T  # [held out, train]
    i, j = np.unravel_index(cosine.argmax(), cosine.shape)
    assert cosine.max() < MAX_COSINE, (rows[held_out[i]]["text"], rows[train[j]]["text"])


def test_a_negation_is_as_frequent_in_both_classes(rows: list[Row]) -> None:
    share = [
        np.mean([bool(NEGATIONS.search(row["text"].lower())) for row in rows if row["label"] == x]) for x in LABELS
    ]
    assert min(share) > 0.15  # there is something to compose
    assert abs(share[0] - share[1]) < 0.05


def test_the_surface_does_not_give_the_label_away(rows: list[Row]) -> None:
    features = np.array([surface(row["text"]) for row in rows], dtype=float)
    assert accuracy(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1_000)), features, rows) < 0.6


def test_frozen_vectors_learn_it_and_do_not_solve_it(frozen: float) -> None:
    assert 0.65 < frozen < 0.93  # guessing: 0.5


def test_a_bag_of_words_does_worse(frozen: float, bag: float) -> None:
    assert bag < frozen - 0.05
    assert bag < 0.7


def test_datasheet_tells_what_the_file_holds(rows: list[Row], frozen: float, bag: float, vectors: np.ndarray) -> None:
    sheet = " ".join(PATH.with_suffix(".md").read_text(encoding="utf-8").split())
    counts = Counter((row["split"], row["label"]) for row in rows)
    table = re.findall(r"\| (train|validation|test) +\| +(\d+) \| +(\d+) \|", sheet)
    assert [split for split, _, _ in table] == list(SPLITS)
    for split, each, total in table:
        assert [counts[split, label] for label in LABELS] == [int(each)] * len(LABELS)
        assert int(total) == int(each) * len(LABELS)
    labels = {row["text"]: row["label"] for row in rows}
    examples = re.findall(r'"([^"]+)" \((positive|negative)\)', sheet)
    assert len(examples) >= 6
    assert [label for _, label in examples] == [labels.get(text) for text, _ in examples]
    kinds = re.findall(r"\*(?:Direct|Roundabout)\* \((\d+)\)", sheet)
    assert sum(int(n) for n in kinds) == len(rows)
    lengths = sorted(len(row["text"].split()) for row in rows)
    assert f"{len(rows)} English reviews and remarks" in sheet
    assert f"{lengths[0]} to {lengths[-1]} words, {lengths[len(lengths) // 2]} in the middle" in sheet
    assert f"(train to test) gets {frozen:.2f}; over TF-IDF weights of words {bag:.2f}" in sheet
    closest = (vectors[where(rows, "validation", "test")] @ vectors[where(rows, "train")].T).max()
    assert f"(the highest is {closest:.2f})" in sheet
