"""The data of a run with several labels a sentence: sentences and which of the labels each has, in three splits."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.columns.labels import MAX_LABEL, in_order
from demos.training.data.columns.mapping import Column, ColumnMap, find, parse_columns, sheet_of, value_at
from demos.training.data.columns.profiles import TEXTS
from demos.training.data.file_tables import Table, read_table
from demos.training.data.readers import Reader
from demos.training.data.splits import MAX_TRAIN, Item, Splits, count_of, counts_of, same, split_items
from demos.training.data.tables import MIN_PER_CLASS, ReadRows, Record, value_of
from demos.training.data.tables import SPLIT as SPLIT_COLUMN
from demos.training.tasks.multi_label.label_sets import (
    LABELS_NAMES,
    MARKED,
    TEXTS_NAMES,
    LabelSets,
    label_sets,
)

MIN_LABELS, MAX_LABELS = 2, 50
ENOUGH = 10  # rows with the same labels, to give each split its share of them
COLUMNS = (
    Column("text", TEXTS_NAMES, holds=TEXTS, many=True),
    Column("labels", LABELS_NAMES, kind="json", many=True),
    SPLIT_COLUMN,
)
FOUND = (COLUMNS[0], replace(COLUMNS[1], required=False), COLUMNS[2])  # labels are found by their form, too
UNKNOWN = (
    'No column contains labels; name one “labels” and write lists such as ["a", "b"] in it, or use one column with 0 '
    "and 1 for each label."
)


@dataclass(frozen=True)
class LabelledSentence:
    """A sentence and its labels: indices into the data set's labels, ascending; none, one or several."""

    text: str
    labels: tuple[int, ...]


@dataclass(frozen=True)
class MultiLabelDataset(Splits[LabelledSentence]):
    """Sentences of which each has any number of the labels."""

    kind: ClassVar[str] = "labels"
    labels: tuple[str, ...] = field(kw_only=True)

    def counts(self, split: str) -> tuple[int, ...]:
        """Sentences with each label in a split; one with two labels counts for both."""
        labels = (label for example in getattr(self, split) for label in example.labels)
        return counts_of(labels, len(self.labels))

    def sets(self, split: str) -> Counter[tuple[int, ...]]:
        """The number of sentences of a split with each set of labels."""
        return Counter(example.labels for example in getattr(self, split))


@dataclass(frozen=True)
class LabelRow:
    """A sentence with its labels' names as a file has it; `number` as Record's."""

    number: int
    text: str
    labels: tuple[str, ...]
    split: str = ""

    @property
    def label(self) -> str:
        """The labels as text: rows with the same sentence should have the same."""
        return ", ".join(sorted(self.labels)) or "no label"


def find_labels(table: Table, chosen: str = "") -> tuple[ColumnMap, LabelSets]:
    """(the columns of a table, the labels of its rows): as chosen, or by their form and names.

    Raises UserError where there are no labels.
    """
    mapping = find(table, FOUND, chosen=chosen)
    is_chosen = not mapping.notes and "labels" in dict(parse_columns(chosen))
    chosen_places = mapping.places["labels"] if is_chosen else ()
    header: Sequence[str] = mapping.names if mapping.named else ("",) * len(mapping.names)
    cells: list[Sequence[Any]] = [row for _, row in mapping.rows]
    if chosen_places:
        header = [mapping.names[place] for place in chosen_places] if len(chosen_places) > 1 else ["labels"]
        cells = [[row[place] for place in chosen_places] for row in cells]
    sets = label_sets(header, cells)
    if not cells or sets is None:
        raise UserError(UNKNOWN if cells else "The file has no rows.")
    places = chosen_places or sets.places
    for place in places:
        if mapping.named and table.header.count(table.header[place]) > 1:
            raise UserError(f"Two columns are named {table.header[place][:30]!r}; rename one of them.")
    if set(mapping.places.get("text", ())) & set(places):
        raise UserError("No column contains the sentences; name it “text”.")
    return replace(mapping, places={**mapping.places, "labels": places}), replace(_fitting(sets), places=places)


def _fitting(sets: LabelSets) -> LabelSets:
    """These. Raises UserError where each row has one label, as a class, so that nothing is to be learned of several."""
    if sets.one_each and sets.form != MARKED:
        raise UserError("Every row has exactly one label; the task “Sentence” is for such data.")
    return sets


def read_labels(data: bytes, name: str, chosen: str = "") -> ReadRows:
    """A file's sentences with their labels. Raises UserError as `read_table` and `find_labels` do."""
    table = read_table(data, name, sheet_of(chosen))
    mapping, sets = find_labels(table, chosen)
    mapping = mapping.checked()
    split = mapping.places.get("split")
    rows = [
        _row(number, value_of(value_at(cells, mapping.places["text"])), labels, cells[split[0]] if split else "")
        for (number, cells), labels in zip(mapping.rows, sets.sets, strict=True)
    ]
    return ReadRows(rows, table.read_as, mapping)


