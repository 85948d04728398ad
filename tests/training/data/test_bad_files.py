"""Files as people choose them: each broken one is refused in one plain sentence, at once."""

import gzip
import io
import json
import re
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from demos.errors import UserError
from demos.training.data.upload_limit import MAX_UPLOAD
from demos.training.sources import READERS, load_file
from tests.systems import needs_links
from tests.training.data.made_files import (
    CONLL,
    FILMS,
    GOOD,
    ITEM_NAMES,
    ITEMS,
    changed,
    films,
    lines,
    pairs,
    split,
    squad,
    table,
)  # fmt: skip

MOST_SECONDS = 60.0  # of this thread, for one file; the slowest took 3.5 in CI
LONGEST = 200  # characters of a sentence


def zipped(text: str, *others: str, name: str = "a.csv") -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in (name, *others):
            archive.writestr(each, text)
    return whole.getvalue()


def scored(last: str) -> str:
    """Twenty pairs with a score, and one more with `last` in the score's place."""
    rows = [f"A man plays {k}.\tSomebody plays {k}.\t{k % 6}" for k in range(20)]
    return "\n".join(["sentence1\tsentence2\tscore", *rows, f"A dog.\tA cat.\t{last}"])


BOMB = gzip.compress(bytes(10_000_000))
WIDE = [f"c{k}" for k in range(100_000)]

