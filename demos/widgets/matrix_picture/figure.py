"""A matrix as a picture with its name and shape; those that share an axis light up the same row or column.

An axis is a letter: the rows of X and of Q are both "i", the query's token, so pointing at either lights both.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from zlib import crc32

import numpy as np
from markupsafe import Markup

from demos.figures.cell_strip import in_base64, shades
from demos.figures.strips import strips_limit
from demos.templates import templates

TEXT = templates(__file__)
MOST = 96  # rows or columns that are drawn of an axis
MOST_NUMBERS = 48 * 48  # of a matrix that can be read by pointing


@dataclass(frozen=True, eq=False)
class Matrix:
    """Numbers <float>[r, c] with what they are called, what their axes are, and how large they are drawn."""

    name: str
    values: np.ndarray
    rows: str  # an axis, one letter
    columns: str
    size: tuple[int, int]  # pixels across and down
    scale: Literal["signed", "magnitude"] = "signed"
    limit: float | None = None  # of the colours; without one, what 99 of 100 numbers stay within
    shape: tuple[int, int] | None = None  # where more is meant than is drawn
    note: str = ""  # beside the name
    again: bool = False  # another one of this name comes before it: its numbers are not sent twice


def spread(count: int) -> np.ndarray:
    """At most MOST of the numbers 0 ... count - 1, evenly spread."""
    return np.linspace(0, count - 1, min(count, MOST)).round().astype(int)


def matrix_html(matrix: Matrix) -> Markup:
    down, across = (spread(size) for size in matrix.values.shape)
    drawn = matrix.values[np.ix_(down, across)]
    shape = matrix.shape or matrix.values.shape
    if matrix.again:
        return TEXT.matrix(matrix, shape, drawn.shape, {"like": f"{crc32(drawn.tobytes()):x} {matrix.name}"})
    limit = strips_limit([matrix.values]) if matrix.limit is None else matrix.limit
    few = matrix.values.size <= MOST_NUMBERS and drawn.shape == matrix.values.shape
    if few:
        return TEXT.matrix(matrix, shape, drawn.shape, {"values": in_base64(drawn.astype(np.float32)), "limit": limit})
    places = shades(drawn * 2 - limit if matrix.scale == "magnitude" else drawn, limit)
    return TEXT.matrix(matrix, shape, drawn.shape, {"places": in_base64(places)})


def board_html(
    rows: Sequence[Markup],
    names: Mapping[str, Sequence[str]],
    resting: Mapping[str, int],
    parts: Mapping[str, tuple[str, int, int]] | None = None,
    begins: Mapping[str, int] | None = None,
) -> Markup:
    """Rows of matrices; `names` are those of an axis's places, and `resting` what is lit before anyone points.

    `parts` says which axis is a part of another: of which, where it begins there, and how many places it has; `begins`,
    what the first drawn place of an axis is called, where that is not 0.
    """
    return TEXT.board(rows, dict(names), dict(resting), dict(parts or {}), dict(begins or {}))


def equation(*parts: Any) -> Markup:
    """Matrices and signs side by side; a text is a sign."""
    shown = [(isinstance(part, Matrix), matrix_html(part) if isinstance(part, Matrix) else part) for part in parts]
    return TEXT.equation(shown)
