"""The columns that a task needs, found by their names in a file; and labelled rows, which may do without names."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from demos.errors import UserError
from demos.files import DATA
from demos.training.data.file_tables import Cells, Table, read_table
from demos.training.data.splits import count_of, same

EMOTION = DATA / "emotion.tsv"
SENTIMENT = DATA / "sentiment.tsv"
FILM_REVIEWS = DATA / "films.tsv"
MIN_CLASSES, MAX_CLASSES = 2, 50
MIN_PER_CLASS = 5
MAX_LABEL = 60  # characters
TEXT_NAMES = (  # the earlier is preferred where a file has several
    "text", "texts", "sentence", "sentences", "sentence1", "review", "content", "tweet", "message", "comment",
    "utterance", "document", "question", "query", "body", "input", "satz", "title",
)  # fmt: skip
LABEL_NAMES = (
    "label", "labels", "class", "classes", "category", "categories", "emotion", "sentiment", "target", "intent",
    "topic", "label_text", "gold", "polarity", "output", "y",
)  # fmt: skip
NOTHING = ("nan", "null", "<na>", "#n/a")  # what pandas, databases and spreadsheets make of an empty cell
SPLIT_NAMES = ("split", "set", "fold", "partition")


@dataclass(frozen=True)
class Column:
    """One thing that a task reads from each row, and the names its column may have, the preferred first.

    kind "text": a string; what JSON has as null, NaN, list or object counts as missing (""). kind "json": a list or an
    object stays what it is, also where a cell of a table holds it as JSON; all else is text.
    """

    role: str
    names: tuple[str, ...]  # in small letters
    required: bool = True
    kind: str = "text"


@dataclass(frozen=True)
class Record:
    """One row's values by role, "" where the row or the file has none.

    `number` counts from 1 as a spreadsheet does, a header included.
    """

    number: int
    values: Mapping[str, Any]

    def __getitem__(self, role: str) -> Any:
        return self.values[role]


@dataclass(frozen=True)
class Row:
    """A labelled text, or a labelled pair of texts; `number` as Record's."""

    number: int
    text: str
    label: str
    split: str = ""
    pair: str = ""


TEXT = Column("text", TEXT_NAMES)
LABEL = Column("label", LABEL_NAMES)
SPLIT = Column("split", SPLIT_NAMES, required=False)


def read_columns(data: bytes, name: str, columns: Sequence[Column], nameless: Sequence[str] = ()) -> list[Record]:
    """The rows of a file that holds a table (`read_table`), as `records_of` finds them. Raises UserError."""
    return records_of(read_table(data, name), columns, nameless)


def records_of(table: Table, columns: Sequence[Column], nameless: Sequence[str] = ()) -> list[Record]:
    """The rows of a table, its columns found by their names.

    `nameless` are the roles of the columns, in order, of a file that has as many and names none of them.
    Raises UserError for a missing column and for no rows. An empty cell is the caller's to judge.
    """
    rows, places, _ = places_of(table, columns, nameless)
    return _records(rows, places, columns)


def places_of(
    table: Table, columns: Sequence[Column], nameless: Sequence[str] = ()
) -> tuple[list[Cells], dict[str, int], bool]:
    """(the rows without a header, each role's place, whether the columns are named). Raises UserError."""
    named = any(_plain(head) in column.names for head in table.header for column in columns)
    if not named and not table.keyed and nameless and len(table.header) == len(nameless):
        return table.rows, {role: place for place, role in enumerate(nameless)}, False
    return (table.rows if table.keyed else table.rows[1:]), find_columns(table.header, columns), True


def _records(rows: Sequence[Cells], places: Mapping[str, int], columns: Sequence[Column]) -> list[Record]:
    """The columns' values, each found at its role's place. Raises UserError where there are no rows."""
    if not rows:
        raise UserError("The file has no rows.")
    return [
        Record(
            number,
            {
                column.role: value_of(cells[places[column.role]], column.kind) if column.role in places else ""
                for column in columns
            },
        )
        for number, cells in rows
    ]


def find_columns(header: Sequence[str], columns: Sequence[Column]) -> dict[str, int]:
    """Where each role stands in the header, each place taken once. Raises UserError, naming what is missing."""
    plain = [_plain(head) for head in header]
    places: dict[str, int] = {}
    for column in columns:
        candidates = (plain.index(name) for name in column.names if name in plain)
        place = next((place for place in candidates if place not in places.values()), None)
        if place is not None:
            if header.count(header[place]) > 1:
                raise UserError(f"Two columns are named {header[place][:30]!r}; rename one of them.")
            places[column.role] = place
    missing = [column.role for column in columns if column.required and column.role not in places]
    if missing:
        shown = ", ".join(repr(head[:30]) for head in header[:8])
        shown = shown if len(shown) <= 100 else f"{shown[:99]}…"
        raise UserError(f"No column is named {' and '.join(missing)}; the first row has {shown}.")
    return places


def read_rows(data: bytes, name: str) -> list[Row]:
    """The labelled rows of a file that holds a table (`read_table`). Raises UserError as `rows_of` does."""
    return rows_of(read_table(data, name))


