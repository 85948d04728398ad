"""A look at a file before a training: its task, its columns, its classes, and the rows that are left out."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from demos.errors import UserError
from demos.files import Json
from demos.training.data.columns.headers import name_of
from demos.training.data.columns.labels import in_order
from demos.training.data.columns.mapping import ColumnMap, UnclearError, sheet_of, value_at, with_sheet
from demos.training.data.columns.markup import has_markup
from demos.training.data.columns.profiles import NUMBERS, TEXTS
from demos.training.data.file_tables import JSON, ending_of, read_table
from demos.training.data.packed import unpacked
from demos.training.data.rated_pairs import number_of
from demos.training.data.readers import Reader, absent_sheet, only_sheet, sheets_without_choice
from demos.training.data.splits import count_of
from demos.training.data.tables import left_out_notes, records_of, usable, value_of
from demos.training.data.text_encoding import file_bytes
from demos.training.data.workbooks import UnclearSheetError, sheet_names
from demos.training.sources import READERS, reader_of
from demos.training.tasks.entities.files import CONLL, CONLL_FORM
from demos.training.tasks.entities.scores import spans_of
from demos.training.tasks.multi_label.data import find_labels
from demos.training.tasks.question_answering.data import distinct_questions
from demos.training.tasks.similarity.data import ScoredRow, rating_of, usable_scores

BLANK = b"\xef\xbb\xbf \t\r\n"  # bytes that may precede an object
# The tasks, those with more names of columns first.
SPECIFIC = ("question", "choice", "entities", "pair", "labels", "sentence")


@dataclass(frozen=True)
class Look:
    """The known facts about a file before a run."""

    kind: str  # of task
    mapping: ColumnMap | None  # None of a form whose parts have names already
    sure: bool
    rows: int  # that can be used
    labels: Mapping[str, int]  # how many of them have each
    left_out: Mapping[str, int]  # reasons and rows
    notes: tuple[str, ...]
    problem: str = ""  # the missing or unclear part, one sentence
    marked: tuple[str, ...] = ()  # the texts that hold HTML
    sheet: str = ""  # of a workbook, the one that is read; "" where it is to be chosen
    sheets: tuple[str, ...] = ()  # of a workbook, those with cells
    rating: tuple[int, int] | None = None  # the lowest and the highest, where classes or a score may be trained

    def _on_rating(self) -> list[str]:
        if not self.rating:
            return []
        low, high = self.rating
        return [
            f"The labels are whole numbers from {low} to {high}. As classes (task sentence), they have no order; as a "
            f"score (task similarity), {high - 1} is closer to {high} than to {low}."
        ]

    def _on_markup(self) -> list[str]:
        if not self.marked:
            return []
        with_html = f"{count_of(len(self.marked), 'text')} with HTML"
        removed = ", which is removed" if self.mapping and self.mapping.plain else ""
        return [f"{with_html}{removed}, such as {self.marked[0][:60]!r}."]

    def as_json(self) -> Json:
        """The same for a program: the columns by role, one as its name and several as a list."""
        columns = self.mapping.columns if self.mapping else {}
        return {
            "task": self.kind,
            "columns": {role: names[0] if len(names) == 1 else names for role, names in columns.items()},
            **({"sheet": self.sheet, "sheets": list(self.sheets)} if len(self.sheets) > 1 else {}),
            "sure": self.sure,
            "rows": self.rows,
            "labels": dict(self.labels),
            "left_out": dict(self.left_out),
            "notes": [*self.notes, *self._on_markup(), *self._on_rating(), *filter(None, [self.problem])],
        }


def look_at(path: Path | str, kind: str = "", chosen: str = "") -> Look:
    """A look at a file, for a `kind` of task or for the one that its columns suggest.

    Raises UserError where nothing can be made of the file.
    """
    endings = tuple(dict.fromkeys(ending for reader in READERS.values() for ending in reader.endings))
    data, name = unpacked(file_bytes(path), Path(path).name, reader_of(kind).endings if kind else endings)
    if kind:
        return _look(reader_of(kind), data, name, chosen)
    sheets = sheets_without_choice(data, chosen)
    if not sheets:
        return _likeliest(data, name, chosen)
    looks: list[Look] = []
    refused: UserError | None = None
    for sheet in sheets:
        try:
            looks.append(_likeliest(data, name, with_sheet(chosen, sheet)))
        except UserError as error:
            refused = refused or error
    if not looks:
        raise refused or UserError("The file has no rows.")
    fitting = [look for look in looks if READERS[look.kind].trains_on(data, name, with_sheet(chosen, look.sheet))]
    if len(fitting) > 1:
        unclear = str(UnclearSheetError([look.sheet for look in fitting]))
        notes = absent_sheet(chosen, "")
        return replace(fitting[0], sure=False, problem=unclear, sheet="", labels={}, left_out={}, notes=notes)
    best = (fitting or looks)[0]
    notes = (*absent_sheet(chosen, best.sheet), *(only_sheet(sheets, look.sheet) for look in fitting))
    return replace(best, notes=(*best.notes, *notes))


def _likeliest(data: bytes, name: str, chosen: str) -> Look:
    """A look for the task that the columns suggest."""
    kinds, sure = _kinds(data, name, sheet_of(chosen))
    looks: list[Look] = []
    first: UserError | None = None
    for each in kinds:
        try:
            looks.append(_look(READERS[each], data, name, chosen))
        except UserError as error:
            first = first or error
            continue
        if not looks[-1].problem:
            break
    if not looks:
        raise first or UserError("The file has no rows.")
    best = next((look for look in looks if not look.problem), looks[0])
    return best if sure else replace(best, sure=False)


def look_at_hub(name: str, kind: str, chosen: str = "") -> Look:
    """A look at a data set of the Hub, for a `kind` of task. Raises UserError where it can't be had."""
    reader = reader_of(kind)
    try:
        fetched = reader.fetch(name, chosen)
    except UnclearError as unclear:
        mapping = unclear.mapping
        return Look(kind, mapping, False, len(mapping.rows), {}, {}, mapping.notes, mapping.problem)
    read = reader.rows(fetched.records)
    rows, labels, left_out, notes = COUNTED.get(kind, _plain)(read)
    every = (*fetched.mapping.notes, *fetched.notes, *notes)
    rating = RATED[kind](read) if kind in RATED else None
    known = fetched.mapping, fetched.mapping.sure, rows, labels, left_out, every
    return Look(kind, *known, marked=fetched.marked, rating=rating)


