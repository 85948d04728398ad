"""The four requirements for a position encoding, each with the number that tests it, and the encodings as tables."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from demos.bert.encoder.position import PlainNumber, Wishes
from demos.figures.numbers import scientific
from demos.figures.tables import number_table
from demos.templates import signed, templates

TEXT = templates(__file__)
SHOWN_NUMBERS = 256  # of a table; more is no table to read
SHOWN_COLUMNS = 32
EXACT = 1e-9  # what float64 leaves of a difference that mathematics says is none
SAME = 1e-6  # rows nearer than that are one row to a float32 model


def verdicts(of: Wishes, again: float, rows: int | None) -> list[tuple[str, str]]:
    """The four requirements for one table: whether each is "met", "half met" or "not met", and the number behind that.

    `again`: the largest difference of a second, longer table from this one; `rows`: None = no end.
    """
    low, high = of.bounds
    i, j = of.nearest_pair
    inside = low >= -1 - EXACT and high <= 1 + EXACT
    spread = of.offset_spread
    written = scientific(spread) if spread < 0.001 else f"{spread:.3f}"
    if rows is None:
        ends = "there is a row for any position"
    else:
        ends = f"the last row is position {rows - 1:,}; there is none for position {rows:,}"
    same = again < EXACT
    return [
        (_met(of.nearest > SAME), f"smallest distance {of.nearest:.4f}, between rows {i} and {j}"),
        (_met(spread < EXACT), f"a cosine differs from the mean for its distance k by at most {written}"),
        (_met(inside), f"all numbers lie between {signed(low, '.3f')} and {signed(high, '.3f')}"),
        (
            "half met" if same and rows else _met(same),
            f"computed twice, the rows differ by {scientific(again)}; {ends}",
        ),
    ]


def plain_verdicts(of: PlainNumber, longer: int) -> list[tuple[str, str]]:
    """The same for a code of one number a position; `longer` is the length of the other text."""
    low, high = of.bounds
    spread = scientific(of.offset_spread)
    return [
        (_met(of.nearest > SAME), f"smallest distance {of.nearest:.4f}"),
        (_met(of.offset_spread < EXACT), f"distances of positions k apart differ by at most {spread}"),
        (_met(low >= -1 - EXACT and high <= 1 + EXACT), f"all numbers lie between {low:g} and {high:g}"),
        (_met(of.again < EXACT), f"in a text of {longer:,} positions, a number differs by up to {of.again:.3f}"),
    ]


def _met(wish: bool) -> str:
    return "met" if wish else "not met"


def numbers_table(table: np.ndarray, caption: str, names: Sequence[str] = ()) -> Markup:
    """A table's numbers with four digits, one row per position; only its beginning where it is large."""
    m, d = table.shape
    columns = min(d, SHOWN_COLUMNS)
    rows = min(m, max(4, SHOWN_NUMBERS // columns))
    if (rows, columns) != (m, d):
        caption += f"; the first {rows} of {m} rows and {columns} of {d} columns"
    heads = [f"{index} {names[index]}" if names else index for index in range(rows)]
    cells = [[signed(value, ".4f") for value in row] for row in table[:rows, :columns]]
    return number_table(caption, range(columns), zip(heads, cells, strict=True))


def is_small(table: np.ndarray) -> bool:
    """Whether all of the table's numbers can be shown beside its picture."""
    return table.size <= 64 and table.shape[1] <= 8