# what is wrong -> (the file's name, its task, what it holds, what the sentence must say)
BROKEN: dict[str, tuple[str, str, str | bytes, str]] = {
    "nothing": ("a.csv", "sentence", "", "The file has no rows"),
    "nothing, of pairs": ("a.tsv", "pair", b"\xef\xbb\xbf", "The file has no rows"),
    "nothing, of names": ("a.conll", "entities", "", "no sentences"),
    "nothing, of questions": ("a.json", "question", " \n", "no rows"),
    "a header alone": ("a.csv", "sentence", "text,label\n", "no rows"),
    "one class": ("a.csv", "sentence", table([(text, "x") for text, _ in FILMS]), "Every row has the same label, 'x'"),
    "most labels missing": (
        "a.csv",
        "sentence",
        films(*[(f"x{k}", "") for k in range(60)]),
        "Row 42 has no label; 60 of 100 rows can't be used",
    ),
    "no texts": ("a.csv", "sentence", table([(" ", "no")] * 9), "Row 2 has no text; 9 of 9 rows can't be used"),
    "a class with one row": ("a.csv", "sentence", films(("odd", "maybe")), "The class 'maybe' (row 42)"),
    "None for a label": ("a.csv", "sentence", films(("odd", "None")), "The class 'None' (row 42)"),
    "100,000 columns": ("a.csv", "sentence", table([range(100_000)], WIDE), "100,000 columns; the limit is 100"),
    "100,000 columns of CoNLL": ("a.conll", "entities", "\t".join(WIDE), "Line 1 has 100,000 columns"),
    "100,000 keys": ("a.jsonl", "sentence", json.dumps(dict.fromkeys(WIDE, 1)), "100,000 columns; the limit is 100"),
    "a row of 100,000 columns": (
        "a.csv", "sentence", GOOD + ",".join(WIDE), "Row 42 has 100,000 columns, but the first row has 2",
    ),
    "a gzip bomb called csv": ("a.csv", "sentence", BOMB, "The file is compressed"),
    "a gzip bomb called tsv": ("a.tsv", "entities", BOMB, "The file is compressed"),
    "a gzip bomb": ("a.csv.gz", "sentence", BOMB, "ends in '.gz'"),
    "a zip of two": ("a.zip", "sentence", zipped(GOOD, "b.csv"), "several files that can be read: 'a.csv', 'b.csv'"),
    "a zip of nothing": ("a.zip", "sentence", zipped(GOOD, name="a.exe"), "The archive has no file that can be read"),
    "a broken zip": ("a.zip", "sentence", zipped(GOOD)[:-30], "The zip archive is broken or has a password"),
    "a zip bomb": (
        "a.zip", "sentence", zipped("a" * 6 * 2**20), "The file in the archive has 6.0 MB; the limit is 5 MB",
    ),
    "no Parquet": ("a.parquet", "sentence", b"PAR1" + bytes(99), "The Parquet file is broken"),
    "a zip called csv": ("a.csv", "sentence", zipped(GOOD), "a zip archive, not an Excel workbook"),
    "an ending of another kind": ("a.conll", "sentence", GOOD, "ends in '.conll'"),
    "no ending, other columns": ("data", "pair", GOOD, "No column is named sentence1 and sentence2"),
    "UTF-16 without its mark": ("a.csv", "sentence", GOOD.encode("utf-16-le"), "seems to be UTF-16 without"),
    "UTF-16, the other way": ("a.conll", "entities", f"Zoë{CONLL}".encode("utf-16-be"), "seems to be UTF-16 without"),
    "UTF-16, torn": ("a.csv", "sentence", GOOD.encode("utf-16") + b"\0", "Row 42 is not UTF-16 text"),
    "Cyrillic of another encoding": (
        "a.csv", "sentence", table([("привет, как дела" * 9, "да")] * 9).encode("cp1251"), "Row 2 is not UTF-8 text",
    ),
    "UTF-8, torn": ("a.csv", "sentence", films(("naïve ©, é", "no")).encode() + b"\xc3,x\n", "Row 43 is not UTF-8"),
    "random bytes": ("a.csv", "sentence", bytes(range(256)) * 99, "Row 3 is not UTF-8 text"),
    "NUL": ("a.csv", "sentence", GOOD + "a\0b,no\n", "Row 42 contains a NUL character"),
    "a long row": ("a.csv", "sentence", GOOD + "a,no,x\n", "Row 42 has 3 columns, but the first row has 2"),
    "a short row": ("a.tsv", "pair", pairs(("a", "b")), "Row 42 has 2 columns, but the first row has 3"),
    "other columns": (
        "a.csv",
        "sentence",
        table([(1, 2, 3)], ("foo", "bar", "baz")),
        "No column is named text and label; the first row has 'foo', 'bar'",
    ),
    "long names of columns": ("a.csv", "pair", ",".join("xyz" * 99 for _ in range(90)), "No column is named sentence1"),
    "a page of the web": ("a.csv", "sentence", "<!doctype html>\n<html><body>Not found</body></html>", "one column"),
    "two columns of a name": (
        "a.csv",
        "sentence",
        table([(t, c, c) for t, c in FILMS], ("text", "label", "label")),
        "Two columns are named 'label'",
    ),
    "one endless line": (
        "a.csv", "sentence", "a" * 5_000_000, "Row 1 is broken: a cell has more than 131,072 characters",
    ),
    "one endless line of TSV": ("a.tsv", "sentence", "a" * 5_000_000, "one column"),
    "one endless line of CoNLL": ("a.conll", "entities", "a\t" * 2_500_000, "Line 1 has 2,500,001 columns"),
    "one endless text": (
        "a.jsonl", "sentence", lines({"text": "a" * 5_000_000, "label": "no"}), "Row 41 has 5,000,000 characters",
    ),
    "an open quote": (
        "a.csv", "sentence", GOOD + '"a,no\nb,no\n', "Row 42 is broken: a quote that opens there is never closed",
    ),
    "a quote in a cell": (
        "a.csv", "sentence", GOOD + '"a" b,no\n', "Row 42 is broken: a quote inside a cell must be written twice",
    ),
    "deep JSON": ("a.jsonl", "sentence", lines() + "\n" + "[" * 100_000, "Row 41 is not JSON"),
    "a deep JSON file": ("a.json", "question", '{"data":' * 100_000, "not SQuAD's JSON"),
    "a deep cell": (
        "a.tsv", "entities", "tokens\ttags\n" + "[" * 100_000 + "\tO\n", "Row 2 has a word of 100,000 characters",
    ),
    "endless numbers": ("a.jsonl", "sentence", '{"text": "a", "label": 1e999}\n' * 9, "the same label, 'inf'"),
    "a number of 5,000 digits": (
        "a.jsonl", "sentence", '{"text": "a", "label": ' + "9" * 5_000 + "}", "Row 1 is not JSON",
    ),
    "lists for objects": ("a.jsonl", "sentence", '["a", "b"]\n' * 9, "Row 1 is not a JSON object"),
    "a million empty lines": ("a.csv", "sentence", "\n" * 1_000_000, "no rows"),
    "a million empty lines of CoNLL": ("a.conll", "entities", "\n" * 1_000_000, "more than 400,000 lines"),
    "a million rows": ("a.jsonl", "sentence", "{}\n" * 1_000_000, "more than 20,000 rows"),
    "51 classes": (
        "a.csv",
        "sentence",
        table([(f"s {k} {j}", f"c{k}") for k in range(51) for j in range(6)]),
        "51 different values; the limit is 50",
    ),
    "splits that overlap": (
        "a.csv", "sentence", split("train", "test"), "Every sentence of the training split is also in",
    ),
    "a test split alone": ("a.csv", "sentence", split("test"), "No row is in the training split"),
    "unknown splits": ("a.csv", "sentence", split("holdout"), "Row 2 has the split 'holdout'"),
    "CoNLL with a ragged line": (
        "a.conll", "entities", CONLL + "x y z\n", "Line 91 has 3 columns, but the first line has 2",
    ),
    "CoNLL with other tags": ("a.conll", "entities", CONLL + "Bo\tPERSON\n", "Line 91 has the tag 'PERSON'"),
    "CoNLL with tags that differ in capitals": (
        "a.conll",
        "entities",
        CONLL + CONLL.replace("Ann", "Bo").replace("PER", "Per"),
        "'PER' and 'Per' differ only in capitals",
    ),
    "CoNLL without blank lines": (
        "a.conll", "entities", "a\tO\n" * 50_000, "begins in line 1 has over 1,000 words",
    ),
    "CoNLL of one sentence": (
        "a.conll", "entities", "a\tB-PER\n" * 900, "1 different sentence; at least 10 are needed",
    ),
    "tokens without tags": (
        "a.jsonl",
        "entities",
        '{"tokens": [' + "1," * 2_000_000 + '1], "tags": ["O"]}',
        "Row 1 has 2,000,001 tokens and 1 tags",
    ),
    "an answer that is not there": (
        "a.json", "question", squad("bees", "wasps"), "Question 1 has the answer 'wasps', which does not occur",
    ),
    "a paragraph of a megabyte": (
        "a.json",
        "question",
        squad("bees " * 200_000, "bees", count=1),
        "Question 1 has a paragraph of 1,000,002 characters; the limit is 6,000",
    ),
    "questions without answers": ("a.json", "question", squad("bees", None), "No question has an answer"),
    "one paragraph": ("a.json", "question", squad("bees", "bees", count=1), "1 question on 1 paragraph"),
    "a split of SQuAD's": (
        "a.json", "question", squad("a", "a").replace('"t"', '"t", "split": [1]'), "the split '[1]'",
    ),
    "SQuAD's JSON called csv": ("a.csv", "question", squad("bees", "bees"), "No column is named"),
    "endings in three columns": (
        "a.tsv", "choice", table([item[:3] for item in ITEMS], ITEM_NAMES[:3], "\t"), "No column is named label",
    ),
    "a label of 7": (
        "a.tsv",
        "choice",
        changed(5, label=7),
        "Row 5 has the label '7'; it must say which of the 4 endings is correct, counted from 0",
    ),
    "an empty ending": ("a.tsv", "choice", changed(5, ending2=""), "Row 5 has an empty ending, C"),
    "an endless ending": (
        "a.tsv",
        "choice",
        changed(5, ending2="x" * 30_000),
        "Row 5 has a text of 30,000 characters; the limit is 2,000",
    ),
    "no second sentence": ("a.tsv", "pair", pairs(("a", "", "no")), "Row 42 has no second sentence"),
    "a word for a score": ("a.tsv", "similarity", scored("much"), "Row 22 has a score that is not a number: 'much'"),
    "a score beyond the scale": ("a.tsv", "similarity", scored("7.3"), "Row 22 has the score 7.3; scores must be"),
    "no number for a score": ("a.tsv", "similarity", scored("NaN"), "Row 22 has a score that is not a number: 'NaN'"),
    "a score without end": ("a.tsv", "similarity", scored("1e400"), "Row 22 has a score that is not a number"),
    "no score": ("a.tsv", "similarity", scored(""), "Row 22 has no score"),
    "no list of labels": (
        "a.csv", "labels", table([(t, "a b") for t, _ in FILMS], ("text", "y2")), "No column contains labels",
    ),
    "one label in each row": ("a.csv", "labels", GOOD, "Every row has exactly one label"),
    "a label of one sentence": (
        "a.csv", "labels",
        table([*((t, ("a;b", "a", "")[k % 3]) for k, (t, _) in enumerate(FILMS)), ("odd", "rare;a")]),
        "The label 'rare' (row 42) has 1 different sentence",
    ),
}  # fmt: skip

