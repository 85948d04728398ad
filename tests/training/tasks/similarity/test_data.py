"""Scored pairs: a score stays as it is written, in every form of file; what is none is named with its row."""

from __future__ import annotations

import io
import json
from pathlib import Path

import openpyxl
import pytest

from demos.errors import UserError
from demos.training.sources import SOURCES, load_file
from demos.training.tasks.similarity.data import READER, SimilarityDataset, build_similarity

HEAD = "sentence1,sentence2,score\n"
SCORES = [k / 10 for k in range(51)]  # 0.0, 0.1, … 5.0: none is a whole number of floats' making
PAIRS = [(f"A man sees shop {k}.", f"Somebody looks at shop {k}.", score) for k, score in enumerate(SCORES)]


def csv_bytes(between: str = ",", comma: bool = False) -> bytes:
    rows = [(first, second, str(score).replace(".", ",") if comma else str(score)) for first, second, score in PAIRS]
    return "\n".join(between.join(row) for row in [("sentence1", "sentence2", "score"), *rows]).encode()


def workbook() -> bytes:
    book, made = openpyxl.Workbook(), io.BytesIO()
    for row in [("sentence1", "sentence2", "score"), *PAIRS]:
        book.active.append(row)
    book.save(made)
    return made.getvalue()


JSONL = "\n".join(json.dumps(dict(zip(("sentence1", "sentence2", "score"), row, strict=True))) for row in PAIRS)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", csv_bytes()),
        ("a.tsv", csv_bytes("\t")),
        ("a.csv", csv_bytes(";", comma=True)),
        ("a.xlsx", workbook()),
        ("a.jsonl", JSONL.encode()),
        ("nameless.csv", csv_bytes().partition(b"\n")[2]),
    ],
)
def test_every_form_keeps_the_scores(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    read = load_file("similarity", tmp_path / name)
    assert isinstance(read, SimilarityDataset)
    found = {
        (pair.first, pair.second): pair.score for split in (read.train, read.validation, read.test) for pair in split
    }
    assert found == {(first, second): score for first, second, score in PAIRS}
    assert read.trained_range[0] == min(pair.score for pair in read.train)
    assert read.trained_range[2] == max(pair.score for pair in read.train)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("high", "Row 3 has a score that is not a number: 'high'."),
        ("", "Row 3 has no score."),
        ("7.3", "Row 3 has the score 7.3; scores must be from 0 (nothing in common) to 5 (the same meaning)."),
        ("-1", "Row 3 has the score -1; scores must be from 0"),
        ("NaN", "Row 3 has a score that is not a number: 'NaN'."),
        ("1e400", "Row 3 has a score that is not a number: '1e400'."),
        ("<script>", "Row 3 has a score that is not a number: '<script>'."),
        ("9" * 400, "Row 3 has a score that is not a number: '99999999999999999999'."),
    ],
)
def test_a_score_that_is_none_is_named_with_its_row(written: str, told: str) -> None:
    with pytest.raises(UserError) as refused:
        READER.read(f"{HEAD}a,b,1\nc,d,{written}\n".encode(), "a.csv")
    assert str(refused.value).startswith(told)


@pytest.mark.parametrize(("row", "told"), [(",b,1", "no first sentence"), ("a, ,1", "no second sentence")])
def test_a_missing_sentence_is_named_with_its_row(row: str, told: str) -> None:
    with pytest.raises(UserError, match=f"Row 2 has {told}"):
        READER.read(f"{HEAD}{row}\n".encode(), "a.csv")


@pytest.mark.parametrize(
    ("scores", "told"),
    [([1.0] * 30, "are all the same, so there is nothing"), ([1.0, 2.0], "has 2 pairs; at least 20")],
)
def test_data_with_nothing_to_learn_is_refused(scores: list[float], told: str) -> None:
    text = HEAD + "".join(f"first {k},second {k},{score}\n" for k, score in enumerate(scores))
    with pytest.raises(UserError, match=told):
        build_similarity("a", READER.read(text.encode(), "a.csv").rows)  # type: ignore[arg-type]


def test_a_pair_the_other_way_round_is_the_same() -> None:
    text = csv_bytes().decode() + "\nSomebody looks at shop 3.,A  man sees shop 3.,4.5\n"
    data = build_similarity("a", READER.read(text.encode(), "a.csv").rows)  # type: ignore[arg-type]
    assert sum(map(len, (data.train, data.validation, data.test))) == len(PAIRS)
    assert any("with the labels '0.3' and '4.5': row 5 is used" in note for note in data.notes)


def test_our_own_pairs_cover_the_scale() -> None:
    data = SOURCES["similarity"].load(0, 1_500)
    assert isinstance(data, SimilarityDataset)
    assert (data.trained_range[0], data.trained_range[2]) == (0.0, 5.0)
    assert not {pair.first for pair in data.train} & {pair.first for pair in data.test}