def _kinds(data: bytes, name: str, sheet: str) -> tuple[list[str], bool]:
    """(the tasks that a file may be for, the likeliest first, whether it is clear)."""
    for kind, endings in (("question", JSON), ("entities", CONLL)):  # forms whose parts are no columns of a table
        with suppress(UserError):
            ending = ending_of(name, READERS[kind].endings, data)
            if ending not in endings or (ending in JSON and not data.lstrip(BLANK).startswith(b"{")):
                continue
            read = READERS[kind].read(data, name)
            if read.mapping is None or (read.read_as.form.startswith(CONLL_FORM) and _tagged(read.rows)):
                return [kind], True
    named: list[str] = []
    by_content: list[str] = []
    clear = True
    marked: Sequence[int] = ()  # columns of 0 and 1
    close: Sequence[int] = ()  # columns that may be the label of a sentence
    table = read_table(data, name, sheet)
    for kind in SPECIFIC:
        reader = READERS[kind]
        try:
            mapping = reader.find(table)
            if kind == "sentence":
                close = mapping.close.get("label", ())
            if mapping.problem:
                continue
            if kind in ("entities", "choice") and not reader.rows(records_of(mapping, reader.columns)):
                continue
        except UserError:
            continue
        known = {name for column in reader.columns for name in column.names}
        required = [column.role for column in reader.columns if column.required]
        by_name = all(name_of(mapping.columns[role][0]) in known for role in required)
        if kind == "labels":
            marked = mapping.places["labels"]
            one_column = len(marked) == 1
            by_name = by_name and one_column
            if one_column and not find_labels(table)[1].several:
                continue
            clear = by_name or not one_column  # lists may be the answers of several people, too
        scored = kind in ("pair", "sentence") and _scored(mapping)
        (named if by_name else by_content).append("similarity" if scored else kind)
    by_content.sort(key=lambda kind: kind != "sentence")  # two texts of one class are more often one text than a pair
    likely = [*named, *by_content]
    alone = clear and len(by_content) < 2 and set(close) <= set(marked or close)
    return likely or ["sentence"], bool(named) or alone


