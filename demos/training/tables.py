"""From an uploaded file's bytes to rows of text and label, or one sentence that names the row that is broken."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from demos.errors import UserError

MAX_BYTES = 5 * 2**20
MAX_ROWS = 20_000
MAX_COLUMNS = 100
MAX_LABEL = 60  # characters
TEXT_NAMES = {
    "text", "texts", "sentence", "sentences", "sentence1", "review", "content", "tweet", "message", "comment",
    "utterance", "document", "question", "query", "body", "input", "satz", "title",
}  # fmt: skip
LABEL_NAMES = {
    "label", "labels", "class", "classes", "category", "categories", "emotion", "sentiment", "target", "intent",
    "topic", "label_text", "gold", "polarity", "output", "y",
}  # fmt: skip
SPLIT_NAMES = {"split", "set", "fold", "partition"}
NOT_TEXT = {
    b"PK\x03\x04": "a zip archive or a spreadsheet", b"\x1f\x8b": "compressed", b"%PDF": "a PDF",
    b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture", b"PAR1": "a Parquet file",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet",
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One line of the file; `number` counts from 1 as a spreadsheet does, a header included."""

    number: int
    text: str
    label: str
    split: str = ""


def read_rows(data: bytes, name: str) -> list[Row]:
    """The rows of a CSV, TSV or JSONL file (by its name's ending), text and label columns found by their names.

    A file of two columns may do without a header: its label column is the one with fewer different values.
    Raises UserError for more than MAX_BYTES or MAX_ROWS, for bytes that are no text, and for a broken row, named.
    """
    suffix = Path(name).suffix.lower()
    reader: dict[str, Callable[[str], list[Row]]] = {
        ".csv": _read_csv,
        ".tsv": _read_tsv,
        ".txt": _read_tsv,
        ".jsonl": _read_jsonl,
        ".ndjson": _read_jsonl,
        ".json": _read_jsonl,
    }
    if suffix not in reader:
        raise UserError(
            f"A file whose name ends in {suffix[:12] or 'nothing'!r} can't be read; use .csv, .tsv or .jsonl."
        )
    if len(data) > MAX_BYTES:
        raise UserError(f"The file has {len(data) / 2**20:.1f} MB; the limit is {MAX_BYTES // 2**20} MB.")
    rows = reader[suffix](decode_text(data))
    if not rows:
        raise UserError("The file has no rows.")
    for row in rows:
        if not row.text.strip():
            raise UserError(f"Row {row.number} has no text.")
        if not row.label:
            raise UserError(f"Row {row.number} has no label.")
        if len(row.label) > MAX_LABEL:
            raise UserError(f"Row {row.number} has a label of {len(row.label):,} characters; the limit is {MAX_LABEL}.")
    return rows


def decode_text(data: bytes) -> str:
    """UTF-8, with or without a byte order mark; UTF-16 only with one."""
    for magic, kind in NOT_TEXT.items():
        if data.startswith(magic):
            raise UserError(f"The file is {kind}, not text; save it as CSV, TSV or JSONL.")
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        row = data[: error.start].count(b"\n") + 1
        raise UserError(
            f"Row {row:,} is not {encoding[:6].upper().rstrip('-')} text; save the file as UTF-8."
        ) from error
    if "\0" in text:
        raise UserError(
            f"Row {text[: text.index(chr(0))].count(chr(10)) + 1:,} holds a NUL character: this is no text file."
        )
    return text


