"""The labels of each row where a row may have none, one or several: a list in a cell, or a column of 0 and 1 each."""

import ast
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from demos.training.data.columns.labels import NOTHING
from demos.training.data.tables import LABEL_NAMES, SPLIT_NAMES, TEXT_NAMES

LABELS_NAMES = (*LABEL_NAMES, "tags", "topics", "emotions", "label_ids", "annotations")
TEXTS_NAMES = (*TEXT_NAMES, "comment_text")  # Jigsaw's
SEPARATORS = (";", "|", ",")  # between the labels of one cell, the first that a column has
MARKS = {"0": False, "1": True, "0.0": False, "1.0": True}
TRUTHS = {"false": False, "true": True}
LISTED, TEXT, MARKED = "lists", "text", "columns"  # the forms
MIN_COLUMNS = 2  # of 0 and 1
LONGEST_LIST = 5_000  # characters of a list as text
_IDS = re.compile(r"\d{1,4}(\s*,\s*\d{1,4})*")


@dataclass(frozen=True)
class LabelSets:
    """The labels of each row of a table, and where they come from."""

    form: str  # LISTED, TEXT or MARKED
    places: tuple[int, ...]  # of the columns that hold them, in the header's order
    sets: tuple[tuple[str, ...], ...]  # a row each; within a row each label once
    separator: str = ""  # of TEXT: the sign between two labels of a cell; "" where no cell has two

    @property
    def several(self) -> bool:
        """Whether any row has more than one label."""
        return any(len(labels) > 1 for labels in self.sets)

    @property
    def one_each(self) -> bool:
        """Whether each row has exactly one label, as a class."""
        return all(len(labels) == 1 for labels in self.sets)


def label_sets(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> LabelSets | None:
    """The labels of each row, from raw cells: what JSON has, or text. None where no column holds any.

    A column with a label's name holds lists (of JSON, as JSON in text, or as Python writes them), or text with ; | or
    , between labels; so may a column of lists or of numbers such as "3,10" with any other name. Or several columns
    hold 0 and 1, and their names are the labels. Of both, the lists win where a row has not exactly one label.
    """
    listed = _listed(header, rows)
    if listed and not listed.one_each:
        return listed
    return _marked(header, rows) or listed


def listed_labels(cell: Any) -> tuple[str, ...] | None:
    """The labels in a cell that is a list, or whose text is one; () for an empty cell; None for anything else."""
    if _is_empty(cell):
        return ()
    if isinstance(cell, str) and cell.strip().startswith("[") and len(cell) <= LONGEST_LIST:
        cell = _parsed(cell.strip())
    if not isinstance(cell, list) or any(isinstance(label, list | dict | tuple | set) for label in cell):
        return None
    return _distinct(str(label) for label in cell if label is not None)


def is_marked(cell: Any, marks: dict[str, bool]) -> bool | None:
    """Whether a cell says that its column's label is there, not there (an empty one too), or neither (None)."""
    return False if _is_empty(cell) else marks.get(str(cell).strip().lower())


def _listed(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> LabelSets | None:
    plain = [head.strip().lower() for head in header]
    named = [plain.index(name) for name in LABELS_NAMES if name in plain]
    others = [
        place
        for place, name in enumerate(plain)
        if place not in named and name not in TEXTS_NAMES and name not in SPLIT_NAMES
    ]
    for place in [*named, *others]:
        cells = [row[place] for row in rows]
        lists = [listed_labels(cell) for cell in cells]
        if all(labels is not None for labels in lists) and any(lists):
            return LabelSets(LISTED, (place,), tuple(labels or () for labels in lists))
        if place in named or _are_ids(cells):
            split_cells = _from_text(cells)
            if split_cells:
                return LabelSets(TEXT, (place,), *split_cells)
    return None


def _from_text(cells: Sequence[Any]) -> tuple[tuple[tuple[str, ...], ...], str] | None:
    """(each cell's labels, the separator between them) of a column of text or numbers; None where it holds more."""
    if any(isinstance(cell, list | dict) for cell in cells):
        return None
    texts = ["" if _is_empty(cell) else str(cell).strip() for cell in cells]
    if not any(texts):
        return None
    for separator in SEPARATORS:
        if any(separator in text for text in texts):
            sets = tuple(_distinct(text.split(separator)) for text in texts)
            # "Sports, other" is one label where its parts are in no other cell
            if len({label for labels in sets for label in labels}) <= len(set(texts)):
                return sets, separator
    return tuple(_distinct([text]) for text in texts), ""


def _marked(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> LabelSets | None:
    for marks in (MARKS, TRUTHS):
        places = tuple(
            place
            for place, name in enumerate(header)
            if name.strip()
            and name.strip().lower() not in (*TEXTS_NAMES, *SPLIT_NAMES)
            and _are_marks([row[place] for row in rows], marks)
        )
        if len(places) >= MIN_COLUMNS:
            sets = tuple(_distinct(header[place] for place in places if is_marked(row[place], marks)) for row in rows)
            return LabelSets(MARKED, places, sets)
    return None


def _are_marks(cells: Sequence[Any], marks: dict[str, bool]) -> bool:
    return all(is_marked(cell, marks) is not None for cell in cells) and not all(map(_is_empty, cells))


def _are_ids(cells: Sequence[Any]) -> bool:
    """Whether these are numbers with commas between them, two in a cell at least once."""
    texts = [str(cell).strip() for cell in cells if not _is_empty(cell)]
    return any("," in text for text in texts) and all(_IDS.fullmatch(text) for text in texts)


def _is_empty(cell: Any) -> bool:
    if isinstance(cell, str):
        return not cell.strip() or cell.strip().lower() in NOTHING
    return cell is None or (isinstance(cell, float) and cell != cell)


def _parsed(text: str) -> Any:
    """A list from JSON or from Python's own writing of it; None where the text is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
    return None


def _distinct(labels: Any) -> tuple[str, ...]:
    """Each label once, without blanks around it; empty ones are none."""
    return tuple(dict.fromkeys(filter(None, (" ".join(label.split()) for label in labels))))
