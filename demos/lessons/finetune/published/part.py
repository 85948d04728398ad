"""Part "Published results": the tables of the papers, sorted by any column, with one's own runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from demos.page.view import Layout, On, Shown, View, options, unlinked
from demos.templates import templates
from demos.training.results.history import Record
from demos.training.results.published import Board, Row, boards, own_rows
from demos.widgets.sortable.sortable import sortable

NAMES = [*boards()]
TEXT = templates(__file__)


class Published(View):
    tab, order, reads_sentence = "Published results", 6, False
    look = (
        "Click the name of a column to sort by it. GPT is as large as BERT base: on which data set did BERT base gain "
        "most over it?"
    )

    @dataclass(frozen=True)
    class Choices:
        board: str = options(
            [(name, name) for name in NAMES], NAMES[0], "Results", show_label=False, elem_id="published-board"
        )
        history: tuple[Record, ...] = unlinked((), redraws=True)

    def lay_out(self, at: Layout) -> None:
        at.hold("history", at.page.history)
        at.control("board")
        at["table"] = sortable("published-table", elem_classes="picture")
        at.look()
        at.folds(numbers=())

    def draw(self, on: On, c: Choices) -> Shown:
        """One board, the reader's own runs among its rows."""
        board = boards()[c.board]
        return {"table": board_html(board, own_rows(board, c.history))}


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
