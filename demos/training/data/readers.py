"""The readers of one kind of task's data: from a person's file, the Hub, or a file of our own."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from demos.errors import UserError
from demos.files import DATA
from demos.training.data.columns.labels import visible
from demos.training.data.columns.mapping import Column, ColumnMap, UnclearError, find, sheet_of, with_sheet
from demos.training.data.file_tables import TABLES, Table, read_table
from demos.training.data.hub_data import Fetched, fetch
from demos.training.data.packed import unpacked
from demos.training.data.splits import MAX_TRAIN, Splits, split_name
from demos.training.data.tables import ReadRows, Record, records_of
from demos.training.data.text_encoding import file_bytes
from demos.training.data.workbooks import UnclearSheetError, quoted_title, sheet_names


@dataclass(frozen=True)
class Source:
    """A data set of our own."""

    key: str
    kind: str  # of task: a `Reader`'s
    title: str
    load: Callable[[int, int], Splits]  # (seed, max_train)
    file: str  # in assets/data


@dataclass(frozen=True)
class Reader:
    """The reader of one kind of task; its rows are frozen dataclasses with `number` and `split` ("" for none)."""

    kind: str
    requirement: str  # the required content of such a file, one sentence
    columns: tuple[Column, ...]  # the descriptions by which a table's columns are found
    rows: Callable[[Sequence[Record]], Sequence[Any]]  # the records of these columns to rows
    build: Callable[[str, Sequence[Any], int, int], Splits]  # (name, rows, seed, max_train)
    nameless: tuple[str, ...] = ()  # the roles of the columns of a file that has as many and names none of them
    otherwise: tuple[Column, ...] = ()  # the same roles as in a table where `columns` are not found
    # Where a file may be no plain table: (its bytes, its name, the chosen columns).
    read_file: Callable[[bytes, str, str], ReadRows] | None = None
    # For columns that are not found by names and content alone: (the table, the chosen columns).
    finder: Callable[[Table, str], ColumnMap] | None = None
    endings: tuple[str, ...] = TABLES  # of the names of files that it reads
    forms: str = "CSV, Excel or JSON"  # the same in words

    def read(self, data: bytes, name: str, chosen: str = "") -> ReadRows:
        """The rows of a file's bytes; `chosen` are its columns (`print_columns`), "" where they are to be found.

        Of a workbook's sheets it is the only one that can be trained on, where none is chosen. Raises UserError, one
        sentence that names the row where there is one; UnclearSheetError where there are several such sheets.
        """
        data, name = unpacked(data, name, self.endings)
        with_one, note = _with_sheet(self, data, name, chosen)
        read = self._read(data, name, with_one)
        notes = (*absent_sheet(chosen, read.read_as.sheet), *note)
        return read._replace(read_as=replace(read.read_as, remarks=(*read.read_as.remarks, *notes)))

    def _read(self, data: bytes, name: str, chosen: str) -> ReadRows:
        if self.read_file:
            return self.read_file(data, name, chosen)
        table = read_table(data, name, sheet_of(chosen))
        mapping = self.find(table, chosen)
        return ReadRows(self.rows(records_of(mapping, self.columns)), table.read_as, mapping)

    def trains_on(self, data: bytes, name: str, chosen: str) -> bool:
        """Whether a run could be made of a file's bytes, with one sheet chosen where it is a workbook."""
        try:
            self.build(name, self._read(data, name, chosen).rows, 0, MAX_TRAIN)
        except UserError:
            return False
        return True

    def find(self, table: Table, chosen: str = "") -> ColumnMap:
        """The roles of a table's columns, as far as they can be found. Raises UserError for a wrong choice."""
        if self.finder:
            return self.finder(table, chosen)
        mapping = find(table, self.columns, self.nameless, chosen)
        other = find(table, self.otherwise, (), chosen) if mapping.problem and self.otherwise else mapping
        return mapping if other.problem else other

    def from_files(
        self, path: Path | str, test: Path | str | None, seed: int, max_train: int, chosen: str = ""
    ) -> Splits:
        """A person's file; of a second one all rows are the test split, and then none of the first are.

        Both have the `chosen` columns. Raises UserError as `read` does, and where a file can't be read.
        """
        read, name = self.read(file_bytes(path), Path(path).name, chosen), Path(path).name
        rows, notes = list(read.rows), list(read.notes)
        if test is not None:
            try:
                tested = self.read(file_bytes(test), Path(test).name, chosen)
            except UserError as error:
                raise UserError(f"The test file can't be used: {str(error)[:1].lower()}{str(error)[1:]}") from error
            notes += [f"The test file: {note[:1].lower()}{note[1:]}" for note in tested.notes]
            held_out = [replace(row, split="test") for row in tested.rows]
            splits = {True: "validation", False: "train"}
            rows = [replace(row, split=splits[split_name(row.split, row.number) == "validation"]) for row in rows]
            rows, name = [*rows, *held_out], f"{name} and {Path(test).name}"
        built = self.build(name, rows, seed, max_train)
        return replace(built, notes=(*notes, *built.notes))

    def from_hub(self, name: str, seed: int, max_train: int, chosen: str = "") -> Splits:
        """The Hub's data set `owner/name`, `owner/name:config` or `owner/name:config:split`, which is tested on.

        Raises UserError where the Hub is out of reach, has no such data set, or its columns are not this task's.
        """
        fetched = self.fetch(name, chosen)
        built = self.build(fetched.name, self.rows(fetched.records), seed, max_train)
        return replace(built, notes=(*fetched.notes, *built.notes), source=fetched.source)

    def fetch(self, name: str, chosen: str = "") -> Fetched:
        """A data set of the Hub as records of these columns. Raises UserError as `hub_data.fetch` does."""
        try:
            return fetch(name, self.columns, chosen, self.finder)
        except UnclearError:
            if self.otherwise:
                with suppress(UnclearError):
                    return fetch(name, self.otherwise, chosen)
            raise

    def bundled(self, key: str, title: str, file: str) -> Source:
        """The source of a file in assets/data."""

        @lru_cache(maxsize=8)  # frozen, and read again at each move of a slider
        def load(seed: int = 0, max_train: int = MAX_TRAIN) -> Splits:
            built = self.build(title, self.read((DATA / file).read_bytes(), file).rows, seed, max_train)
            return replace(built, source=key)

        return Source(key, self.kind, title, load, file)


