"""From a file's bytes to a table of cells, or one sentence that names the row that is broken."""

import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from demos.errors import UserError
from demos.training.data.annotated.annotations import Annotations, annotated
from demos.training.data.json_tables import bound, objects_of, read_json
from demos.training.data.line_forms import labelled_lines
from demos.training.data.packed import PARQUET, parquet_rows
from demos.training.data.read_as import ReadAs, delimited
from demos.training.data.text_encoding import check_size, decode_text, lines_of
from demos.training.data.workbooks import ZIP, is_workbook, quoted_title, read_workbook

MAX_ROWS = 20_000
MAX_COLUMNS = 100
JSON = (".jsonl", ".ndjson", ".json")
TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".parquet", *JSON)  # the endings of files that hold a table
BROKEN = {  # the messages of Python's csv module, and their meanings
    "unexpected end of data": "a quote that opens there is never closed",
    "expected after": "a quote inside a cell must be written twice",
    "field larger": f"a cell has more than {csv.field_size_limit():,} characters",
}
PARQUET_FORM = "a Parquet file"  # as the page says
MOST_TITLES = 9  # rows above a header
SAMPLED = 20  # lines that name the sign between the columns
_QUOTED = re.compile(r'"(?:[^"]|"")*"', re.DOTALL)
_ENDING = re.compile(r"\.[a-z][a-z0-9]{0,9}")
_SEP = re.compile(r'"?sep=([^\w\s"]|\t)"?[ \t]*(?:\r\n|\r|\n|$)', re.IGNORECASE)

Cells = tuple[int, Sequence[Any]]  # a row's number, and its cells in the header's order


@dataclass(frozen=True)
class Table:
    """A file's cells: the first row or the first object's keys, and every row (of a table the first one too)."""

    header: tuple[str, ...]
    rows: list[Cells]
    keyed: bool  # the header is the keys of JSON objects, and no row
    read_as: ReadAs
    unquoted: bool = False  # where quotes are the text's own: those around some whole fields were none, and are off
    export: Annotations | None = None  # of an annotation tool


def read_table(data: bytes, name: str, sheet: str = "") -> Table:
    """A file's cells, every row as wide as the first; of a workbook those of a `sheet`, "" for the first.

    Raises UserError for a file that holds no table.
    """
    table = _without_titles(_read(data, ending_of(name, TABLES, data), sheet))
    if not table.rows:
        raise UserError("The file has no rows.")
    width = len(table.header)
    if width > MAX_COLUMNS:
        raise UserError(f"The file has {width:,} columns; the limit is {MAX_COLUMNS}.")
    for number, cells in table.rows:
        if len(cells) != width:
            columns = f"{len(cells):,} column{'' if len(cells) == 1 else 's'}"
            raise UserError(f"Row {number:,} has {columns}, but the first row has {width}.")
    return table


def _without_titles(table: Table) -> Table:
    """The table from its header on: rows above it with a title in their first cell are passed over."""
    first = next((at for at, (_, cells) in enumerate(table.rows) if sum(map(bool, map(_stripped, cells))) > 1), 0)
    if table.keyed or not 0 < first <= MOST_TITLES:
        return table
    head = table.rows[first][1]
    padded = len(head) > 2 and all(len(cells) == len(head) and _stripped(cells[0]) for _, cells in table.rows[:first])
    if not (padded or all(len(cells) == 1 for _, cells in table.rows[:first])) or not all(map(_stripped, head)):
        return table
    skipped = table.read_as.skipped + table.rows[first][0] - 1
    return replace(table, header=tuple(head), rows=table.rows[first:], read_as=replace(table.read_as, skipped=skipped))


def _stripped(cell: Any) -> str:
    return str(cell).strip()


def _read(data: bytes, ending: str, sheet: str) -> Table:
    if ending == ".xlsx":
        return workbook_table(data, sheet)
    if ending == ".parquet":
        check_size(len(data))
        names, parquet = parquet_rows(data, MAX_ROWS, MAX_COLUMNS)
        return Table(names, list(enumerate(parquet, start=1)), True, ReadAs(PARQUET_FORM))
    text, encoding = decode_text(data)
    if ending in JSON:
        return _keyed(text, encoding)
    lines = lines_of(text)
    if labelled_lines(lines[:SAMPLED]):
        bound(sum(1 for line in lines if line.strip()), MAX_ROWS)
        if labelled := labelled_lines(lines):
            return Table(("label", "text"), list(labelled[1]), True, ReadAs(labelled[0], encoding))
    if ending == ".csv":
        return _read_csv(text, encoding)
    if ending == ".tsv":
        return _read_tsv(text, encoding)
    delimiter, rest = separated(text, "\t,;|")
    return _read_csv(text, encoding) if delimiter in rest and delimiter != "\t" else _read_tsv(text, encoding)


def ending_of(name: str, known: Sequence[str], data: bytes) -> str:
    """The ending of a file's name, in small letters; of a workbook, and of a file without an ending, what it holds.

    Raises UserError, naming the endings to use, where it is not among those `known`.
    """
    suffix = Path(name).suffix.lower()
    if data.startswith(PARQUET):
        return ".parquet"
    if is_workbook(data) or (suffix == ".xlsx" and data.startswith(ZIP)):  # or a broken one
        return ".xlsx"
    if suffix == ".xlsx" or not _ENDING.fullmatch(suffix):  # "Notes 2.11" has none
        return ".json" if data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"{") else ""
    if suffix not in known:
        *others, last = known
        raise UserError(f"A file whose name ends in {suffix!r} can't be read; use {', '.join(others)} or {last}.")
    return suffix


