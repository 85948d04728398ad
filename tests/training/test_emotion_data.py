"""The bundled emotion sentences: balanced, varied, without templates, and none held out has a twin in train."""

from __future__ import annotations

import csv
import itertools
import re
import unicodedata
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from demos.bert.encoding import encode
from demos.bert.models import LoadedModel
from demos.bert.run import run_model

PATH = Path(__file__).parents[2] / "assets" / "data" / "emotion.tsv"
LABELS = ("anger", "fear", "joy", "love", "sadness", "surprise")
SPLITS = ("train", "validation", "test")
MAX_JACCARD = 0.5  # shared word 3-grams of two sentences, over all their 3-grams
MAX_COSINE = 0.75  # of two mean-pooled bundled-MiniLM vectors; a sentence with one word swapped reaches 0.8 and more
MAX_SAME_OPENING = 3  # sentences that begin with the same four words
BATCH = 48

Row = dict[str, str]


def words(text: str) -> list[str]:
    """The lowercased words without punctuation; an apostrophe inside a word stays."""
    return re.findall(r"\w+(?:'\w+)*", text.lower())


def trigrams(text: str) -> frozenset[tuple[str, ...]]:
    """The word 3-grams; a sentence of fewer words is its own single n-gram."""
    found = words(text)
    return frozenset(tuple(found[i : i + 3]) for i in range(max(1, len(found) - 2)))


def jaccard(first: frozenset[tuple[str, ...]], second: frozenset[tuple[str, ...]]) -> float:
    """|A and B| / |A or B|, 0 to 1."""
    return len(first & second) / len(first | second)


def mean_vectors(loaded: LoadedModel, texts: list[str]) -> np.ndarray:
    """Unit mean-pooled vectors of the last layer, <float32>[len(texts), d], in batches of like length."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    vectors = np.empty((len(texts), loaded.spec.width), dtype=np.float32)
    for start in range(0, len(order), BATCH):
        part = order[start : start + BATCH]
        runs = run_model(loaded, [encode(loaded.tokenizer, texts[i]) for i in part])
        for i, run in zip(part, runs, strict=True):
            vectors[i] = run.hidden_states[-1].mean(axis=0)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    with PATH.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def vectors(rows: list[Row], bundled: LoadedModel) -> np.ndarray:
    return mean_vectors(bundled, [row["text"] for row in rows])


def where(rows: list[Row], *splits: str) -> np.ndarray:
    """The row numbers of the given splits."""
    return np.array([i for i, row in enumerate(rows) if row["split"] in splits])


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
    with PATH.open(encoding="utf-8", newline="") as file:
        assert list(csv.DictReader(file, delimiter="\t")) == rows


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
