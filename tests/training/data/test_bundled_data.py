"""Our own data sets: plain text, balanced, varied, nothing twice and nothing held out that is nearly trained on."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from demos.bert.model.models import LoadedModel
from tests.training.hand_written_data import (
    DATA,
    SPLITS,
    Row,
    frames,
    mean_vectors,
    near_copies,
    read_rows,
    sheet_of,
    stray_text,
    trigrams,
    vectors_of,
    where,
    words,
)
from tests.training.hand_written_data import jaccard as jaccard_of

MAX_SAME_FRAME = 3  # texts with one four-word opening or one five-word run


@dataclass(frozen=True)
class Written:
    """A data set of ours, and the bounds that it keeps."""

    file: str
    texts: tuple[str, ...]  # the columns of which no two cells may be alike
    lengths: tuple[int, int, int]  # words of the shortest and of the longest, and how many different lengths there are
    scene: tuple[str, ...] = ()  # the columns that tell what a row is about; `texts`, each by itself, where none
    jaccard: float = 0.5  # shared word 3-grams of two texts, over all their 3-grams: less than this
    cosine: float = 0.0  # of a held-out text and a training one, mean-pooled by the bundled model: less; 0: not bounded
    classes: tuple[str, ...] = ()  # equally many rows in each split; where it is a table
    columns: tuple[str, ...] = ("text", "label", "split")
    least: int = 0  # rows

    def rows(self) -> list[Row]:
        path = DATA / self.file
        if path.suffix == ".tsv":
            return read_rows(path)
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        if path.suffix == ".conll":
            blocks = [block.split("\n") for block in path.read_text(encoding="utf-8").strip().split("\n\n")]
            return [{"text": " ".join(line.split("\t")[0] for line in lines)} for _, *lines in blocks]
        paragraphs = [
            p for article in json.loads(path.read_text(encoding="utf-8"))["data"] for p in article["paragraphs"]
        ]
        if self.texts == ("context",):
            return [{"context": paragraph["context"]} for paragraph in paragraphs]
        return [qa for paragraph in paragraphs for qa in paragraph["qas"]]

    def cells(self) -> list[str]:
        """Row by row."""
        return [row[column] for row in self.rows() for column in self.texts]


# A sentence with one word swapped reaches a cosine of 0.8 and more.
WRITTEN = {
    "emotion": Written(
        "emotion.tsv", ("text",), (3, 40, 15), cosine=0.75,
        classes=("anger", "fear", "joy", "love", "sadness", "surprise"), least=600,
    ),
    "sentiment": Written(
        "sentiment.tsv", ("text",), (3, 30, 15), cosine=0.8, classes=("negative", "positive"), least=420,
    ),
    "films": Written(
        "films.tsv", ("text",), (4, 30, 20), cosine=0.8, classes=("negative", "positive"), least=400,
    ),
    "paraphrase": Written(
        "paraphrase.tsv", ("first", "second"), (2, 30, 10), cosine=0.8, classes=("different", "paraphrase"),
        columns=("first", "second", "label", "split"), least=420,
    ),
    "endings": Written(
        "endings.tsv", ("context",), (3, 40, 10), scene=("context", "start"), cosine=0.8, classes=tuple("0123"),
        columns=("context", "start", *(f"ending{place}" for place in range(4)), "label", "split"), least=180,
    ),
    "restaurants": Written("restaurants.jsonl", ("text",), (4, 20, 12)),
    "library": Written("library.tsv", ("sentence",), (5, 23, 1)),
    "entities": Written("entities.conll", ("text",), (3, 40, 20), jaccard=0.3),
    "paragraphs": Written("questions.json", ("context",), (50, 110, 20)),
    "questions": Written("questions.json", ("question",), (3, 16, 1)),
    "unanswerable": Written("unanswerable.json", ("question",), (3, 16, 1)),
}  # fmt: skip
TABLES = [name for name, written in WRITTEN.items() if written.classes]
COMPARED = [name for name, written in WRITTEN.items() if written.cosine]


@pytest.mark.parametrize("name", TABLES)
def test_every_line_has_its_plain_fields(name: str) -> None:
    written, rows = WRITTEN[name], WRITTEN[name].rows()
    path = DATA / written.file
    lines = path.read_bytes().decode("utf-8").split("\n")
    assert tuple(lines[0].split("\t")) == written.columns
    assert lines[-1] == ""
    assert all(line.count("\t") == len(written.columns) - 1 for line in lines[:-1])
    assert [cell for row in rows for cell in row.values() if not cell or stray_text(cell)] == []
    assert {row["split"] for row in rows} == set(SPLITS)
    assert read_rows(path, honour_quotes=True) == rows  # the same for a reader that honours quotes


@pytest.mark.parametrize("name", TABLES)
def test_classes_are_equal_in_every_split(name: str) -> None:
    written, rows = WRITTEN[name], WRITTEN[name].rows()
    assert len(rows) >= written.least
    each = len(rows) // len(written.classes)
    counts = Counter((row["split"], row["label"]) for row in rows)
    shares = zip(SPLITS, (each * 7 // 10, each // 10, each // 5), strict=True)
    assert counts == {(split, label): count for split, count in shares for label in written.classes}


@pytest.mark.parametrize("name", WRITTEN)
def test_lengths_in_words_are_a_persons(name: str) -> None:
    shortest, longest, different = WRITTEN[name].lengths
    lengths = [len(text.split()) for text in WRITTEN[name].cells()]
    assert min(lengths) >= shortest
    assert max(lengths) <= longest
    assert len(set(lengths)) >= different  # short cries and long sentences, not one mould


@pytest.mark.parametrize("name", WRITTEN)
def test_no_text_twice_or_nearly(name: str) -> None:
    written, texts = WRITTEN[name], WRITTEN[name].cells()
    counts = Counter(" ".join(words(text)) for text in texts)
    assert [text for text, count in counts.items() if count > 1] == []
    together = len(written.texts)  # the texts of one row may be near
    near = [(i, j) for i, j in near_copies(texts, written.jaccard) if i // together != j // together]
    assert [(texts[i], texts[j]) for i, j in near] == []


@pytest.mark.parametrize("name", [*TABLES, "entities", "restaurants"])
def test_no_template_frames(name: str) -> None:
    for column in WRITTEN[name].texts:  # the texts of one row may begin alike
        assert frames([row[column] for row in WRITTEN[name].rows()], MAX_SAME_FRAME) == {}


def closest(written: Written, rows: Sequence[Row], loaded: LoadedModel) -> tuple[float, Row, Row]:
    """The highest cosine of a held-out text and a training one, and their rows."""
    columns = [written.scene] if written.scene else [(column,) for column in written.texts]
    vectors = np.stack([vectors_of(loaded, written.file, texts) for texts in columns], axis=1)  # [rows, texts, d]
    train, held_out = where(list(rows), "train"), where(list(rows), "validation", "test")
    cosine = np.einsum("isd,jtd->ijst", vectors[held_out], vectors[train]).max(axis=(2, 3))  # [held out, train]
    i, j = np.unravel_index(cosine.argmax(), cosine.shape)
    return float(cosine.max()), rows[held_out[i]], rows[train[j]]


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
def test_no_held_out_text_has_a_near_duplicate_in_train(name: str, bundled: LoadedModel) -> None:
    written = WRITTEN[name]
    highest, *pair = closest(written, written.rows(), bundled)
    assert highest < written.cosine, pair
    assert name == "emotion" or f"(the highest is {highest:.2f})" in sheet_of(written.file)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("We sat around the fire telling jokes until dawn.", "We sat around the fire telling jokes until sunrise."),
        ("I passed every single exam, even statistics!", "I passed every single exam, even the statistics."),
    ],
)
def test_both_measures_do_catch_a_near_duplicate(bundled: LoadedModel, first: str, second: str) -> None:
    assert jaccard_of(trigrams(first), trigrams(second)) >= WRITTEN["emotion"].jaccard
    pair = mean_vectors(bundled, [first, second])
    assert pair[0] @ pair[1] >= WRITTEN["emotion"].cosine


@pytest.mark.parametrize("name", TABLES)
def test_the_datasheet_counts_the_rows_of_each_split(name: str) -> None:
    written = WRITTEN[name]
    counts = Counter((row["split"], row["label"]) for row in written.rows())
    table = re.findall(r"\| (train|validation|test) +\| +(\d+) \| +(\d+) \|", sheet_of(written.file))
    assert [split for split, _, _ in table] == list(SPLITS)
    for split, each, total in table:
        assert {counts[split, label] for label in written.classes} == {int(each)}
        assert int(total) == int(each) * len(written.classes)
