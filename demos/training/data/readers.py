"""How one kind of task gets its data: from a person's file, from a data set of the Hub, or from a file of our own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from demos.errors import UserError
from demos.files import DATA
from demos.training.data.columns.mapping import Column, ColumnMap, find
from demos.training.data.file_tables import TABLES, Table, read_table
from demos.training.data.hub_data import Fetched, fetch
from demos.training.data.packed import unpacked
from demos.training.data.splits import MAX_TRAIN, Splits, split_name
from demos.training.data.tables import ReadRows, Record, records_of
from demos.training.data.text_encoding import file_bytes


@dataclass(frozen=True)
class Source:
    """A data set of our own."""

    key: str
    kind: str  # of task: a `Reader`'s
    title: str
    load: Callable[[int, int], Splits]  # (seed, max_train)


@dataclass(frozen=True)
class Reader:
    """How one kind of task gets its data; its rows are frozen dataclasses with `number` and `split` ("" for none)."""

    kind: str
    requirement: str  # what a file of this kind must hold, one sentence
    columns: tuple[Column, ...]  # what a table's columns are found by
    rows: Callable[[Sequence[Record]], Sequence[Any]]  # the records of these columns to rows
    build: Callable[[str, Sequence[Any], int, int], Splits]  # (name, rows, seed, max_train)
    nameless: tuple[str, ...] = ()  # the roles of the columns of a file that has as many and names none of them
    otherwise: tuple[Column, ...] = ()  # the same roles as in a table where `columns` are not found
    # Where a file may be no plain table: (its bytes, its name, the chosen columns).
    read_file: Callable[[bytes, str, str], ReadRows] | None = None
    # Where columns are not found by names and content alone: (the table, the chosen columns).
    finder: Callable[[Table, str], ColumnMap] | None = None
    endings: tuple[str, ...] = TABLES  # of the names of files that it reads
    forms: str = "CSV, Excel or JSON"  # the same in words

    def read(self, data: bytes, name: str, chosen: str = "") -> ReadRows:
        """The rows of a file's bytes; `chosen` are its columns (`print_columns`), "" where they are to be found.

        Raises UserError, one sentence that names the row where there is one.
        """
        data, name = unpacked(data, name, self.endings)
        if self.read_file:
            return self.read_file(data, name, chosen)
        table = read_table(data, name)
        mapping = self.find(table, chosen)
        return ReadRows(self.rows(records_of(mapping, self.columns)), table.read_as, mapping)

    def find(self, table: Table, chosen: str = "") -> ColumnMap:
        """Which of a table's columns are which, as far as that can be said. Raises UserError for a wrong choice."""
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
        fetched = self.fetched(name, chosen)
        built = self.build(fetched.name, self.rows(fetched.records), seed, max_train)
        return replace(built, notes=(*fetched.notes, *built.notes), source=fetched.source)

    def fetched(self, name: str, chosen: str = "") -> Fetched:
        """The Hub's data set, its columns found as those of a file. Raises UserError as `from_hub` does."""
        try:
            return fetch(name, self.columns, chosen)
        except UserError:
            if not self.otherwise:
                raise
            with suppress(UserError):
                return fetch(name, self.otherwise, chosen)
            raise

    def bundled(self, key: str, title: str, file: str) -> Source:
        """The source of a file in assets/data."""

        @lru_cache(maxsize=8)  # frozen, and read again at each move of a slider
        def load(seed: int = 0, max_train: int = MAX_TRAIN) -> Splits:
            built = self.build(title, self.read((DATA / file).read_bytes(), file).rows, seed, max_train)
            return replace(built, source=key)

        return Source(key, self.kind, title, load)
