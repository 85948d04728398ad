"""Files with several labels a sentence: every form is read alike, splits are stratified, what is wrong is told."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from demos.errors import UserError
from demos.training.data.file_tables import read_table
from demos.training.sources import SOURCES, load_file
from demos.training.tasks.multi_label.data import (
    ENOUGH,
    LabelRow,
    MultiLabelDataset,
    build_labels,
    find_labels,
    label_names,
)
from tests.training.data.made_files import table
from tests.training.data.workbook_files import workbook

NAMES = ("angry", "mild", "toxic")
SETS = [(), ("angry",), ("mild",), ("angry", "toxic"), ("angry", "mild", "toxic")]
MADE = [(f"film {k} is one of {7 * k}", SETS[k % 5]) for k in range(60)]


def marks(labels: tuple[str, ...]) -> list[int]:
    return [int(name in labels) for name in NAMES]


FORMS: dict[str, tuple[str, str | bytes]] = {
    "doccano": ("a.jsonl", "\n".join(json.dumps({"id": k, "text": text, "label": list(labels), "Comments": []})
                                     for k, (text, labels) in enumerate(MADE))),
    "a JSON list": ("a.json", json.dumps([{"text": text, "labels": labels} for text, labels in MADE])),
    "lists in cells": ("a.tsv", table([(text, json.dumps(labels)) for text, labels in MADE], ("text", "labels"), "\t")),
    "signs between": ("a.csv", table([(text, ";".join(labels)) for text, labels in MADE], ("sentence", "topics"))),
    "Jigsaw": ("a.csv", table([(f"{k:x}", text, *marks(labels)) for k, (text, labels) in enumerate(MADE)],
                              ("id", "comment_text", *NAMES))),
    "a workbook": ("a.xlsx", workbook([("text", *NAMES), *((text, *marks(labels)) for text, labels in MADE)])),
}  # fmt: skip


def read(tmp_path: Path, name: str, held: str | bytes, seed: int = 0) -> MultiLabelDataset:
    (tmp_path / name).write_bytes(held if isinstance(held, bytes) else held.encode())
    data = load_file("labels", tmp_path / name, seed=seed)
    assert isinstance(data, MultiLabelDataset)
    return data


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read_alike(tmp_path: Path, form: str) -> None:
    data = read(tmp_path, *FORMS[form])
    assert data.labels == NAMES
    found = {
        (example.text, tuple(data.labels[label] for label in example.labels))
        for example in (*data.train, *data.validation, *data.test)
    }
    assert found == set(MADE)
    assert "Of 60 sentences, 12 have no label and 24 have several." in data.notes


def test_goemotions_numbers_need_no_names(tmp_path: Path) -> None:
    ids = {"angry": "2", "mild": "10", "toxic": "27"}
    rows = [(text, ",".join(ids[one] for one in labels) or "11", f"ee{k}") for k, (text, labels) in enumerate(MADE)]
    data = read(tmp_path, "train.tsv", table(rows[1:], rows[0], "\t"))
    assert data.labels == ("2", "10", "11", "27")  # by size, not by their first sign
    assert sum(map(len, (data.train, data.validation, data.test))) == 60


def test_each_split_has_its_share_of_every_set(tmp_path: Path) -> None:
    data = read(tmp_path, *FORMS["doccano"])
    assert {split: set(data.sets(split).values()) for split in ("train", "validation", "test")} == {
        "train": {9}, "validation": {1}, "test": {2},
    }  # fmt: skip
    assert read(tmp_path, *FORMS["doccano"]) == data
    assert read(tmp_path, *FORMS["doccano"], seed=1).test != data.test
    assert data.counts("train") == tuple(sum(name in labels for labels in SETS) * 9 for name in NAMES)


def test_a_rare_set_is_drawn_by_its_rarest_label() -> None:
    sets = [("a",)] * 40 + [("b",)] * 40 + [("a", "c")] * 3 + [("b", "c")] * 3
    rows = [LabelRow(k, f"film {k}", labels) for k, labels in enumerate(sets, start=1)]
    assert ENOUGH > 3
    data = build_labels("made", rows)
    place = data.labels.index("c")
    assert [data.counts(split)[place] for split in ("train", "validation", "test")] == [4, 1, 1]


def test_the_files_own_splits_are_kept(tmp_path: Path) -> None:
    rows = [(text, "|".join(labels), ("train", "dev", "test")[k // 5 % 3]) for k, (text, labels) in enumerate(MADE)]
    data = read(tmp_path, "a.tsv", table(rows, ("text", "labels", "split"), "\t"))
    assert [len(split) for split in (data.train, data.validation, data.test)] == [20, 20, 20]


def test_labels_that_differ_are_told(tmp_path: Path) -> None:
    rows = [*MADE, (MADE[1][0].upper(), ("mild", "toxic")), (MADE[3][0], ("toxic", "angry"))]
    data = read(tmp_path, "a.csv", table([(text, ";".join(labels)) for text, labels in rows], ("text", "labels")))
    assert "2 sentences removed because an earlier row has the same content." in data.notes
    (told,) = [note for note in data.notes if "with the labels" in note]
    assert told == "Rows 3 and 62 have the same sentence with the labels 'angry' and 'mild, toxic': row 3 is used."


def made(*more: Any, head: tuple[str, ...] = ("text", "labels")) -> str:
    return table([*((text, ";".join(labels)) for text, labels in MADE), *more], head, "\t")


BAD: dict[str, tuple[str, str]] = {
    "no labels": (table([(text, "x y") for text, _ in MADE], ("text", "year")), "No column contains labels"),
    "a class each": (table([(text, ("a", "b")[k % 2]) for k, (text, _) in enumerate(MADE)]), "exactly one label"),
    "no text": (made(("", "angry")), "Row 62 has no text."),
    "no texts": (table([(1, 0), (0, 1)] * 9, ("a", "b")), "No column is named text; the first row has 'a', 'b'."),
    "a rare label": (
        made(("one more", "angry;rare"), ("two more", "rare")),
        "The label 'rare' (row 62) has 2 different",
    ),
    "capitals": (made(*((f"more {k}", "Mild") for k in range(6))), "differ only in capitals or spaces"),
    "one label": (
        table([(text, "a" if labels else "") for text, labels in MADE], ("text", "labels")),
        "only one label",
    ),
    "a long label": (made(("one more", "x" * 61)), "Row 62 has a label of 61 characters; the limit is 60."),
    "many labels": (
        table([(f"film {k}", f"{k % 51};{(k + 1) % 51}") for k in range(510)], ("text", "labels"), "\t"),
        "There are 51 different labels; the limit is 50.",
    ),
    "two columns of a name": (
        table([(t, *marks(s)) for t, s in MADE], ("text", "a", "a", "b")),
        "Two columns are named",
    ),
    "an unknown split": (table([(t, ";".join(s), "late") for t, s in MADE], ("text", "labels", "split")), "'late'"),
    "none to train on": (
        table([(t, ";".join(s), "test" if "toxic" in s else "train") for t, s in MADE], ("text", "labels", "split")),
        "No training sentence has the label 'toxic'.",
    ),
    "names alone": ("text,a,b\n", "The file has no rows."),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_told_in_one_sentence(tmp_path: Path, case: str) -> None:
    held, told = BAD[case]
    with pytest.raises(UserError) as refused:
        read(tmp_path, "a.tsv" if "\t" in held else "a.csv", held)
    assert told in str(refused.value)
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)


def test_no_labels_at_all_are_told() -> None:
    with pytest.raises(UserError, match="There are no labels"):
        label_names([LabelRow(1, "a", ())])


def test_our_own_sentences_keep_their_datasheets_counts() -> None:
    data = SOURCES["restaurants"].load(0, 1_500)
    assert isinstance(data, MultiLabelDataset)
    assert data.labels == ("food", "place", "price", "service")
    sheet = (Path(__file__).parents[4] / "assets" / "data" / "restaurants.md").read_text(encoding="utf-8")
    for split in ("train", "validation", "test"):
        sets = Counter(len(example.labels) for example in getattr(data, split))
        several = sum(count for size, count in sets.items() if size > 1)
        numbers = (len(getattr(data, split)), *data.counts(split), sets[0], several)
        assert f"| {split:<10} | {' | '.join(map(str, numbers))} |" in sheet
    every = [*data.train, *data.validation, *data.test]
    assert f"{len(every)} English sentences" in sheet
    assert not any("removed" in note for note in data.notes)


def test_a_chosen_text_counts_where_the_labels_are_found_and_of_two_texts_none_is_taken() -> None:
    rows = [(f"remark {k} of it", f"another part {k} of it", k % 2, int(k % 3 == 0)) for k in range(40)]
    whole = read_table(table(rows, ("one", "two", "rude", "spam")).encode(), "a.csv")
    assert find_labels(whole)[0].problem == "The text may be the column 'one' or 'two'; choose which it is."
    mapping, sets = find_labels(whole, "text=two")
    assert mapping.columns == {"text": ["two"], "labels": ["rude", "spam"]}
    assert sets.sets[:2] == (("spam",), ("rude",))
