"""Lists of sentences: our library's; a person's own, pasted or from a file, one a line or a column of a table."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.files import DATA
from demos.training.data.tables import LABEL_NAMES, MAX_BYTES, MAX_ROWS, TEXT_NAMES, decode_text

MAX_LINES = 2_000
MAX_LENGTH = 1_000  # characters in one sentence
LIBRARY = DATA / "library.tsv"
TABLES = {".csv": ",;\t", ".tsv": "\t"}  # a file's ending and what may stand between its fields


@dataclass(frozen=True)
class Listed:
    """Sentences without repetition, and the topic of each where the file has a column for it, else ()."""

    sentences: tuple[str, ...]
    topics: tuple[str, ...] = ()


@cache
def our_library() -> Listed:
    """The sentences that come with the project, and their topics (assets/data/library.md)."""
    with LIBRARY.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return Listed(tuple(row["sentence"] for row in rows), tuple(row["topic"] for row in rows))


def read_lines(text: str) -> Listed:
    """One sentence a line. Raises UserError for a text, a line or a number of lines over its limit, or for none."""
    lines = clean_text(text, "The list").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return _listed([(number, line, "") for number, line in enumerate(lines, start=1)], "list")


def read_list(data: bytes, name: str) -> Listed:
    """A .txt file's lines, or the text column of a .csv or .tsv file, found by its name in the first row.

    A table of one column needs no name; a column named topic or label becomes the topics.
    Raises UserError for what is no text, too much, or lacks a text column; a bad row is named.
    """
    suffix = Path(name).suffix.lower()
    if suffix not in (".txt", *TABLES):
        raise UserError(
            f"A file whose name ends in {suffix[:12] or 'nothing'!r} can't be read; use .txt, .csv or .tsv."
        )
    if len(data) > MAX_BYTES:
        raise UserError(f"The file has {len(data) / 2**20:.1f} MB; the limit is {MAX_BYTES // 2**20} MB.")
    text = decode_text(data).replace("\r\n", "\n").replace("\r", "\n")
    if text.count("\n") > MAX_ROWS:
        raise UserError(f"The file has more than {MAX_ROWS:,} lines; the limit is {MAX_LINES:,} sentences.")
    if suffix == ".txt":
        return _listed([(number, line, "") for number, line in enumerate(text.split("\n"), start=1)], "file")
    return _listed(_picked(_table(text, TABLES[suffix])), "file")


def _table(text: str, separators: str) -> list[tuple[int, list[str]]]:
    """Numbered rows of fields, empty rows left out."""
    first = text.lstrip("\n").split("\n", 1)[0]
    separator = max(separators, key=first.count)
    table: list[tuple[int, list[str]]] = []
    lines = io.StringIO(text, newline="")
    reader = (
        csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE)  # a tab needs no quotes around a field
        if separator == "\t"
        else csv.reader(lines, delimiter=separator, strict=True)
    )
    number = 0
    try:
        for fields in reader:
            number += 1
            if any(field.strip() for field in fields):
                table.append((number, fields))
    except csv.Error as error:
        raise UserError(f"Row {number + 1:,} is broken: {error}.") from error
    return table


def _picked(table: list[tuple[int, list[str]]]) -> list[tuple[int, str, str]]:
    """(number, text, topic) of each row. Raises UserError where no column is the text, or a row has other columns."""
    if not table:
        return []
    header = [field.strip().lower() for field in table[0][1]]
    text = next((at for at, field in enumerate(header) if field in TEXT_NAMES), None)
    topic = next((at for at, field in enumerate(header) if field in LABEL_NAMES), None)
    if text is None and len(header) > 1:
        shown = ", ".join(repr(field[:30]) for field in table[0][1][:8])
        raise UserError(f"No column is named text or sentence; the first row has {shown}.")
    rows = []
    for number, fields in table if text is None else table[1:]:
        if len(fields) != len(header):
            columns = f"{len(fields):,} column{'s' * (len(fields) != 1)}"
            raise UserError(f"Row {number:,} has {columns} where the first has {len(header)}.")
        rows.append((number, fields[text or 0], "" if topic is None else fields[topic]))
    return rows


def _listed(rows: list[tuple[int, str, str]], what: str) -> Listed:
    """The rows' sentences, the first of equal ones; within the bounds, or refused in one sentence."""
    kept: dict[str, str] = {}
    for number, text, topic in rows:
        sentence = " ".join(clean_text(text, f"Row {number:,}").split())
        if len(sentence) > MAX_LENGTH:
            raise UserError(f"Row {number:,} has {len(sentence):,} characters; the limit for one is {MAX_LENGTH:,}.")
        if sentence:
            kept.setdefault(sentence, " ".join(topic.split())[:60])
    if not kept:
        raise UserError(f"The {what} has no sentence.")
    if len(kept) > MAX_LINES:
        raise UserError(f"The {what} has {len(kept):,} sentences; the limit is {MAX_LINES:,}.")
    topics = tuple(kept.values())
    return Listed(tuple(kept), topics if all(topics) and len(set(topics)) > 1 else ())