def workbook_table(data: bytes, title: str = "") -> Table:
    """A sheet of an Excel workbook, by its name; without such a sheet the first."""
    check_size(len(data))
    sheet = read_workbook(data, MAX_ROWS, MAX_COLUMNS, title)
    return _headed(sheet.rows, ReadAs(f"an Excel workbook, the sheet {quoted_title(sheet.title)}", sheet=sheet.title))


def _read_tsv(text: str, encoding: str, skipped: int = 0) -> Table:
    """One row a line, fields between tabs; quotes around a whole field are taken off, others are the text's own.

    Where the lines are not all as wide, quotes may go over several lines, as a spreadsheet writes them. `skipped` is
    the number of lines before the text.
    """
    lines = lines_of(text)
    bound(sum(1 for line in lines if line.strip()), MAX_ROWS)
    semicolons = {line.count(";") for line in lines[:SAMPLED] if line.strip()}
    apart = len(semicolons) == 1 and not any("\t" in line for line in lines[:SAMPLED])
    separator = ";" if apart and semicolons != {0} else "\t"
    cells = ((number, line.split(separator)) for number, line in enumerate(lines, start=1) if line.strip())
    rows = [(number, list(map(_unquoted, fields))) for number, fields in cells]
    unquoted = '"' in text and any(_QUOTED.fullmatch(field) for line in lines for field in line.split(separator))
    if '"' in text and (unquoted or not _even(rows)):
        try:
            quoted = csv_rows(text, separator)
        except UserError:
            quoted = []
        if quoted == rows or (_even(quoted) and not _even(rows)):
            form = delimited(separator, len(quoted[0][1]))
            return _headed(quoted, ReadAs(form, encoding, separator, skipped=skipped))
    form = delimited(separator, len(rows[0][1]) if rows else 0)
    return _headed(rows, ReadAs(form, encoding, separator, False, skipped), unquoted)


def _even(rows: Sequence[Cells]) -> bool:
    """Whether there are rows, all as wide."""
    return len({len(fields) for _, fields in rows}) == 1


def _headed(rows: list[tuple[int, list[str]]], read_as: ReadAs, unquoted: bool = False) -> Table:
    return Table(tuple(rows[0][1]) if rows else (), list(rows), False, read_as, unquoted)


def _unquoted(field: str) -> str:
    return field[1:-1].replace('""', '"') if _QUOTED.fullmatch(field) else field


def _read_csv(text: str, encoding: str) -> Table:
    """RFC 4180, with the comma, semicolon or tab between the columns; between tabs first as TSV is read."""
    delimiter, rest = separated(text, ",;\t|")
    skipped = int(rest != text)
    if delimiter == "\t":
        with suppress(UserError):
            table = _read_tsv(rest, encoding, skipped)
            if _even(table.rows):
                return table
    rows = csv_rows(rest, delimiter)
    form = delimited(delimiter, len(rows[0][1]) if rows else 0)
    return _headed(rows, ReadAs(form, encoding, delimiter, skipped=skipped))


def separated(text: str, delimiters: str) -> tuple[str, str]:
    """(the sign between the columns, the text after a first line such as `sep=;`, which Excel reads and hides).

    Without that line it is the one of these signs that makes the first lines equally wide, or else the one that makes
    most columns of the first that do not begin with a blank, of equals the first.
    """
    match = _SEP.match(text)
    if match:
        return match[1], text[match.end() :]
    lines = [line for line in lines_of(text[:20_000].lstrip("\r\n "))[:SAMPLED] if line.strip()]
    first = lines[0] if lines else ""

    def score(delimiter: str) -> tuple[bool, int, int]:
        rows = list(csv.reader(lines, delimiter=delimiter))
        rows = rows[:-1] if len(rows) > 2 else rows  # the last may be cut
        begin = next((at for at, row in enumerate(rows[: MOST_TITLES + 1]) if len(row) > 1), 0)  # below titles
        widths = {len(row) for row in rows[begin:]}
        first = rows[begin] if rows else []
        return len(widths) == 1 and widths != {1}, -begin, sum(not cell.startswith(" ") for cell in first)

    try:
        return max(delimiters, key=score), text
    except csv.Error:  # reported with its row by the caller
        return max(delimiters, key=first.count), text


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
                bound(len(table), MAX_ROWS)
    except csv.Error as error:
        plain = next((meaning for words, meaning in BROKEN.items() if words in str(error)), str(error))
        raise UserError(f"Row {number + 1:,} is broken: {plain}.") from error
    return table


def _keyed(text: str, encoding: str) -> Table:
    """JSON's objects, the columns named by the keys of the first."""
    values, form = read_json(text, MAX_ROWS)
    read_as = ReadAs(form, encoding)
    header: tuple[str, ...] = ()
    rows: list[Cells] = []
    records = objects_of(values)
    if export := annotated(records):
        read_as = ReadAs(export.about.tool, encoding, left_out=export.left_out, remarks=export.notes)
        return Table(export.header, list(export.rows), True, read_as, export=replace(export.about, form=form))
    for number, record in records:
        header = header or tuple(record)
        if len(header) > MAX_COLUMNS:
            return Table(header, [(number, header)], True, read_as)  # refused by its width
        rows.append((number, [record.get(key) for key in header]))
    return Table(header, rows, True, read_as)
