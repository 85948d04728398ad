"""The lines of a program that make lists of labels of a file's cells, as the page reads them."""

import json
from collections.abc import Sequence
from typing import Any

from demos.templates import templates
from demos.training.data.columns.labels import NOTHING
from demos.training.tasks.multi_label.label_sets import LISTED, MARKED, MARKS, TRUTHS, LabelSets

TEXT = templates(__file__, "text_data_program.txt")


def label_lines(
    variable: str, sets: LabelSets, cells: Sequence[Sequence[Any]], header: Sequence[str] = (), parsed: bool = False
) -> tuple[str, tuple[str, ...]]:
    """(the lines that make lists of labels of the cells, their imports); `cells` are those of the sets' columns.

    `parsed`: the cells were read as lists here, but the program finds them as JSON in text.
    """
    if sets.form == MARKED:
        names = [header[place] for place in sets.places]
        marks = tuple(mark for mark, there in (MARKS | TRUTHS).items() if there)
        return str(
            TEXT.label_columns(variable, names, marks, any(name != " ".join(name.split()) for name in names))
        ), ()
    written = [cell for (cell,) in cells]
    if sets.form == LISTED:
        lists = [cell for cell in written if isinstance(cell, str) and cell.strip().startswith("[")]
        if not lists and not parsed:
            return str(TEXT.label_lists(variable, "")), ()
        parse = "json.loads" if all(map(_is_json, lists)) else "ast.literal_eval"
        return str(TEXT.label_lists(variable, parse)), (f"import {parse.partition('.')[0]}",)
    nothing = any(not isinstance(cell, str) or cell.strip().lower() in NOTHING for cell in written)
    return str(
        TEXT.label_texts(
            variable, repr(sets.separator) if sets.separator else "", tuple(sorted(NOTHING)) if nothing else ()
        )
    ), ()


def _is_json(text: str) -> bool:
    """Whether the text is JSON: Python's own writing of a list need not be."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
