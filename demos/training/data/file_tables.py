"""From a file's bytes to a table of cells, or one sentence that names the row that is broken."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demos.errors import UserError
from demos.training.data.upload_limit import MAX_UPLOAD

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
SAMPLE = '{"text": "…", "label": "…"}'
_QUOTED = re.compile(r'"(?:[^"]|"")*"', re.DOTALL)


Cells = tuple[int, Sequence[Any]]  # a row's number, and its cells in the header's order


@dataclass(frozen=True)
class Table:
    """A file's cells: the first row or the first object's keys, and every row (of a table the first one too)."""

    header: tuple[str, ...]
    rows: list[Cells]
    keyed: bool  # the header is the keys of JSON objects, and no row


def read_table(data: bytes, name: str) -> Table:
    """A file's cells, every row as wide as the first. Raises UserError for what `read_columns` refuses."""
    readers: dict[str, Callable[[str], Table]] = {
        ".csv": _read_csv,
        ".tsv": _read_tsv,
        ".txt": _read_tsv,
        ".jsonl": read_jsonl,
        ".ndjson": read_jsonl,
        ".json": _read_json,
    }
    suffix = ending_of(name, readers)
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


def ending_of(name: str, known: Collection[str], told: str = ".csv, .tsv or .jsonl") -> str:
    """The ending of a file's name, in small letters. Raises UserError, naming those to use, where it is not known."""
    suffix = Path(name).suffix.lower()
    if suffix not in known:
        raise UserError(f"A file whose name ends in {suffix[:12] or 'nothing'!r} can't be read; use {told}.")
    return suffix


def file_bytes(path: Path | str) -> bytes:
    """What the file holds; one that is too large is not read. Raises UserError where it can't be read."""
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(MAX_UPLOAD + 1) if size <= MAX_UPLOAD else b""
    except (OSError, TypeError, ValueError) as error:
        raise UserError("The file could not be read; choose it again.") from error
    check_size(max(size, len(data)))
    return data


def check_size(size: int) -> None:
    """Raises UserError for a file of more bytes than MAX_UPLOAD."""
    if size > MAX_UPLOAD:
        raise UserError(f"The file has {size / 2**20:.1f} MB; the limit is {MAX_UPLOAD // 2**20} MB.")


def decode_text(data: bytes) -> str:
    """UTF-8, with or without a byte order mark; UTF-16 only with one. Marks further in, of files put together, go.

    Raises UserError for more than MAX_UPLOAD, and for what is no text.
    """
    check_size(len(data))
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
        row = len(lines_of(data[: error.start].decode(encoding, "replace")))
        raise UserError(f"Row {row:,} is not {encoding.upper()} text; save the file as UTF-8.") from error
    if "\0" in text:
        row = len(lines_of(text[: text.index("\0")]))
        raise UserError(f"Row {row:,} holds a NUL character: this is no text file.")
    return text.replace("\ufeff", "")


def _read_tsv(text: str) -> Table:
    """One row a line, fields between tabs; quotes around a whole field are taken off, others are the text's own."""
    lines = lines_of(text)
    _bound(sum(1 for line in lines if line.strip()))
    semicolons = {line.count(";") for line in lines[:20] if line.strip()}
    apart = len(semicolons) == 1 and not any("\t" in line for line in lines[:20])
    separator = ";" if apart and semicolons != {0} else "\t"
    cells = ((number, line.split(separator)) for number, line in enumerate(lines, start=1) if line.strip())
    return _headed([(number, list(map(_unquoted, fields))) for number, fields in cells])


def _headed(rows: list[tuple[int, list[str]]]) -> Table:
    return Table(tuple(rows[0][1]) if rows else (), list(rows), False)


def lines_of(text: str) -> list[str]:
    """The lines, whichever way they end."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if _QUOTED.fullmatch(field) else field


def _read_csv(text: str) -> Table:
    """RFC 4180, with the comma, semicolon or tab that the first line has most of between its fields."""
    return _headed(csv_rows(text, delimiter_of(text, ",;\t")))


def delimiter_of(text: str, delimiters: str) -> str:
    """The one of these signs that the first line with something in it has most of, of equals the first."""
    return max(delimiters, key=re.split(r"[\r\n]", text.lstrip("\r\n "), maxsplit=1)[0].count)


def csv_rows(text: str, delimiter: str, quoted: bool = True) -> list[tuple[int, list[str]]]:
    """(number, fields) of each row that is not empty; not `quoted`, a quote is the text's own.

    Raises UserError for a broken row, named, and for more than MAX_ROWS.
    """
    table: list[tuple[int, list[str]]] = []
    quoting: Any = csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    number = 0
    try:
        for fields in reader:
            number += 1
            if any(field.strip() for field in fields):
                table.append((number, fields))
                _bound(len(table))
    except csv.Error as error:
        plain = next((meaning for words, meaning in BROKEN.items() if words in str(error)), str(error))
        raise UserError(f"Row {number + 1:,} is broken: {plain}.") from error
    return table


def read_jsonl(text: str, sample: str = SAMPLE) -> Table:
    """One JSON object a line, its columns named by the keys of the first; `sample` is shown where a line is none."""
    lines = [(number, line) for number, line in enumerate(lines_of(text), start=1) if line.strip()]
    _bound(len(lines))
    objects: list[tuple[int, object]] = []
    for number, line in lines:
        try:
            objects.append((number, json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise UserError(f"Row {number:,} is not JSON; each row must be one object, as in {sample}.") from error
    return _keyed(objects, sample)


def _read_json(text: str) -> Table:
    """One JSON list of objects, the first of them row 1, or one object a line."""
    if not text.lstrip().startswith("["):
        return read_jsonl(text)
    try:
        objects = json.loads(text)
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno:,})" if isinstance(error, json.JSONDecodeError) else ""
        raise UserError(f"The file is not JSON{where}; it must be a list of objects such as {SAMPLE}.") from error
    _bound(len(objects))
    return _keyed(list(enumerate(objects, start=1)), SAMPLE)


def _keyed(objects: Sequence[tuple[int, object]], sample: str) -> Table:
    header: tuple[str, ...] = ()
    rows: list[Cells] = []
    for number, record in objects:
        if not isinstance(record, dict):
            raise UserError(f"Row {number:,} is not a JSON object; each row must be one, as in {sample}.")
        header = header or tuple(record)
        if len(header) > MAX_COLUMNS:
            return Table(header, [(number, header)], True)  # refused by its width
        rows.append((number, [record.get(key) for key in header]))
    return Table(header, rows, True)


def _bound(rows: int) -> None:
    if rows > MAX_ROWS + 1:  # a header is no row of data
        raise UserError(f"The file has more than {MAX_ROWS:,} rows.")
