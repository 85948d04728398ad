"""Part "Published results": the tables of the papers, sorted by any column, with one's own runs."""

from __future__ import annotations

from dataclasses import dataclass

from demos.lessons.finetune.published.figure import board_html
from demos.page.folds import formula_fold, source_fold
from demos.page.view import Layout, On, Shown, View, options, unlinked
from demos.training.results.history import Record
from demos.training.results.published import boards, own_rows
from demos.widgets.sortable.sortable import sortable

NAMES = [*boards()]


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
        """The menu of boards, and the table of the chosen one."""
        at.hold("history", at.page.history)
        at.control("board")
        at["table"] = sortable("published-table", elem_classes="picture")
        at.look()
        formula_fold(__file__)
        source_fold(__file__)

    def draw(self, on: On, c: Choices) -> Shown:
        """One board, the reader's own runs among its rows."""
        board = boards()[c.board]
        return {"table": board_html(board, own_rows(board, c.history))}