def _read_tsv(text: str) -> list[Row]:
    """One row a line, fields between tabs; quotes around a whole field are taken off, others are the text's own."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    _bound(sum(1 for line in lines if line.strip()))
    separator = "\t" if any("\t" in line for line in lines[:20]) else ";"
    table = [
        (number, [_unquoted(field) for field in line.split(separator)])
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    return _pick(table)


def _unquoted(field: str) -> str:
    if len(field) > 1 and field[0] == field[-1] == '"':
        return field[1:-1].replace('""', '"')
    return field


def _read_csv(text: str) -> list[Row]:
    """RFC 4180, with the comma, semicolon or tab that the first line has most of between its fields."""
    first = text.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    table: list[tuple[int, list[str]]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    try:
        for fields in reader:
            number += 1
            if any(field.strip() for field in fields):
                table.append((number, fields))
                _bound(len(table))
    except csv.Error as error:
        raise UserError(f"Row {number + 1:,} is broken: {error}.") from error
    return _pick(table)


def _read_jsonl(text: str) -> list[Row]:
    """One JSON object a line, its columns named by its keys."""
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    _bound(len(lines))
    rows: list[Row] = []
    names: tuple[str, str, str] | None = None
    for number, line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UserError(f"Row {number:,} is not JSON; each row must be one object, as in {_SAMPLE}.") from error
        if not isinstance(record, dict):
            raise UserError(f"Row {number:,} is not a JSON object; each row must be one, as in {_SAMPLE}.")
        names = names or _columns([str(key) for key in record])
        values = [_said(record.get(column)) for column in names]
        rows.append(Row(number, values[0], values[1].strip(), values[2].strip()))
    return rows


_SAMPLE = '{"text": "…", "label": "…"}'


def _said(value: object) -> str:
    """A JSON value as a cell; what is null, not a number, or a list or object counts as missing."""
    if value is None or isinstance(value, dict | list) or value != value:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _columns(header: list[str]) -> tuple[str, str, str]:
    """The names of the text, label and split columns ("" without the last). Raises UserError where one lacks."""
    plain = {name.strip().lower(): name for name in reversed(header)}

    def found(known: set[str]) -> str:
        return next((name for low, name in reversed(plain.items()) if low in known), "")

    text, label, split = found(TEXT_NAMES), found(LABEL_NAMES), found(SPLIT_NAMES)
    if len(header) == 2 and bool(text) != bool(label):  # one is known, so the other is the other
        other = next(name for name in header if name not in (text, label))
        text, label = text or other, label or other
    if not text or not label:
        shown = ", ".join(repr(name[:30]) for name in header[:8])
        missing = " and ".join(kind for kind, name in (("text", text), ("label", label)) if not name)
        raise UserError(f"No column is named {missing}; the first row has {shown}.")
    return text, label, split


def _pick(table: list[tuple[int, list[str]]]) -> list[Row]:
    """Rows from a table of cells: columns by header, or by content where there are two and no header."""
    if not table:
        return []
    number, header = table[0]
    width = len(header)
    if width > MAX_COLUMNS:
        raise UserError(f"The file has {width:,} columns; the limit is {MAX_COLUMNS}.")
    if width < 2:
        raise UserError("The file has one column; a text and a label column are needed.")
    for number, fields in table:
        if len(fields) != width:
            columns = f"{len(fields):,} column{'' if len(fields) == 1 else 's'}"
            raise UserError(f"Row {number:,} has {columns} where the first has {width}.")
    names = {name.strip().lower() for name in header}
    if names & (TEXT_NAMES | LABEL_NAMES):
        text, label, split = _columns(header)
        places = [header.index(text), header.index(label), header.index(split) if split else -1]
        table = table[1:]
    elif width == 2:
        places = [*_by_content(table), -1]
        counts = Counter(fields[places[1]].strip() for _, fields in table)
        # A first row whose label never comes again, where all others do, is a header in another language.
        if counts.pop(header[places[1]].strip()) == 1 and counts and min(counts.values()) > 1:
            table = table[1:]
    else:
        _columns(header)  # raises, naming what it found
        raise AssertionError
    cells = [[fields[place] if place >= 0 else "" for place in places] for _, fields in table]
    return [
        Row(number, text, label.strip(), split.strip())
        for (number, _), (text, label, split) in zip(table, cells, strict=True)
    ]


def _by_content(table: list[tuple[int, list[str]]]) -> tuple[int, int]:
    """(text column, label column) of two: labels repeat, or, where both do as often, are shorter."""
    different = [len({fields[place] for _, fields in table}) for place in (0, 1)]
    length = [sum(len(fields[place]) for _, fields in table) for place in (0, 1)]
    label = 0 if (different[0], length[0]) < (different[1], length[1]) else 1
    return 1 - label, label


def _bound(rows: int) -> None:
    if rows > MAX_ROWS + 1:  # a header is no row of data
        raise UserError(f"The file has more than {MAX_ROWS:,} rows.")
