"""Who changed what: a timeline of the family and of the models before it, and its table."""

from __future__ import annotations

import gradio as gr

from demos.lessons.family.models.figure import sizes, timeline
from demos.lessons.family.models.models import models
from demos.lessons.family.models.rotation import PAIRS, POSITIONS, rotation_figure, rotation_html
from demos.page.folds import source_fold
from demos.page.layer_head_choices import clamp
from demos.page.lesson import Page, Part
from demos.page.services import Sentence
from demos.templates import templates
from demos.widgets.sortable.sortable import sortable

TEXT = templates(__file__)


def build(page: Page) -> None:
    """The timeline above the table."""
    picture = gr.Plot(label="The family by year", show_label=False, elem_id="family-timeline", elem_classes="picture")
    page.show_look()
    with gr.Column(elem_id="family-sizes"):
        gr.HTML(TEXT.sizes(models()))
        dots = gr.Plot(label="Models by the number of their parameters", show_label=False)
    with gr.Column(elem_id="family-rotation"):
        gr.HTML(TEXT.rotary())
        with gr.Row():
            query = gr.Slider(0, POSITIONS, value=3, step=1, label="Position of the query", elem_id="family-query-at")
            key = gr.Slider(0, POSITIONS, value=8, step=1, label="Position of the key", elem_id="family-key-at")
            pair = gr.Slider(1, PAIRS, value=4, step=1, label="Pair of components", elem_id="family-pair")
        turned = gr.Plot(label="A query and a key, rotated by their positions", show_label=False)
        said = gr.HTML("", elem_id="family-rotated")
    table = sortable("family-table")
    source_fold(__file__)
    page.keep(query_at=query, key_at=key, component_pair=pair)
    page.draw(rotate, [query, key, pair], [turned, said], show_progress="hidden")
    page.draw(show, [], [picture, dots, table], show_progress="hidden")


def show(_: Sentence) -> tuple[object, object, str]:
    """(the timeline, the sizes, the table)."""
    return timeline(models()), sizes(models()), TEXT.models(models())


def rotate(_: Sentence, query: float, key: float, pair: float) -> tuple[object, str]:
    """(the picture, the sentence). What is no position or pair is brought into the range."""
    at, to = (clamp(value or 0, POSITIONS + 1) for value in (query, key))
    of = clamp((pair or 1) - 1, PAIRS)
    return rotation_figure(of, at, to), rotation_html(of, at, to)


PART = Part(
    tab="Who changed what",
    look=(
        "Each row is a model, placed at the month of its first version. The marker shows which context a token's "
        "vector can use. Years before 2017 are compressed. Click the name of a column to sort the table below: how "
        "much larger is GPT-3 than BERT large?"
    ),
    build=build,
    reads_sentence=False,
    order=7,
)
