"""Whether a table's first row names its columns, and the names of its columns: by known names, then by content."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from demos.training.data.columns.labels import is_missing, visible
from demos.training.data.columns.profiles import DATES, LABELS, NUMBERS, RUNNING, is_number, plain, profile_of
from demos.training.data.file_tables import Cells, Table

LONGEST_NAME = 60  # characters of a name that are compared; a first row of longer ones names nothing


@dataclass(frozen=True)
class Headed:
    """A table's columns by their names, and its rows without them."""

    names: tuple[str, ...]  # "column 3" where there is none, or where two are the same
    rows: list[Cells]
    named: bool  # whether the file names its columns


def headed(table: Table, known: Collection[str]) -> Headed:
    """The table's rows apart from the names of its columns; `known` are names in small letters."""
    if table.keyed:
        return Headed(table.header, table.rows, True)
    first, body = table.header, table.rows[1:]
    named = any(name_of(cell) in known for cell in first) or _names(first, [cells for _, cells in body])
    names = first if named else ("",) * len(first)
    counts = [name_of(name) for name in names]
    shown = tuple(
        name.strip() if name_of(name) and counts.count(name_of(name)) == 1 else column_name(place)
        for place, name in enumerate(names)
    )
    return Headed(shown, body if named else table.rows, named)


def column_name(place: int) -> str:
    """The name given to a column without one; `place` counts from 0."""
    return f"column {place + 1}"


def name_of(name: str) -> str:
    """A column's name as names are compared: visible signs in small letters."""
    return "".join(sign for sign in name[:LONGEST_NAME] if visible(sign) == sign).strip().casefold()


def _names(first: Sequence[str], body: Sequence[Sequence[Any]]) -> bool:
    """Whether the first row differs from the rows below it."""
    if len(body) < 2:
        return len(first) > 2
    for_names = for_data = 0
    for place, cell in enumerate(first):
        below = [row[place] for row in body]
        profile = profile_of(below)
        values = {value for other in below if not is_missing(value := plain(other))}
        value = plain(cell)
        if is_missing(value) or not values:
            continue
        if profile.kind in (NUMBERS, DATES, RUNNING) or (profile.kind == LABELS and all(map(is_number, values))):
            like = is_number(value) or (profile.kind == DATES and any(sign.isdigit() for sign in value))
            for_names, for_data = for_names + (not like), for_data + like
        elif profile.kind == LABELS:
            for_names, for_data = for_names + (value not in values), for_data + (value in values)
    if for_names or for_data:
        return for_names > for_data
    filled = [cell.strip() for cell in first if cell.strip()]
    return len(first) > 2 and len(set(filled)) == len(filled) and max(map(len, filled), default=0) <= LONGEST_NAME
