"""The bundled emotion sentences: balanced, varied, without templates, and none held out has a twin in train."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from demos.bert.model.models import LoadedModel
from tests.training.written import DATA, SPLITS, Row, jaccard, mean_vectors, read_rows, trigrams, where, words

PATH = DATA / "emotion.tsv"
LABELS = ("anger", "fear", "joy", "love", "sadness", "surprise")
MAX_JACCARD = 0.5  # shared word 3-grams of two sentences, over all their 3-grams
MAX_COSINE = 0.75  # of two mean-pooled bundled-MiniLM vectors; a sentence with one word swapped reaches 0.8 and more
MAX_SAME_OPENING = 3  # sentences that begin with the same four words


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return read_rows(PATH)


@pytest.fixture(scope="module")
def vectors(rows: list[Row], bundled: LoadedModel) -> np.ndarray:
    return mean_vectors(bundled, [row["text"] for row in rows])


def test_every_line_has_three_plain_fields(rows: list[Row]) -> None:
    lines = PATH.read_bytes().decode("utf-8").split("\n")
    assert lines[0] == "text\tlabel\tsplit"
    assert lines[-1] == ""
    assert all(line.count("\t") == 2 for line in lines[:-1])
    for row in rows:
        text = row["text"]
        assert text == " ".join(text.split()), f"stray white space: {text!r}"
        assert not any(unicodedata.category(c).startswith("C") for c in text), f"control character: {text!r}"
        assert row["label"] in LABELS
        assert row["split"] in SPLITS


def test_reads_the_same_for_a_reader_that_honours_quotes(rows: list[Row]) -> None:
    assert read_rows(PATH, honour_quotes=True) == rows


def test_size_and_balance(rows: list[Row]) -> None:
    assert len(rows) >= 600
    for splits in (SPLITS, *((split,) for split in SPLITS)):
        counts = Counter(row["label"] for row in rows if row["split"] in splits)
        assert set(counts) == set(LABELS), splits
        assert max(counts.values()) <= 1.2 * min(counts.values()), (splits, counts)


def test_lengths_in_words_are_a_persons(rows: list[Row]) -> None:
    lengths = [len(row["text"].split()) for row in rows]
    assert min(lengths) >= 3
    assert max(lengths) <= 40
    assert len(set(lengths)) >= 15  # short cries and long sentences, not one mould


def test_no_text_twice(rows: list[Row]) -> None:
    counts = Counter(" ".join(words(row["text"])) for row in rows)
    assert [text for text, n in counts.items() if n > 1] == []


def test_no_template_frames(rows: list[Row]) -> None:
    openings = Counter(tuple(words(row["text"])[:4]) for row in rows)
    assert {opening: n for opening, n in openings.items() if n > MAX_SAME_OPENING} == {}
    inside: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        found = words(row["text"])
        inside.update({tuple(found[i : i + 5]) for i in range(len(found) - 4)})
    assert {frame: n for frame, n in inside.items() if n > MAX_SAME_OPENING} == {}


def test_no_label_is_given_away_by_its_first_word(rows: list[Row]) -> None:
    for label in LABELS:
        firsts = Counter(words(row["text"])[0] for row in rows if row["label"] == label)
        assert max(firsts.values()) <= 0.35 * firsts.total(), (label, firsts.most_common(1))


def test_no_two_sentences_share_half_their_trigrams(rows: list[Row]) -> None:
    grams = [(row["text"], trigrams(row["text"])) for row in rows]
    near = [(a, b) for (a, x), (b, y) in itertools.combinations(grams, 2) if jaccard(x, y) >= MAX_JACCARD]
    assert near == []


def test_no_held_out_sentence_has_a_near_duplicate_in_train(rows: list[Row], vectors: np.ndarray) -> None:
    train, held_out = where(rows, "train"), where(rows, "validation", "test")
    cosine = vectors[held_out] @ vectors[train].T  # [held out, train]
    i, j = np.unravel_index(cosine.argmax(), cosine.shape)
    closest = rows[held_out[i]]["text"], rows[train[j]]["text"]
    assert cosine.max() < MAX_COSINE, closest


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We sat around the fire telling jokes until dawn.", "We sat around the fire telling jokes until sunrise."),
        ("I passed every single exam, even statistics!", "I passed every single exam, even the statistics."),
    ],
)
def test_both_measures_do_catch_a_near_duplicate(bundled: LoadedModel, first: str, second: str) -> None:
    assert jaccard(trigrams(first), trigrams(second)) >= MAX_JACCARD
    pair = mean_vectors(bundled, [first, second])
    assert pair[0] @ pair[1] >= MAX_COSINE


def test_datasheet_tells_what_the_file_holds(rows: list[Row]) -> None:
    sheet = PATH.with_suffix(".md").read_text(encoding="utf-8")
    counts = Counter((row["split"], row["label"]) for row in rows)
    for split, each, total in re.findall(r"^\| (\w+) +\| +(\d+) \| +(\d+) \|$", sheet, re.MULTILINE):
        assert [counts[split, label] for label in LABELS] == [int(each)] * len(LABELS)
        assert int(total) == int(each) * len(LABELS)
    labels = {row["text"]: row["label"] for row in rows}
    examples = re.findall(r'^\| (\w+) +\| [^|]+\| "([^|]+)" \|$', sheet, re.MULTILINE)
    assert sorted(label for label, _ in examples) == sorted(LABELS)
    assert [label for label, _ in examples] == [labels.get(text) for _, text in examples]


def test_frozen_features_learn_it_but_do_not_solve_it(rows: list[Row], vectors: np.ndarray) -> None:
    labels = np.array([row["label"] for row in rows])
    train, test = where(rows, "train"), where(rows, "test")
    classifier = LogisticRegression(max_iter=1_000).fit(vectors[train], labels[train])
    accuracy = classifier.score(vectors[test], labels[test])
    majority = Counter(labels[test]).most_common(1)[0][1] / len(test)
    assert accuracy > 3 * majority  # labels a model can learn
    assert accuracy < 0.92  # beyond this, a keyword list would do and there is nothing to fine-tune
