"""Part "Your runs": every training of this page in a table, two of them laid over one another, all as CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import gradio as gr

from demos.errors import UserError
from demos.figures.run_table import compared_html, runs_html
from demos.files import DATA, read_beside
from demos.lessons.finetune.runs.figure import overlay_figure
from demos.page.folds import formula_fold, source_fold
from demos.page.lesson import IN_BROWSER, Page, Part
from demos.page.services import Sentence
from demos.training.results.history import Record, as_csv, record_from
from demos.widgets.scripted.scripted import scripted
from demos.widgets.takeaway.takeaway import file_button, picture_buttons, takeaway_row

SAMPLE = DATA / "runs.json"
NONE = "none"  # the value of `ticked` if no run is; "" before the reader has chosen


@lru_cache(maxsize=1)
def sample() -> tuple[Record, ...]:
    """Two runs measured once (assets/data/runs.md says how): what the part opens on before a reader has any."""
    return tuple(record_from(record) for record in json.loads(SAMPLE.read_text(encoding="utf-8"))["records"])


def chosen(records: Sequence[Record], ticked: str) -> list[Record]:
    """The two chosen runs, the older first; the last two if none were chosen, or if those are gone."""
    numbers = [int(number) for number in ticked.split(",") if number.isdigit() and len(number) < 9]
    ticked_records = [record for record in records if record.number in numbers][-2:]
    return ticked_records if ticked_records or ticked == NONE else list(records[-2:])


def show(_: Sentence, history: list[Record], ticked: str) -> list[Any]:
    """The table, the curves, and the comparison."""
    records = history or sample()
    pair = chosen(records, ticked or "")
    return [
        runs_html(records, [record.number for record in pair], sample=not history),
        overlay_figure(pair),
        compared_html(pair),
    ]


def csv_file(_: Sentence, history: list[Record]) -> tuple[str, str]:
    """Every run, every setting. Raises UserError before the first one."""
    if not history:
        raise UserError("You have no runs yet; train a model first.")
    return "bert-fine-tune-runs.csv", as_csv(history)


def build(page: Page) -> None:
    """The table, under it the curves of the two that are ticked."""
    ticked = gr.Textbox("", visible="hidden")
    table = scripted(read_beside(__file__, "script.js"), "finetune-table", elem_classes="picture")
    compared = gr.HTML(elem_id="finetune-compared")
    figure = gr.Plot(label="Learning curves of two runs", show_label=False, elem_id="finetune-overlay")
    with takeaway_row():
        file_button(page, "All runs as CSV", csv_file, [page.history], elem_id="finetune-csv")
        picture_buttons("#finetune-overlay", "bert-two-runs", page)
    formula_fold(__file__)
    source_fold(__file__)
    table.select(
        None,
        None,
        [ticked],
        js='() => insideBert.picked["finetune-table"]()',
        **IN_BROWSER,
    )
    page.draw(show, [page.history, ticked], [table, figure, compared], show_progress="hidden")


PART = Part(
    tab="Your runs",
    look="Change one setting, train again, and compare: select two runs to overlay their curves. Could the difference "
    "be chance?",
    build=build,
    reads_sentence=False,
    order=3,
)