def _tagged(rows: Sequence[Any]) -> bool:
    return any(tag != "O" for row in rows for tag in row.tags)


def _scored(mapping: ColumnMap) -> bool:
    """Whether the label is a number with decimals, as a similarity is, or one of very many."""
    (place, *_) = mapping.places["label"]
    return mapping.profiles[place].kind == NUMBERS


def _look(reader: Reader, data: bytes, name: str, chosen: str) -> Look:
    sheets = sheet_names(data)
    try:
        read = reader.read(data, name, chosen)
    except UserError as error:
        several = error.sheets if isinstance(error, UnclearSheetError) else ()
        table = read_table(data, name, several[0] if several else sheet_of(chosen))
        unclear = reader.find(table, chosen)
        problem = str(error) if several else unclear.problem
        if not problem or not unclear.rows:
            raise
        sheet = "" if several else table.read_as.sheet
        return Look(
            reader.kind, unclear, False, len(unclear.rows), {}, {}, unclear.notes, problem, sheet=sheet, sheets=sheets
        )
    rows, labels, left_out, notes = COUNTED.get(reader.kind, _plain)(read.rows)
    mapping = read.mapping
    sure = not mapping or mapping.sure
    marked = _marked(reader, mapping)
    left_out = dict(read.read_as.left_out) | left_out
    known = rows, labels, left_out, (*read.notes, *notes)
    rating = RATED[reader.kind](read.rows) if reader.kind in RATED else None
    sheet = read.read_as.sheet
    return Look(reader.kind, mapping, sure, *known, marked=marked, sheet=sheet, sheets=sheets, rating=rating)


def _marked(reader: Reader, mapping: ColumnMap | None) -> tuple[str, ...]:
    """The texts that hold HTML, as the file has them."""
    roles = [column.role for column in reader.columns if column.holds == TEXTS] if mapping else []
    places = [mapping.places[role] for role in roles if role in mapping.places] if mapping else []
    texts = (value_of(value_at(cells, at)) for _, cells in (mapping.rows if mapping else ()) for at in places)
    return tuple(filter(has_markup, texts))


Counted = tuple[int, dict[str, int], dict[str, int], list[str]]


def _plain(rows: Sequence[Any]) -> Counted:
    return len(rows), {}, {}, []


def _classes(rows: Sequence[Any]) -> Counted:
    used, left_out, notes = usable(rows)
    counts = Counter(row.label for row in used)
    return len(used), {label: counts[label] for label in in_order(counts)}, left_out, notes


def _entities(rows: Sequence[Any]) -> Counted:
    counts = Counter(kind for row in rows for *_, kind in spans_of(row.tags))
    return len(rows), dict(sorted(counts.items())), {}, list(dict.fromkeys(row.note for row in rows if row.note))


def _questions(rows: Sequence[Any]) -> Counted:
    counts = Counter("answered" if row.value.answers else "unanswerable" for row in rows)
    return len(rows), dict(sorted(counts.items())), {}, distinct_questions(rows)[1]


def _choices(rows: Sequence[Any]) -> Counted:
    return len(rows), dict(sorted(Counter(row.stratum for row in rows).items())), {}, []


def _scores(rows: Sequence[ScoredRow]) -> Counted:
    used, left_out = usable_scores(rows)
    return len(used), {}, left_out, left_out_notes(left_out)


def _label_sets(rows: Sequence[Any]) -> Counted:
    counts = Counter(label for row in rows for label in row.labels)
    without = sum(not row.labels for row in rows)
    notes = [f"{count_of(without, 'row')} without a label."] if without else []
    return len(rows), {label: counts[label] for label in in_order(counts)}, {}, notes


COUNTED: Mapping[str, Callable[[Sequence[Any]], Counted]] = {
    "sentence": _classes,
    "pair": _classes,
    "entities": _entities,
    "question": _questions,
    "choice": _choices,
    "labels": _label_sets,
    "similarity": _scores,
}
# The values that may be ratings: the labels of sentences, and the scores of single texts.
RATED: Mapping[str, Callable[[Sequence[Any]], tuple[int, int] | None]] = {
    "sentence": lambda rows: rating_of([number_of(row.label) for row in rows if row.label]),
    "similarity": lambda rows: rating_of([row.pair.score for row in rows if not (row.pair.second or row.lacks)]),
}
