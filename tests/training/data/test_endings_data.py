"""The bundled endings: four to a scene, one of them right, and no shortcut that finds it without the scene."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, cross_val_predict

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

PATH = DATA / "endings.tsv"
CHOICES = 4
PLACES = tuple(f"ending{place}" for place in range(CHOICES))
TEXTS = ("context", "start", *PLACES)
MAX_JACCARD = 0.5
MAX_COSINE = 0.8
MAX_SAME_FRAME = 3
MAX_BY_LENGTH = 1 / 3  # how often the longest or the shortest ending may be right; guessing: 1/4
MAX_BY_OVERLAP = 0.4
MAX_BY_COSINE = 0.6
MAX_WITHOUT_SCENE = 0.42
FOLDS = 5


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return read_rows(PATH)


@pytest.fixture(scope="module")
def scenes(rows: list[Row], bundled: LoadedModel) -> np.ndarray:
    """Vectors of context and start, <float32>[items, d]."""
    return mean_vectors(bundled, [f"{row['context']} {row['start']}" for row in rows])


@pytest.fixture(scope="module")
def by_cosine(rows: list[Row], scenes: np.ndarray, bundled: LoadedModel) -> float:
    """How often the held-out ending with the highest cosine to its scene is right."""
    held_out = where(rows, "validation", "test")
    found = mean_vectors(bundled, [ending for i in held_out for ending in endings(rows[i])])
    cosine = np.einsum("nd,nkd->nk", scenes[held_out], found.reshape(len(held_out), CHOICES, -1))
    return float(np.mean(cosine.argmax(axis=1) == labels(rows)[held_out]))


@pytest.fixture(scope="module")
def without_scene(rows: list[Row]) -> float:
    """How often the ending that a cross-validated classifier of single endings finds the likeliest is right."""
    texts = [ending for row in rows for ending in endings(row)]
    right = (labels(rows)[:, None] == np.arange(CHOICES)).ravel()
    item = np.repeat(np.arange(len(rows)), CHOICES)
    weights = TfidfVectorizer().fit_transform(texts)
    sure = cross_val_predict(
        LogisticRegression(class_weight="balanced"),
        weights,
        right,
        groups=item,
        cv=GroupKFold(FOLDS),
        method="decision_function",
    ).reshape(-1, CHOICES)
    return float(np.mean(sure.argmax(axis=1) == labels(rows)))


def endings(row: Row) -> list[str]:
    return [row[place] for place in PLACES]


def right_one(row: Row) -> str:
    return endings(row)[int(row["label"])]


def labels(rows: list[Row]) -> np.ndarray:
    return np.array([int(row["label"]) for row in rows])


def picks(rows: list[Row], score: Callable[[Row, str], float]) -> float:
    """How often the ending of the highest score is right; a tie is drawn by lot, so it counts in part."""
    hits = 0.0
    for row in rows:
        scores = [score(row, ending) for ending in endings(row)]
        if scores[int(row["label"])] == max(scores):
            hits += 1 / scores.count(max(scores))
    return hits / len(rows)


def overlap(row: Row, ending: str) -> int:
    """How many words of the ending stand in the context too."""
    return len(set(words(ending)) & set(words(row["context"])))


SHORTCUTS: dict[str, tuple[Callable[[Row, str], float], float]] = {
    "the longest, in characters": (lambda _, ending: len(ending), MAX_BY_LENGTH),
    "the shortest, in characters": (lambda _, ending: -len(ending), MAX_BY_LENGTH),
    "the longest, in words": (lambda _, ending: len(words(ending)), MAX_BY_LENGTH),
    "the shortest, in words": (lambda _, ending: -len(words(ending)), MAX_BY_LENGTH),
    "the most words of the context": (overlap, MAX_BY_OVERLAP),
    "the fewest words of the context": (lambda row, ending: -overlap(row, ending), MAX_BY_OVERLAP),
}


def test_every_line_has_eight_plain_fields(rows: list[Row]) -> None:
    lines = PATH.read_bytes().decode("utf-8").split("\n")
    assert lines[0].split("\t") == [*TEXTS, "label", "split"]
    assert lines[-1] == ""
    assert all(line.count("\t") == 7 for line in lines[:-1])
    assert [row[name] for row in rows for name in TEXTS if not row[name] or stray_text(row[name])] == []
    assert {row["split"] for row in rows} == set(SPLITS)
    assert read_rows(PATH, honour_quotes=True) == rows  # the same for a reader that honours quotes


def test_sentences_end_where_they_should(rows: list[Row]) -> None:
    for row in rows:
        assert row["context"][0].isupper()
        assert row["context"].endswith(".")
        assert row["start"][0].isupper()
        assert not row["start"].endswith(".")
        assert all(not ending[0].isupper() and ending.endswith(".") for ending in endings(row)), row


def test_each_place_is_right_as_often_in_every_split(rows: list[Row]) -> None:
    counts = Counter((row["split"], row["label"]) for row in rows)
    each = len(rows) // CHOICES
    assert len(rows) == each * CHOICES >= 180
    for place in map(str, range(CHOICES)):
        assert [counts[split, place] for split in SPLITS] == [each * 7 // 10, each // 10, each // 5]


def test_no_ending_and_no_scene_twice_and_no_templates(rows: list[Row]) -> None:
    every = Counter(" ".join(words(ending)) for row in rows for ending in endings(row))
    assert [ending for ending, n in every.items() if n > 1] == []
    assert near_copies([row["context"] for row in rows], MAX_JACCARD) == []
    assert frames([row["context"] for row in rows], MAX_SAME_FRAME) == {}
    told = [f"{row['start']} {right_one(row)}" for row in rows]
    assert frames(told, MAX_SAME_FRAME) == {}
    # The endings of one item may share a frame, so an item counts once.
    runs: Counter[tuple[str, ...]] = Counter()
    for row in rows:
        found = [words(ending) for ending in endings(row)]
        runs.update({tuple(ending[i : i + 5]) for ending in found for i in range(len(ending) - 4)})
    assert [run for run, n in runs.items() if n > MAX_SAME_FRAME] == []


def test_no_held_out_scene_has_a_near_duplicate_in_train(rows: list[Row], scenes: np.ndarray) -> None:
    train, held_out = where(rows, "train"), where(rows, "validation", "test")
    cosine = scenes[held_out] @ scenes[train].T  # [held out, train]
    i, j = np.unravel_index(cosine.argmax(), cosine.shape)
    assert cosine.max() < MAX_COSINE, (rows[held_out[i]]["context"], rows[train[j]]["context"])


def test_the_endings_of_an_item_are_of_like_length(rows: list[Row]) -> None:
    for row in rows:
        lengths = [len(words(ending)) for ending in endings(row)]
        assert max(lengths) - min(lengths) <= 7, row
    right = [len(right_one(row)) for row in rows]
    every = [len(ending) for row in rows for ending in endings(row)]
    assert abs(np.mean(right) - np.mean(every)) < 2


@pytest.mark.parametrize("shortcut", SHORTCUTS)
def test_neither_length_nor_overlap_gives_the_right_one_away(rows: list[Row], shortcut: str) -> None:
    score, limit = SHORTCUTS[shortcut]
    assert picks(rows, score) < limit


def test_the_highest_cosine_to_the_scene_does_not_either(by_cosine: float) -> None:
    assert by_cosine < MAX_BY_COSINE


def test_nor_does_the_ending_by_itself(without_scene: float) -> None:
    assert without_scene < MAX_WITHOUT_SCENE


def test_datasheet_tells_what_the_file_holds(
    rows: list[Row], scenes: np.ndarray, by_cosine: float, without_scene: float
) -> None:
    sheet = " ".join(PATH.with_suffix(".md").read_text(encoding="utf-8").split())
    assert f"**What.** {len(rows)} " in sheet
    counts = Counter((row["split"], row["label"]) for row in rows)
    table = re.findall(r"\| (train|validation|test) +\| +(\d+) \| +(\d+) \|", sheet)
    assert [split for split, _, _ in table] == list(SPLITS)
    for split, each, total in table:
        assert {counts[split, str(place)] for place in range(CHOICES)} == {int(each)}
        assert int(total) == int(each) * CHOICES
    for name, texts in (
        ("a context", [row["context"] for row in rows]),
        ("a start", [row["start"] for row in rows]),
        ("an ending", [ending for row in rows for ending in endings(row)]),
    ):
        lengths = sorted(len(text.split()) for text in texts)
        assert f"{name} {lengths[0]} to {lengths[-1]} words ({lengths[len(lengths) // 2]} in the middle)" in sheet
    told = dict(re.findall(r"\| ([^|]+?) +\| +(0\.\d\d) \|", sheet))
    measured = {name: picks(rows, score) for name, (score, _) in SHORTCUTS.items()}
    measured |= {"the highest MiniLM cosine to the scene": by_cosine, "the likeliest without its scene": without_scene}
    assert told == {name: f"{share:.2f}" for name, share in measured.items()}
    held_out = where(rows, "validation", "test")
    assert f"({len(held_out)} items)" in sheet
    assert f"(the highest is {(scenes[held_out] @ scenes[where(rows, 'train')].T).max():.2f})" in sheet
    quoted = set(re.findall(r'"([^"]+)"', sheet))
    assert len(quoted) >= 12
    assert quoted <= {row[name] for row in rows for name in TEXTS}
