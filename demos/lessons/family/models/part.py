"""Who changed what: a timeline of the family and of the models before it, and its table."""

from __future__ import annotations

import gradio as gr

from demos.lessons.family.models.figure import timeline
from demos.lessons.family.models.models import models
from demos.page.folds import source_fold
from demos.page.lesson import Page, Part
from demos.page.services import Sentence
from demos.templates import templates
from demos.widgets.sortable.sortable import sortable

TEXT = templates(__file__)


def build(page: Page) -> None:
    """The timeline above the table."""
    picture = gr.Plot(label="The family by year", show_label=False, elem_id="family-timeline", elem_classes="picture")
    page.show_look()
    table = sortable("family-table")
    source_fold(__file__)
    page.draw(show, [], [picture, table], show_progress="hidden")


def show(_: Sentence) -> tuple[object, str]:
    """(the timeline, the table)."""
    return timeline(models()), TEXT.models(models())


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
