"""Tab "Who changed what": a timeline of the family and of the models before it, and its table."""

from dataclasses import dataclass

import gradio as gr

from demos.lessons.family.models.figure import sizes, timeline
from demos.lessons.family.models.models import models
from demos.lessons.family.models.rotation import PAIRS, POSITIONS, rotation_figure, rotation_html
from demos.page.view import Layout, On, Shown, View, drawn, slider
from demos.templates import templates
from demos.widgets.sortable.sortable import sortable

TEXT = templates(__file__)


class Models(View):
    tab, order, reads_sentence = "Who changed what", 7, False
    look = (
        "Each row is a model, placed at the month in which it was first published. The marker shows which context a "
        "token's vector can use. Years before 2017 are compressed. Click the name of a column to sort the table below: "
        "how much larger is GPT-3 than BERT large?"
    )

    @dataclass(frozen=True)
    class Choices:
        query_at: int = slider(0, POSITIONS, 3, "Position of the query", elem_id="family-query-at")
        key_at: int = slider(0, POSITIONS, 8, "Position of the key", elem_id="family-key-at")
        component_pair: int = slider(1, PAIRS, 4, "Pair of components", elem_id="family-pair")

    def lay_out(self, at: Layout) -> None:
        at.plot("timeline", "The family by year", elem_id="family-timeline", elem_classes="picture")
        at.look()
        with gr.Column(elem_id="family-sizes"):
            gr.HTML(TEXT.sizes(models()))
            at.plot("sizes", "Models by the number of their parameters")
        with gr.Column(elem_id="family-rotation"):
            gr.HTML(TEXT.rotary())
            with gr.Row():
                for name in ("query_at", "key_at", "component_pair"):
                    at.control(name)
            at.plot("turned", "A query and a key, rotated by their positions")
            at["said"] = gr.HTML("", elem_id="family-rotated")
        at["table"] = sortable("family-table")
        at.folds(numbers=())

    def draw(self, on: On, c: Choices) -> Shown:
        place = c.component_pair - 1, c.query_at, c.key_at
        return {"turned": rotation_figure(*place), "said": rotation_html(*place)}

    @drawn("timeline", "sizes", "table", by=())
    def draw_family(self, on: On, c: Choices) -> Shown:
        """No choice changes these."""
        return {"timeline": timeline(models()), "sizes": sizes(models()), "table": TEXT.models(models())}