def label_rows(records: Sequence[Record]) -> list[LabelRow]:
    """Rows from records of COLUMNS. Raises UserError for one without text, and where no row has several labels."""
    sets = label_sets(*label_cells([record["labels"] for record in records]))
    if sets is None:
        raise UserError(UNKNOWN)
    labelled = zip(records, _fitting(sets).sets, strict=True)
    return [_row(record.number, record["text"], labels, record["split"]) for record, labels in labelled]


def label_cells(labels: Sequence[Any]) -> tuple[tuple[str, ...], list[list[Any]]]:
    """(names, a row of cells each) of labels: of each row one cell, or an object with the cells of several columns."""
    if labels and all(isinstance(row, dict) and row.keys() == labels[0].keys() for row in labels):
        return tuple(labels[0]), [list(row.values()) for row in labels]
    return ("labels",), [[cell] for cell in labels]


def _row(number: int, text: str, labels: Sequence[str], split: object) -> LabelRow:
    where = f"Row {number:,}"
    text = clean_text(text, where).strip()
    if not text:
        raise UserError(f"{where} has no text.")
    cleaned = tuple(clean_text(label).strip() for label in labels)
    longest = max(cleaned, key=len, default="")
    if len(longest) > MAX_LABEL:
        raise UserError(f"{where} has a label of {len(longest):,} characters; the limit is {MAX_LABEL}.")
    return LabelRow(number, text, cleaned, value_of(split).strip())


def build_labels(name: str, rows: Sequence[LabelRow], seed: int = 0, max_train: int = MAX_TRAIN) -> MultiLabelDataset:
    """Splits and bounds from rows by the rules of `split_items`, set of labels by set of labels.

    A set with fewer than ENOUGH rows counts as its rarest label. Raises UserError for less than MIN_LABELS or more than
    MAX_LABELS labels, for one with too few sentences, and for one that no training sentence has.
    """
    sets = Counter(frozenset(row.labels) for row in rows)
    counts = Counter(label for row in rows for label in row.labels)
    items = [
        Item(row.number, same(row.text), _stratum(row.labels, sets, counts), row.split, row, row.label) for row in rows
    ]
    names: list[str] = []

    def check(distinct: Sequence[Item[LabelRow]]) -> None:
        names.extend(label_names([item.value for item in distinct]))

    parts = split_items(items, seed, max_train, "sentence", check, "set of labels by set of labels")
    trained = {label for row in parts.train for label in row.labels}
    for label in names:
        if label not in trained:
            raise UserError(f"No training sentence has the label {label!r}.")
    index = {label: number for number, label in enumerate(names)}

    def examples(split: Sequence[LabelRow]) -> tuple[LabelledSentence, ...]:
        return tuple(LabelledSentence(row.text, tuple(sorted(index[label] for label in row.labels))) for row in split)

    used = [*parts.train, *parts.validation, *parts.test]
    without, several = (sum(len(row.labels) == 0 for row in used), sum(len(row.labels) > 1 for row in used))
    note = (
        f"Of {count_of(len(used), 'sentence')}, {without:,} {_have(without)} no label and {several:,} {_have(several)} "
        "several."
    )
    return MultiLabelDataset(
        name,
        examples(parts.train),
        examples(parts.validation),
        examples(parts.test),
        (*parts.notes, note),
        labels=tuple(names),
    )


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _stratum(labels: Sequence[str], sets: Counter[frozenset[str]], counts: Counter[str]) -> str:
    """The set of labels where enough rows have it, else its rarest label; of equals the first by the alphabet."""
    if sets[frozenset(labels)] >= ENOUGH or not labels:
        return "\n".join(sorted(labels))
    return min(labels, key=lambda label: (counts[label], label))


def label_names(rows: Sequence[LabelRow]) -> tuple[str, ...]:
    """The labels of different rows in their order. Raises UserError for bounds."""
    counts = Counter(label for row in rows for label in row.labels)
    alike: dict[str, str] = {}
    for label in counts:
        other = alike.setdefault(same(label), label)
        if other != label:
            raise UserError(
                f"The labels {other!r} and {label!r} differ only in capitals or spaces; write them in the same way."
            )
    if len(counts) < MIN_LABELS:
        only = f", {next(iter(counts))!r}" if counts else ""
        raise UserError(f"There {'is only one label' if counts else 'are no labels'}{only}; at least two are needed.")
    if len(counts) > MAX_LABELS:
        raise UserError(f"There are {len(counts):,} different labels; the limit is {MAX_LABELS}.")
    rare, least = min(counts.items(), key=lambda item: item[1])
    if least < MIN_PER_CLASS:
        row = next(row for row in rows if rare in row.labels)
        raise UserError(
            f"The label {rare!r} (row {row.number:,}) has {count_of(least, 'different sentence')}; each label needs at "
            f"least {MIN_PER_CLASS}."
        )
    return in_order(counts)


READER = Reader(
    "labels",
    'A text column and a column of label lists, such as ["a", "b"] or a;b, or one column of 0 and 1 for each label; '
    "optionally split.",
    COLUMNS,
    label_rows,
    build_labels,
    read_file=read_labels,
    finder=lambda table, chosen: find_labels(table, chosen)[0],
)
READERS = (READER,)
SOURCES = (READER.bundled("restaurants", "Restaurant topics", "restaurants.jsonl"),)