def rows_of(table: Table) -> list[Row]:
    """A table's labelled rows, text and label columns found by their names.

    A table of two columns may do without a header: its label column is the one with fewer different values.
    Raises UserError as `records_of` does, and for a row without text or label.
    """
    rows, places, _ = labelled_places(table)
    return labelled_rows(_records(rows, places, (TEXT, LABEL, SPLIT)))


def labelled_places(table: Table) -> tuple[list[Cells], dict[str, int], bool]:
    """(the rows without a header, where text, label and perhaps split stand, whether the columns are named).

    Raises UserError where they can't be told.
    """
    header, rows = table.header, table.rows
    if len(header) == 1:
        raise UserError("The file has one column; a text and a label column are needed.")
    recognised = [{_plain(head) for head in header} & set(names) for names in (TEXT_NAMES, LABEL_NAMES)]
    if len(header) == 2 and not any(recognised) and not table.keyed and rows:
        text, label = _by_content(rows)
        counts = Counter(cells[label].strip() for _, cells in rows)
        # A first row whose label never comes again, where all others do, is a header in another language.
        if counts.pop(header[label].strip()) == 1 and counts and min(counts.values()) > 1:
            return rows[1:], {"text": text, "label": label}, True
        return rows, {"text": text, "label": label}, False
    return (rows if table.keyed else rows[1:]), _text_and_label(header), True


def class_names(rows: Sequence[Row], noun: str = "sentence", repeated: Sequence[Row] = ()) -> tuple[str, ...]:
    """The labels of different rows by the alphabet; `repeated` are the rows before equal ones were taken out.

    Raises UserError for too few or too many classes, or one with too few rows.
    """
    counts = Counter(row.label for row in rows)
    alike: dict[str, str] = {}
    for label in counts:
        other = alike.setdefault(same(label), label)
        if other != label:
            row = next(row for row in rows if row.label == label)
            raise UserError(
                f"The classes {other!r} and {label!r} (row {row.number:,}) differ only in capitals or spaces; "
                "write them in the same way."
            )
    if len(counts) < MIN_CLASSES and len({row.label for row in repeated}) >= MIN_CLASSES:
        raise UserError(
            f"A repeated {noun} counts once, with its first label, so only the class {next(iter(counts))!r} is left; "
            "at least two classes are needed."
        )
    if len(counts) < MIN_CLASSES:
        raise UserError(f"Every row has the same label, {next(iter(counts))!r}; at least two classes are needed.")
    if len(counts) > MAX_CLASSES:
        raise UserError(f"The label column has {len(counts):,} different values; the limit is {MAX_CLASSES} classes.")
    rare, least = min(counts.items(), key=lambda item: item[1])
    if least < MIN_PER_CLASS:
        row = next(row for row in rows if row.label == rare)
        raise UserError(
            f"The class {rare!r} (row {row.number}) has {count_of(least, f'different {noun}')}; "
            f"each class needs at least {MIN_PER_CLASS}."
        )
    return tuple(sorted(counts))


def labelled_rows(records: Sequence[Record], text: str = TEXT.role, pair: str = "") -> list[Row]:
    """Rows from records that have a label; `text` and `pair` are the roles of the sentences.

    Raises UserError for the first without text or label, or whose label is too long.
    """
    rows = [
        Row(record.number, record[text], record["label"].strip(), record["split"].strip(), record[pair] if pair else "")
        for record in records
    ]
    for row in rows:
        where = f"Row {row.number:,}"
        if not row.text.strip():
            raise UserError(f"{where} has no text.")
        if not row.label:
            raise UserError(f"{where} has no label.")
        if row.label.lower() in NOTHING:
            raise UserError(f"{where} has the label {row.label!r}, which usually means a missing label.")
        if len(row.label) > MAX_LABEL:
            raise UserError(f"{where} has a label of {len(row.label):,} characters; the limit is {MAX_LABEL}.")
    return rows


def value_of(value: object, kind: str = "text") -> Any:
    """A cell or a JSON value as its column's kind has it."""
    if kind == "json":
        if isinstance(value, str) and value[:1] in ("[", "{"):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return value
        if isinstance(value, dict | list):
            return value
    if value is None or isinstance(value, dict | list) or value != value:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text_and_label(header: Sequence[str]) -> dict[str, int]:
    """Where text, label and perhaps split stand; of two columns it is enough to know one."""
    if len(header) == 2:
        places = find_columns(header, [Column("text", TEXT_NAMES, False), Column("label", LABEL_NAMES, False)])
        if len(places) == 1:
            ((role, place),) = places.items()
            return {role: place, "label" if role == "text" else "text": 1 - place}
    return find_columns(header, (TEXT, LABEL, SPLIT))


def _by_content(rows: Sequence[tuple[int, Sequence[str]]]) -> tuple[int, int]:
    """(text column, label column) of two: labels repeat, or, where both do as often, are shorter."""
    different = [len({cells[place] for _, cells in rows}) for place in (0, 1)]
    length = [sum(len(cells[place]) for _, cells in rows) for place in (0, 1)]
    label = 0 if (different[0], length[0]) < (different[1], length[1]) else 1
    return 1 - label, label


def _plain(head: str) -> str:
    return head.strip().lower()
