"""The rows of a data set of the Hub as a task's values: its columns are found as those of a file."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

import numpy as np

from demos.bert.model.text import MAX_CHARACTERS
from demos.errors import UserError
from demos.training.data.columns.mapping import Column, ColumnMap, find, value_at
from demos.training.data.columns.markup import has_markup, without_markup
from demos.training.data.columns.profiles import TEXTS
from demos.training.data.file_tables import Table
from demos.training.data.read_as import ReadAs
from demos.training.data.splits import SPLITS
from demos.training.data.tables import value_of

SAMPLE = 200  # rows of a split by which columns without a known name are found
_UNREAD = re.compile("Image|Audio|Video|Pdf|Nifti|Array")  # kinds of columns that hold no text
Finder = Callable[[Table, str], ColumnMap]  # (a table, the chosen columns)


@dataclass
class HubRows:
    """Reads one split after the other, and keeps what was found on the way."""

    columns: tuple[Column, ...]
    chosen: str = ""  # as `print_columns` writes it
    finder: Finder | None = None  # for columns that names and content alone do not decide
    mapping: ColumnMap | None = None  # of the first split; its rows are the sample
    parsed: set[str] = field(default_factory=set)  # the roles of columns whose text holds lists, as JSON
    marked: list[str] = field(default_factory=list)  # the texts that hold HTML

    def values(self, rows: Any, split: str, stopped: Callable[[], bool], most: int) -> Iterator[dict[str, Any] | None]:
        """Each row's values by role, of `most` rows; None for a row without a class.

        Several columns that are the text are joined; several columns of labels become one object, a cell by name.
        Raises UnclearError for a column that is missing or not clear.
        """
        features: Mapping[str, Any] = getattr(rows, "features", None) or {}
        if features:  # no picture is unpacked
            rows = rows.select_columns([name for name, of in features.items() if not _UNREAD.match(type(of).__name__)])
        iterator = iter(rows)
        sample = list(islice(iterator, SAMPLE))
        if not sample:
            return
        header = tuple(name for name in features or sample[0] if name in sample[0])
        mapping = self._mapping_of(header, sample, features)
        self.mapping = self.mapping or mapping
        for row in islice(chain(sample, iterator), most):
            if stopped():
                return
            cells = [_decoded(row.get(name), features.get(name)) for name in header]
            values = {column.role: self._value(column, mapping, cells) for column in self.columns}
            if "split" in values:
                values["split"] = split
            yield values if answer_of(values) else None

    def _mapping_of(
        self, header: Sequence[str], sample: Sequence[Mapping[str, Any]], features: Mapping[str, Any]
    ) -> ColumnMap:
        cells = [[_decoded(row.get(name), features.get(name)) for name in header] for row in sample]
        table = Table(tuple(header), list(enumerate(cells, start=1)), True, ReadAs("rows of the Hub"))
        mapping = find(table, self.columns, chosen=self.chosen)
        if mapping.problem and self.finder:
            with suppress(UserError):
                mapping = self.finder(table, self.chosen)
        return mapping.checked()

    def _value(self, column: Column, mapping: ColumnMap, cells: Sequence[Any]) -> Any:
        places = mapping.places.get(column.role)
        if not places:
            return value_of("", column.kind)
        if len(places) > 1 and column.kind != "text":
            return {mapping.names[place]: cells[place] for place in places}
        cell = value_at(cells, places)
        value = value_of(cell[:MAX_CHARACTERS] if isinstance(cell, str) else cell, column.kind)
        if isinstance(cell, str) and not isinstance(value, str):
            self.parsed.add(column.role)
        if column.holds == TEXTS and isinstance(value, str) and has_markup(value):
            self.marked.append(value)
            return without_markup(value) if mapping.plain else value
        return value


def answer_of(values: Mapping[str, Any]) -> Any:
    """A row's class or score; of a task with neither a sign that is never hidden."""
    return next((values[role] for role in ("label", "score") if role in values), "?")


def characters_of(value: Any) -> int:
    """The length of the text in a cell, in lists and structs too; a value that is not text counts as one."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(characters_of, value.values()))
    return sum(map(characters_of, value)) if isinstance(value, list | tuple) else 1


def named_splits(names: Sequence[str], tested: str | None) -> dict[str, str]:
    """The splits that serve as train, validation and test, "validation_matched" for one; "" for the only one there is.

    `tested` is to be the test. Raises UserError where there is no such split, or none to train on beside it.
    """
    chosen: dict[str, str] = {}
    for name in names:
        plain = name.lower()
        split = SPLITS.get(plain) or SPLITS.get(re.split(r"[^a-z]", plain)[0])
        if split and (split not in chosen or plain in SPLITS):
            chosen[split] = name
    if tested:
        if tested not in names or chosen.get("train") in (None, tested):
            others = ", ".join(repr(name) for name in names[:8] if name != chosen.get("train")) or "none"
            raise UserError(f"There is no split {tested!r} to test on; beside the training split there are: {others}.")
        return {split: name for split, name in chosen.items() if name != tested and split != "test"} | {"test": tested}
    if "train" not in chosen and len(names) == 1:
        return {"": names[0]}
    if list(chosen) == ["train"]:  # to be drawn from
        return {"": chosen["train"]}
    return dict(sorted(chosen.items(), key=lambda item: item[0] != "train"))  # columns are found in what is learned


def _decoded(value: Any, feature: Any) -> Any:
    """Class numbers as their names, in lists too; a hidden class as nothing; a short float as it was written."""
    if isinstance(value, float) and getattr(feature, "dtype", "") == "float32":
        return float(str(np.float32(value)))  # 3.8, and not 3.799999952316284
    names = getattr(feature, "names", None)
    if names and isinstance(value, int):
        return names[value] if 0 <= value < len(names) else None
    inner = getattr(feature, "feature", None)
    if getattr(inner, "names", None) and isinstance(value, list):
        return [_decoded(inner_value, inner) for inner_value in value]
    return value
