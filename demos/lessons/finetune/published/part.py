"""Part "Published results": the tables of the papers, sorted by any column, with one's own runs."""

from __future__ import annotations

import gradio as gr

from demos.lessons.finetune.published.figure import board_html
from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import Page, Part
from demos.page.services import Sentence
from demos.training.results.history import Record
from demos.training.results.published import boards, own_rows
from demos.widgets.sortable.sortable import sortable


def show(_: Sentence, name: str, history: list[Record]) -> str:
    """One board, the reader's own runs among its rows."""
    board = boards()[name]
    return board_html(board, own_rows(board, history))


def build(page: Page) -> None:
    """The menu of boards, and the table of the chosen one."""
    names = [*boards()]
    board = gr.Radio(names, value=names[0], label="Results", show_label=False, elem_id="published-board")
    table = sortable("published-table", elem_classes="picture")
    page.show_look()
    formula_fold(__file__)
    source_fold(__file__)
    page.keep(board=board)
    page.draw(show, [board, page.history], [table], show_progress="hidden")


PART = Part(
    tab="Published results",
    look="Click the name of a column to sort by it. GPT is as large as BERT base: on which data set did BERT base gain "
    "most over it?",
    build=build,
    reads_sentence=False,
    order=6,
)