# What is wrong with a row or a label of a file that is read all the same: how many examples, and what is said.
MENDED: dict[str, tuple[str, str, str, int, str]] = {
    "no label": ("a.csv", "sentence", films(("odd", "")), 40, "1 row left out: no label."),
    "no text": ("a.csv", "sentence", films((" ", "no")), 40, "1 row left out: no text."),
    "nan for labels": (
        "a.csv", "sentence", films(*[(f"x{k}", "nan") for k in range(9)]), 40, "9 rows left out: no label.",
    ),
    "a dash for labels": ("a.csv", "sentence", films(("x", "-"), ("y", "N/A")), 40, "2 rows left out: no label."),
    "NULL for a label, of pairs": ("a.tsv", "pair", pairs(("a", "b", "NULL")), 40, "1 row left out: no label."),
    "NaN of JSON": (
        "a.jsonl", "sentence", lines({"text": "odd", "label": float("nan")}), 40, "1 row left out: no label.",
    ),
    "null of JSON": ("a.jsonl", "sentence", lines({"text": None, "label": "no"}), 40, "1 row left out: no text."),
    "several labels": (
        "a.jsonl", "sentence", lines({"text": "odd", "label": ["no", "yes"]}), 40, "1 row left out: several labels.",
    ),
    "labels that differ in capitals": (
        "a.csv", "sentence", films(("a", "NO")), 41, "1 label written “NO” is the class “no”.",
    ),
    "labels that differ in blanks": (
        "a.csv", "sentence", films(("a", "yes "), ("b", " no")), 42, "Read as CSV",
    ),
    "labels that differ in a sign that is not seen": (
        "a.csv", "sentence", films(("a", "yes\u200b")), 41,
        "1 label written “yes[ZERO WIDTH SPACE]” is the class “yes”.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MENDED)
def test_one_odd_row_does_not_refuse_a_file(case: str, tmp_path: Path) -> None:
    name, kind, held, count, said = MENDED[case]
    (tmp_path / name).write_bytes(held.encode())
    found = load_file(kind, tmp_path / name)
    assert len(found.train) + len(found.validation) + len(found.test) == count
    assert any(note.startswith(said) for note in found.notes)
    assert set(found.labels) == {"no", "yes"}  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_one_plain_sentence_at_once(case: str, tmp_path: Path) -> None:
    name, kind, held, told = BROKEN[case]
    (tmp_path / name).write_bytes(held if isinstance(held, bytes) else held.encode())
    began = time.thread_time()
    said = refusal(lambda: load_file(kind, tmp_path / name))
    assert time.thread_time() - began < MOST_SECONDS
    assert told in said
    is_plain(said)


def refusal(load: Callable[[], object]) -> str:
    with pytest.raises(UserError) as refused:
        load()
    return str(refused.value)


def is_plain(said: str) -> None:
    """One sentence: it ends in the only full stop, is short, and can be sent."""
    assert said.endswith(".")
    assert not re.search(r"[.!?] ", said.replace("…", ""))
    assert said.isprintable()
    assert len(said) <= LONGEST


def test_there_are_broken_files_for_every_task() -> None:
    assert {kind for _, kind, *_ in BROKEN.values()} == set(READERS)
    assert len(BROKEN) >= 30


def test_a_file_of_50_mb_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with path.open("wb") as file:
        file.truncate(50 * 2**20)
    tracemalloc.start()
    try:
        said = refusal(lambda: load_file("sentence", path))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert said == "The file has 50.0 MB; the limit is 5 MB."
    assert most < MAX_UPLOAD / 5
    path.write_bytes(bytes(MAX_UPLOAD + 1))
    assert "the limit is 5 MB" in refusal(lambda: load_file("question", path))


@needs_links
def test_a_path_without_a_file_is_one_plain_sentence(tmp_path: Path) -> None:
    gone, circle, good = tmp_path / "gone.csv", tmp_path / "circle.csv", tmp_path / "good.csv"
    good.write_text(GOOD, encoding="utf-8")
    circle.symlink_to(circle)
    (tmp_path / "hanging.csv").symlink_to(gone)
    for path in (gone, tmp_path, circle, tmp_path / "hanging.csv", good / "a.csv", "a\0.csv", "x" * 5_000):
        assert refusal(lambda path=path: load_file("sentence", path)) == "The file could not be read; choose it again."
    (tmp_path / "link.csv").symlink_to(good)
    assert load_file("sentence", tmp_path / "link.csv").train == load_file("sentence", good).train


def test_which_of_two_files_is_broken_is_told(tmp_path: Path) -> None:
    good, bad = tmp_path / "a.csv", tmp_path / "b.csv"
    good.write_text(GOOD, encoding="utf-8")
    bad.write_text("text,label\na,\n", encoding="utf-8")
    assert refusal(lambda: load_file("sentence", good, bad)) == "The test file can't be used: row 2 has no label."
    assert refusal(lambda: load_file("sentence", bad, good)) == "Row 2 has no label."
    said = refusal(lambda: load_file("sentence", good, tmp_path / "gone.csv"))
    assert said == "The test file can't be used: the file could not be read; choose it again."
