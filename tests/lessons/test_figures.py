"""Every figure of every part, as it is sent: Plotly itself reads it, and it carries its sentence."""

import inspect
import json
from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest

from demos.bert.model.catalogue import BUNDLED
from demos.page.bar import DEFAULT_TEXT
from demos.page.batch import changed_by
from demos.page.lesson import Page
from tests.plotly_figure import plotly

pytestmark = pytest.mark.slow
WITH_FIGURES = ["attention", "encoder", "pretraining", "embeddings", "finetune", "translation", "family"]
PAIR = ("A doctor gave a book to 12 nurses.", "They read <b>it</b> & smiled.")


@pytest.mark.parametrize("lesson", WITH_FIGURES)
def test_plotly_knows_all_that_is_said_of_it(lesson: str, pages: dict[str, tuple[gr.Blocks, Page]]) -> None:
    demo, page = pages[lesson]
    drawn = [*figures(page, DEFAULT_TEXT, ""), *figures(page, *PAIR)]
    at_first = (block.value for block in demo.blocks.values() if isinstance(block, gr.Plot) and block.page == lesson)
    sent = [json.loads(text) for text in (*drawn, *(value["plot"] for value in at_first if value))]
    assert len(sent) >= 3
    for figure in sent:
        plotly(figure)
        assert figure["layout"]["meta"]


def figures(page: Page, text: str, pair: str) -> Iterator[str]:
    """What the page's drawings answer for its plots, of this sentence and the choices that it opens with."""
    sentence = zip((component._id for component in page.sentence), (text, pair, BUNDLED), strict=True)
    values: dict[int, Any] = dict(sentence)
    for redraw in page.redrawn:
        if inspect.isgeneratorfunction(redraw.handler):
            continue
        answer = redraw.handler(*(values.get(one._id, getattr(one, "value", None)) for one in redraw.inputs))
        for output, value in zip(redraw.outputs, answer, strict=True):
            if isinstance(output, gr.Plot) and changed_by(value).get("value") is not None:
                yield changed_by(value)["value"].plot
