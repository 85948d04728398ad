"""From a file's bytes to a table of cells, or one sentence that names the row that is broken."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demos.errors import UserError

MAX_BYTES = 5 * 2**20
MAX_ROWS = 20_000
MAX_COLUMNS = 100
NOT_TEXT = {
    b"PK\x03\x04": "a zip archive or a spreadsheet", b"\x1f\x8b": "compressed", b"%PDF": "a PDF",
    b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture", b"PAR1": "a Parquet file",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet",
}  # fmt: skip
BROKEN = {  # what Python's csv module says, and what it means
    "unexpected end of data": "a quote that opens there is never closed",
    "expected after": "a quote inside a cell must be written twice",
    "field larger": f"a cell has more than {csv.field_size_limit():,} characters",
}
_QUOTED = re.compile(r'"(?:[^"]|"")*"', re.DOTALL)


@dataclass(frozen=True)
class Table:
    """A file's cells: the first row or the first object's keys, and every row (of a table the first one too)."""

    header: tuple[str, ...]
    rows: list[tuple[int, Sequence[Any]]]  # (number, cells in the header's order)
    keyed: bool  # the header is the keys of JSON objects, and no row


def read_table(data: bytes, name: str) -> Table:
    """A file's cells, every row as wide as the first. Raises UserError for what `read_columns` refuses."""
    suffix = Path(name).suffix.lower()
    readers: dict[str, Callable[[str], Table]] = {
        ".csv": _read_csv,
        ".tsv": _read_tsv,
        ".txt": _read_tsv,
        ".jsonl": _read_jsonl,
        ".ndjson": _read_jsonl,
        ".json": _read_json,
    }
    if suffix not in readers:
        raise UserError(
            f"A file whose name ends in {suffix[:12] or 'nothing'!r} can't be read; use .csv, .tsv or .jsonl."
        )
    if len(data) > MAX_BYTES:
        raise UserError(f"The file has {len(data) / 2**20:.1f} MB; the limit is {MAX_BYTES // 2**20} MB.")
    table = readers[suffix](decode_text(data))
    if not table.rows:
        raise UserError("The file has no rows.")
    width = len(table.header)
    if width > MAX_COLUMNS:
        raise UserError(f"The file has {width:,} columns; the limit is {MAX_COLUMNS}.")
    for number, cells in table.rows:
        if len(cells) != width:
            columns = f"{len(cells):,} column{'' if len(cells) == 1 else 's'}"
            raise UserError(f"Row {number:,} has {columns} where the first has {width}.")
    return table


def decode_text(data: bytes) -> str:
    """UTF-8, with or without a byte order mark; UTF-16 only with one. Marks further in, of files put together, go."""
    for magic, kind in NOT_TEXT.items():
        if data.startswith(magic):
            raise UserError(f"The file is {kind}, not text; save it as CSV, TSV or JSONL.")
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    zeros = sorted(half.count(0) for half in (data[:1_000:2], data[1:1_000:2]))
    if not marked and zeros[0] == 0 and zeros[1] > len(data[:1_000]) / 4:  # most of every second byte
        raise UserError("The file seems to be UTF-16 without its byte order mark; save it as UTF-8.")
    encoding = "utf-16" if marked else "utf-8"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        row = len(_lines(data[: error.start].decode(encoding, "replace")))
        raise UserError(f"Row {row:,} is not {encoding.upper()} text; save the file as UTF-8.") from error
    if "\0" in text:
        row = len(_lines(text[: text.index("\0")]))
        raise UserError(f"Row {row:,} holds a NUL character: this is no text file.")
    return text.replace("\ufeff", "")


def _read_tsv(text: str) -> Table:
    """One row a line, fields between tabs; quotes around a whole field are taken off, others are the text's own."""
    lines = _lines(text)
    _bound(sum(1 for line in lines if line.strip()))
    separator = "\t" if any("\t" in line for line in lines[:20]) else ";"
    table = [
        (number, [_unquoted(field) for field in line.split(separator)])
        for number, line in enumerate(lines, start=1)
        if line.strip()
    ]
    return Table(tuple(table[0][1]) if table else (), list(table), False)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if _QUOTED.fullmatch(field) else field


def _read_csv(text: str) -> Table:
    """RFC 4180, with the comma, semicolon or tab that the first line has most of between its fields."""
    first = text.lstrip().split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    table: list[tuple[int, Sequence[Any]]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 0
    try:
        for fields in reader:
            number += 1
            if any(field.strip() for field in fields):
                table.append((number, fields))
                _bound(len(table))
    except csv.Error as error:
        plain = next((told for said, told in BROKEN.items() if said in str(error)), str(error))
        raise UserError(f"Row {number + 1:,} is broken: {plain}.") from error
    return Table(tuple(table[0][1]) if table else (), table, False)


def _read_jsonl(text: str) -> Table:
    """One JSON object a line, its columns named by the keys of the first."""
    lines = [(number, line) for number, line in enumerate(_lines(text), start=1) if line.strip()]
    _bound(len(lines))
    objects: list[tuple[int, object]] = []
    for number, line in lines:
        try:
            objects.append((number, json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise UserError(f"Row {number:,} is not JSON; each row must be one object, as in {_SAMPLE}.") from error
    return _keyed(objects)


def _read_json(text: str) -> Table:
    """One JSON list of objects, the first of them row 1, or one object a line."""
    if not text.lstrip().startswith("["):
        return _read_jsonl(text)
    try:
        objects = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno:,})" if isinstance(error, json.JSONDecodeError) else ""
        raise UserError(f"The file is not JSON{where}; it must be a list of objects such as {_SAMPLE}.") from error
    _bound(len(objects))
    return _keyed(list(enumerate(objects, start=1)))


def _keyed(objects: Sequence[tuple[int, object]]) -> Table:
    header: tuple[str, ...] = ()
    rows: list[tuple[int, Sequence[Any]]] = []
    for number, record in objects:
        if not isinstance(record, dict):
            raise UserError(f"Row {number:,} is not a JSON object; each row must be one, as in {_SAMPLE}.")
        header = header or tuple(record)
        if len(header) > MAX_COLUMNS:
            return Table(header, [(number, header)], True)  # refused by its width
        rows.append((number, [record.get(key) for key in header]))
    return Table(header, rows, True)


_SAMPLE = '{"text": "…", "label": "…"}'


def _bound(rows: int) -> None:
    if rows > MAX_ROWS + 1:  # a header is no row of data
        raise UserError(f"The file has more than {MAX_ROWS:,} rows.")
