"""Scored pairs: a score stays as it is written, in every form of file; what is none is named with its row."""

import io
import json
from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest

from demos.errors import UserError
from demos.training.sources import SOURCES, load_file
from demos.training.tasks.similarity.data import READER, SimilarityDataset, build_similarity, points_of, rating_of

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
        READER.read(f"{HEAD}{row}\nc,d,2\n".encode(), "a.csv")


@pytest.mark.parametrize(
    ("scores", "told"),
    [([1.0] * 30, "are all the same, so there is nothing"), ([1.0, 2.0], "has 2 pairs; at least 20")],
)
def test_data_with_nothing_to_learn_is_refused(scores: list[float], told: str) -> None:
    text = HEAD + "".join(f"first {k},second {k},{score}\n" for k, score in enumerate(scores))
    with pytest.raises(UserError, match=told):
        build_similarity("a", READER.read(text.encode(), "a.csv").rows)  # type: ignore[arg-type]


TEXTS = [(f"The shop at number {k} opens.", k % 10 + 1) for k in range(40)]
ROWS = [(str(text), str(score)) for text, score in TEXTS]


def as_csv(rows: Sequence[Sequence[str]], between: str = ",") -> bytes:
    return "\n".join(between.join(row) for row in rows).encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.csv", as_csv([("text", "score"), *ROWS])),
        ("a.csv", as_csv([("Bewertung", "Sterne"), *ROWS], ";")),
        ("a.csv", as_csv([("id", "review_text", "rating"), *((f"r{k}", *row) for k, row in enumerate(ROWS))])),
        ("a.tsv", as_csv(ROWS, "\t")),  # no names
        ("a.csv", as_csv([("sentence1", "sentence2", "score"), *((text, "", score) for text, score in ROWS)])),
        ("a.jsonl", "\n".join(json.dumps({"comment": text, "stars": score}) for text, score in TEXTS).encode()),
    ],
)
def test_single_texts_have_scores_on_a_scale_of_their_own(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    read = load_file("similarity", tmp_path / name)
    assert isinstance(read, SimilarityDataset)
    assert read.single
    assert {pair.first: pair.score for split in (read.train, read.validation, read.test) for pair in split} == dict(
        TEXTS
    )
    assert read.points == tuple(range(1, 11))
    assert "8 texts drawn for the test split (seed 0)." in read.notes


def test_columns_that_are_chosen_make_a_pair_or_a_single_text(tmp_path: Path) -> None:
    rows = [("title", "review", "rating"), *((f"Visit {k} to it", *row) for k, row in enumerate(ROWS))]
    (tmp_path / "a.csv").write_bytes(as_csv([(*row[:2], "4" if row[2] != "rating" else row[2]) for row in rows]))
    with pytest.raises(UserError, match="training texts are all the same"):
        load_file("similarity", tmp_path / "a.csv", columns="text=review,label=rating")  # as for classes
    with pytest.raises(UserError, match="training pairs are all the same"):
        load_file("similarity", tmp_path / "a.csv", columns="sentence1=review,sentence2=title,score=rating")
    (tmp_path / "a.csv").write_bytes(as_csv(rows))
    joined = load_file("similarity", tmp_path / "a.csv", columns="text=title,text=review,label=rating")
    assert all(pair.first.startswith("Visit") and "The shop" in pair.first for pair in joined.train)


def test_texts_without_a_score_are_left_out_and_groups_stay_together(tmp_path: Path) -> None:
    rows = [(*row, f"user{k // 4}") for k, row in enumerate(ROWS)]
    odd = [("No stars here at all", "n/a", "user1"), ("", "3", "user2"), ("Nor any here", "", "user3")]
    (tmp_path / "a.csv").write_bytes(as_csv([("text", "stars", "group"), *rows, *odd]))
    read = load_file("similarity", tmp_path / "a.csv")
    assert sum(map(len, (read.train, read.validation, read.test))) == len(TEXTS)
    assert {"2 rows left out: no score.", "1 row left out: no text.", "Rows of one group stay in one split."} <= set(
        read.notes
    )
    group = {text: user for text, _, user in rows}
    assert not {group[pair.first] for pair in read.train} & {group[pair.first] for pair in read.test}


@pytest.mark.parametrize("seed", range(5))
def test_each_split_of_a_small_rating_has_all_its_scores(seed: int) -> None:
    rows = as_csv([("text", "stars"), *((f"text {k} is here", str(k % 5 + 1)) for k in range(25))])
    data = build_similarity("a", READER.read(rows, "a.csv").rows, seed)  # type: ignore[arg-type]
    assert [sorted({pair.score for pair in split}) for split in (data.train, data.validation, data.test)] == [
        [1, 2, 3, 4, 5]
    ] * 3
    assert f"5 texts drawn for the test split (score by score, seed {seed})." in data.notes


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (["high"], "Row 2 has a score that is not a number: 'high'."),
        (["1e9"], "Row 2 has the score 1e+09; it must be between −1,000,000 and 1,000,000."),
        (["1e400"], "Row 2 has a score that is not a number: '1e400'."),
        (["-", "-", "4"], "Row 2 has no score; 2 of 3 rows can't be used."),
        ([str(k) for k in range(19)], "The file has 19 texts; at least 20 are needed."),
    ],
)
def test_bad_scores_of_texts_are_one_sentence(written: list[str], told: str) -> None:
    rows = as_csv([("text", "score"), *((f"text {k} is here", score) for k, score in enumerate(written))])
    with pytest.raises(UserError) as refused:
        build_similarity("a", READER.read(rows, "a.csv").rows)  # type: ignore[arg-type]
    assert str(refused.value) == told


@pytest.mark.parametrize(
    ("scores", "points"),
    [
        ((1, 5), range(1, 6)),
        ((0.2, 0.9), range(2)),
        ((-2, 2), range(-2, 3)),
        ((1, 10), range(1, 11)),
        ((0, 100), range(0, 101, 10)),
        ((1, 99.5), range(0, 101, 10)),
        ((18, 73), range(10, 81, 10)),
        ((-7, 12), range(-8, 13, 2)),
    ],
)
def test_points_are_even_and_around_the_scores(scores: tuple[float, float], points: range) -> None:
    assert points_of(scores) == tuple(points)


@pytest.mark.parametrize(
    ("scores", "rating"),
    [
        ([1, 2, 3, 4, 5, 5], (1, 5)),
        ([-2, -1, 0, 1, 2, 2], (-2, 2)),
        ([0, 25, 50, 75, 100, 100], (0, 100)),
        ([1, 2, 3, 4, 4], None),  # four steps
        ([1, 2, 3, 4, 4.5, 5, 5], None),
        ([1, 2, 3, 4, 5, None], None),
        ([1, 2, 3, 4, 5], None),  # each once, as numbers of rows are
        ([7001, 7003, 7020, 8000, 9000, 9000], None),
        ([*range(102), 1], None),
    ],
)
def test_whole_numbers_without_gaps_or_up_to_a_hundred_are_a_rating(
    scores: list[float | None], rating: tuple[int, int] | None
) -> None:
    assert rating_of(scores) == rating


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
