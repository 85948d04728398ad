"""Part "Your runs": every training of this page in a table, two of them laid over one another, all as CSV."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import gradio as gr
from scipy.stats import binomtest

from demos.errors import UserError
from demos.figures.run_table import compared_html, runs_html
from demos.files import DATA, read_beside
from demos.lessons.finetune.runs.figure import overlay_figure
from demos.page.lesson import IN_BROWSER
from demos.page.questions import Answer
from demos.page.services import Sentence, Services
from demos.page.view import Layout, On, Shown, View, unlinked
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


class Runs(View):
    tab, order, reads_sentence = "Your runs", 3, False
    look = (
        "Change one setting, train again, and compare: select two runs to overlay their curves. Is one of the two "
        "really better?"
    )

    @dataclass(frozen=True)
    class Choices:
        history: tuple[Record, ...] = unlinked((), redraws=True)
        ticked: str = unlinked("", redraws=True)  # in the table

    def lay_out(self, at: Layout) -> None:
        history = at.hold("history", at.page.history)
        ticked = at.hold("ticked", gr.Textbox("", visible="hidden"))
        at["table"] = table = scripted(read_beside(__file__, "script.js"), "finetune-table", elem_classes="picture")
        at["compared"] = gr.HTML(elem_id="finetune-compared")
        at.plot("figure", "Learning curves of two runs", elem_id="finetune-overlay")
        with takeaway_row():
            file_button(at.page, "All runs as CSV", csv_file, [history], elem_id="finetune-csv")
            picture_buttons("#finetune-overlay", "bert-two-runs")
        at.folds(numbers=())
        table.select(None, None, [ticked], js='() => insideBert.picked["finetune-table"]()', **IN_BROWSER)

    def draw(self, on: On, c: Choices) -> Shown:
        """The table, the curves, and the comparison."""
        records = c.history or sample()
        pair = chosen(records, c.ticked or "")
        return {
            "table": runs_html(records, [record.number for record in pair], sample=not c.history),
            "figure": overlay_figure(pair),
            "compared": compared_html(pair),
        }


def csv_file(_: Sentence, history: list[Record]) -> tuple[str, str]:
    """Every run, every setting. Raises UserError before the first one."""
    if not history:
        raise UserError("You have no runs yet; train a model first.")
    return "bert-fine-tune-runs.csv", as_csv(history)


def answer(_: Services, __: Sentence) -> Answer:
    """The two-sided p of 6 and of 10 wins in 10 disagreements (McNemar's exact test)."""
    return Answer(facts={"p": binomtest(6, 10).pvalue, "clear": binomtest(10, 10).pvalue})