def sheets_without_choice(data: bytes, chosen: str) -> tuple[str, ...]:
    """The sheets of a workbook that has several, where none of them is chosen; else ()."""
    sheets = sheet_names(data)
    return sheets if len(sheets) > 1 and sheet_of(chosen) not in sheets else ()


def absent_sheet(chosen: str, read: str) -> tuple[str, ...]:
    """A sentence on a chosen sheet where another one was read; () where it is that one, and where none is chosen."""
    sheet = sheet_of(chosen)
    return (f"The chosen sheet {visible(sheet[:40])!r} is not in this file.",) if sheet not in ("", read) else ()


def only_sheet(sheets: Sequence[str], sheet: str) -> str:
    """The sentence on the one sheet that can be trained on."""
    return f"Of the workbook’s {len(sheets)} sheets only {quoted_title(sheet)} can be trained on."


@lru_cache(maxsize=4)  # a workbook is read several times for a page
def _with_sheet(reader: Reader, data: bytes, name: str, chosen: str) -> tuple[str, tuple[str, ...]]:
    """(the choice with the sheet that is read, a sentence on it)."""
    sheets = sheets_without_choice(data, chosen)
    if not sheets:
        return chosen, ()
    fitting = [sheet for sheet in sheets if reader.trains_on(data, name, with_sheet(chosen, sheet))]
    if len(fitting) > 1:
        raise UnclearSheetError(fitting)
    if not fitting:
        return with_sheet(chosen, sheets[0]), ()
    return with_sheet(chosen, fitting[0]), (only_sheet(sheets, fitting[0]),)
