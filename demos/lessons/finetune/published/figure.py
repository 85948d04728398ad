"""A board of results as a table (HTML), the largest number of each column in bold."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from demos.templates import templates
from demos.training.results.published import Board, Row

TEXT = templates(__file__)


def board_html(board: Board, own: Sequence[Row]) -> Markup:
    """Own runs come last; a click on a column's head sorts."""
    rows = [*board.rows, *own]
    columns = zip(*(row.values for row in board.rows), strict=True)
    largest = [max(value or 0 for value in column) for column in columns]
    on_this, on_ours = (any(bool(row.other_data) == ours for row in own) for ours in (False, True))
    return TEXT.board(board, rows, largest, on_this, on_ours, _written)


def _written(value: float) -> str:
    """With one decimal, or as exactly as the leaderboard has it; one's own results have more than is known."""
    return f"{value:.1f}" if round(value, 3) != value or round(value, 1) == value else f"{value:g}"
