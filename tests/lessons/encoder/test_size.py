"""The Size part's handlers: the model in use, a known BERT, one's own, and a shape that can't be."""

from __future__ import annotations

from typing import Any

import gradio as gr
import pytest

from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.lessons.encoder import LESSON
from demos.lessons.encoder.size.part import IN_USE, OWN, PART
from demos.page.lesson import Page
from demos.page.services import Sentence, Services
from tests.plotly_figure import plotly

ANY = Sentence("A cat.", "", "minilm")


@pytest.fixture(scope="module")
def handlers(store: ModelStore) -> list[Any]:
    found: list[Any] = []

    class Recorder(Page):
        def draw(self, show: Any, inputs: Any, outputs: Any, **options: Any) -> None:
            found.append(show)

        def on(self, triggers: Any, handler: Any, inputs: Any, outputs: Any, **options: Any) -> None:
            found.append(handler)

    with gr.Blocks():
        hidden: list[Any] = [gr.Textbox() for _ in range(5)]
        page = Recorder(LESSON, Services(store, "minilm"), *hidden, notices=gr.Column(), trained=gr.State(""))
        PART.build(page)
    return found


def test_the_model_in_use_is_counted_and_sets_the_sliders(handlers: list[Any]) -> None:
    pick, _ = handlers
    layers, width, heads, picture, told, models, parts, code = pick(ANY, IN_USE, 1, 64, 1, 128).values()
    assert (layers, width, heads) == (6, 384, 12)
    assert "22,713,216 parameters" in told
    assert plotly(picture).data[0].values[0] == 22_713_216
    assert "MiniLM (bundled)" in models
    assert "22,713,216" in parts
    assert "hidden_size=384" in code


def test_a_known_one_and_ones_own(handlers: list[Any]) -> None:
    pick, move = handlers
    assert [*pick(ANY, "BERT large", 1, 64, 1, 128).values()][:3] == [24, 1024, 16]
    which, *drawn = move("A cat.", "", "minilm", 12, 768, 12, 128).values()
    assert which == OWN
    assert "Your own: 109,482,240 parameters" in drawn[1]
    assert [*pick(ANY, OWN, 12, 768, 12, 128).values()][1] == drawn[1]  # from a link
    with pytest.raises(UserError, match="can't share"):
        move("A cat.", "", "minilm", 12, 768, 13, 128)
