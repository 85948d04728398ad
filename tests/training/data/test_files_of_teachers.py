"""Files as teachers have them: the page says what each was read as, or why it can't be."""

import io
import random
import time
from pathlib import Path

import openpyxl
import pytest

from demos.errors import UserError
from demos.training.data import labelled_sentences, lists, rated_pairs
from demos.training.data.upload_limit import MAX_UPLOAD
from demos.training.data.workbooks import MAX_CELLS
from demos.training.sources import READERS, load_file
from tests.training.data.teachers_files import BOOK, CAFE, EUROPE, FILES, SEMICOLONS
from tests.training.data.workbook_files import of_sheet, packed, parts_of, strings_part, with_part, workbook

MOST_SECONDS = 60.0  # of this thread, for one file; the slowest took 3.5 in CI


def read(kind: str, path: Path) -> str:
    """What the page says that the file was read as. Raises UserError with what it says where it can't be read."""
    if kind == "list":
        found = lists.load_list(path).read_as
        return found.note if found else ""
    if kind == "rated":
        rated = rated_pairs.read_data(rated_pairs.UPLOAD, str(path))
        return rated.read_as.note if rated.read_as else ""
    if kind == "frozen":
        return labelled_sentences.read_labelled(labelled_sentences.FILE, str(path)).notes[0]
    return load_file(kind, path).notes[0]


@pytest.mark.parametrize("case", FILES)
def test_the_page_says_what_a_file_was_read_as_or_why_not(case: str, tmp_path: Path) -> None:
    name, kind, held, said = FILES[case]
    held = held() if callable(held) else held
    path = tmp_path / name
    path.write_bytes(held.encode() if isinstance(held, str) else held)
    began = time.thread_time()
    if said.startswith("Read as"):
        told = read(kind, path)
    else:
        with pytest.raises(UserError) as refused:
            read(kind, path)
        told = str(refused.value)
    assert time.thread_time() - began < MOST_SECONDS
    assert told.startswith(said)
    assert told.endswith(".")
    assert len(told) <= 200


def test_there_are_as_many_files_as_were_asked_for_and_of_every_task() -> None:
    assert len(FILES) >= 74
    assert {kind for _, kind, *_ in FILES.values()} == {*READERS, "list", "rated", "frozen"}


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    """The accents of Windows-1252, a spreadsheet's numbers, and lines within quotes."""
    (tmp_path / "a.csv").write_bytes(SEMICOLONS.encode("cp1252"))
    found = load_file("sentence", tmp_path / "a.csv")
    assert CAFE[0] in {one.text for split in (found.train, found.validation, found.test) for one in split}
    name, kind, held, _ = FILES["numbers, dates and truths for labels"]
    (tmp_path / name).write_bytes(held)  # type: ignore[arg-type]
    assert load_file(kind, tmp_path / name).labels == ("1", "2", "2024-05-01", "true")
    (tmp_path / "b.tsv").write_text(FILES["a quoted newline between tabs"][2], encoding="utf-8")  # type: ignore[arg-type]
    found = load_file("sentence", tmp_path / "b.tsv")
    assert {one.text[:11] for one in found.train} == {"first line "}
    assert all("\nand, the; second" in one.text for one in found.train)
    (tmp_path / "c.csv").write_bytes(FILES["of pairs, accents"][2])  # type: ignore[arg-type]
    rated = rated_pairs.read_data(rated_pairs.UPLOAD, str(tmp_path / "c.csv"))
    assert (rated.pairs[0].first, rated.pairs[0].score) == ("Ça va ?", 3.5)


def test_the_test_file_is_told_too(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(SEMICOLONS.encode("cp1252"))
    (tmp_path / "b.xlsx").write_bytes(workbook([("text", "label"), *((f"new {k}", "yes") for k in range(9))]))
    found = load_file("sentence", tmp_path / "a.csv", tmp_path / "b.xlsx")
    assert found.notes[:2] == (
        EUROPE, "The test file: read as an Excel workbook, the sheet “Sheet1”.",
    )  # fmt: skip


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes with some changed, taken out or put in."""
    changed = bytearray(data)
    for _ in range(chance.randint(1, 20)):
        at = chance.randrange(len(changed))
        changed[at : at + chance.randint(0, 3)] = chance.randbytes(chance.randint(0, 3))
    return bytes(changed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*READERS, "list", "rated", "frozen"])
def test_random_bytes_raise_nothing_but_a_sentence(kind: str, tmp_path: Path) -> None:
    """Random bytes, damaged files, and damaged parts of workbooks, at once each."""
    chance = random.Random(f"files {kind}")
    good = [held for name, _, held, said in FILES.values() if said.startswith("Read as") and not callable(held)]
    parts = parts_of(BOOK)
    names = ["a.csv", "a.tsv", "a.txt", "a.json", "a.jsonl", "a.xlsx", "a.conll", "data"]
    for number in range(120):
        held = chance.choice(good)
        data = held.encode() if isinstance(held, str) else held
        if number % 3 == 0:
            data = chance.randbytes(chance.randint(0, 600))
        elif number % 3 == 1:
            data = damaged(data, chance)
        else:
            part = chance.choice(list(parts))
            data = packed({**parts, part: damaged(parts[part], chance)})
        path = tmp_path / chance.choice(names)
        path.write_bytes(data)
        began = time.thread_time()
        try:
            told = read(kind, path)
        except UserError as error:
            told = str(error)
        assert told.endswith("."), (number, told)
        assert "\n" not in told, (number, told)
        assert time.thread_time() - began < MOST_SECONDS, number


@pytest.mark.slow
def test_no_workbook_within_the_bounds_takes_long(tmp_path: Path) -> None:
    """The most that the bounds let through, of each kind of element, costs no more than a few plain readings.

    A plain reading is openpyxl's own, of the workbook with the most cells, in the same run.
    """
    strings = strings_part(b"<si><t>a</t></si>" * MAX_CELLS)
    texts = strings_part(b"<si>" + b"<r><t>a</t></r>" * 40_000 + b"</si>")
    styles = parts_of(BOOK)["xl/styles.xml"].replace(b"</cellXfs>", b"<xf/>" * 40_000 + b"</cellXfs>")
    cells = "".join(
        f'<row r="{k}">' + '<c t="inlineStr"><is><t>a</t></is></c>' * 9 + "</row>" for k in range(1, 20_000)
    )
    worst = {
        "strings": with_part(BOOK, "xl/sharedStrings.xml", lambda _: strings),
        "rich texts": with_part(BOOK, "xl/sharedStrings.xml", lambda _: texts),
        "styles": with_part(BOOK, "xl/styles.xml", lambda _: styles),
        "cells": of_sheet(cells, BOOK),
        "deep": of_sheet("<row>" * 9_000, BOOK),
        "random": packed({**parts_of(BOOK), "a.xml": random.Random(0).randbytes(MAX_UPLOAD - 50_000)}),
    }
    began = time.thread_time()
    plain = openpyxl.load_workbook(io.BytesIO(worst["cells"]), read_only=True, data_only=True)
    assert sum(1 for _ in plain.active.iter_rows(values_only=True)) == 19_999
    plain_reading = time.thread_time() - began
    for case, data in worst.items():
        (tmp_path / "a.xlsx").write_bytes(data)
        told = ""
        began = time.thread_time()
        try:
            read("sentence", tmp_path / "a.xlsx")
        except UserError as error:
            told = str(error)
        assert told == "" or told.endswith("."), case
        assert time.thread_time() - began < 6 * plain_reading, case
