"""The masks part's handler: three pictures of one head, what a new last word moves, and the program that agrees."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from typing import Any

import gradio as gr
import numpy as np
import pytest

from demos.bert.encoder.masks import run_causal
from demos.bert.model.models import LoadedModel, ModelStore
from demos.errors import UserError
from demos.lessons.encoder import LESSON
from demos.lessons.encoder.masks.part import PART
from demos.page.lesson import Page
from demos.page.services import Sentence, Services

TEXT = "The banker sat on the bank of the river."


@pytest.fixture(scope="module")
def page(store: ModelStore, bundled: LoadedModel) -> Page:
    class Recorder(Page):
        def draw(self, show: Any, inputs: Any, outputs: Any, **options: Any) -> None:
            self.show = show

    with gr.Blocks():
        hidden: list[Any] = [gr.Textbox() for _ in range(5)]
        page = Recorder(LESSON, Services(store, "minilm"), *hidden, notices=gr.Column(), trained=gr.State(""))
        page.share(token=gr.Number(), layer=gr.Slider(), head=gr.Slider())
        PART.build(page)
    return page


@pytest.fixture(scope="module")
def show(page: Page) -> Callable[..., list[Any]]:
    return lambda *choices: list(page.show(*choices).values())  # type: ignore[attr-defined]


def test_the_pictures_hold_the_weights(page: Page, show: Callable[..., list[Any]], bundled: LoadedModel) -> None:
    bert, gpt, both, change, said, code = show(Sentence(TEXT, "", "minilm"), 1, 4, "crisis", "Money, he said.")
    run = page.services.run(Sentence(TEXT, "", "minilm"))
    decoder = run_causal(bundled, run.encoding)
    cells = [np.array(figure.data[0].z, dtype=float) for figure in (bert, gpt, both)]
    np.testing.assert_allclose(cells[0], run.attentions[1, 4], atol=1e-4)
    n = len(run.encoding)
    assert np.isnan(cells[1][np.triu_indices(n, 1)]).all()
    np.testing.assert_allclose(np.nan_to_num(cells[1]), decoder.attentions[1, 4], atol=1e-4)
    assert cells[2].shape == (7, n)
    np.testing.assert_allclose(cells[2].sum(axis=1), 1, atol=1e-3)
    assert max(change.data[0].y) > 0.001
    assert set(change.data[1].y) == {0}
    assert "exactly 0" in said
    assert re.search(r"times as many", said)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "masks", "exec"), {})
    rows = [
        [float(cell) for cell in line.split("[")[-1].strip("]").split(",")] for line in printed.getvalue().splitlines()
    ]
    np.testing.assert_allclose(rows, decoder.attentions[1, 4], atol=6e-4)


def test_what_can_not_be_shown_is_a_sentence(show: Callable[..., list[Any]]) -> None:
    *pictures, said, _code = show(Sentence(TEXT, "", "minilm"), 99, 99, " ", "")
    assert len(pictures) == 3  # the fourth stays as it is
    assert "Write a word" in said
    same = show(Sentence("The bank of the river.", "", "minilm"), 0, 0, "river", "")[4]
    assert "stands there already" in same
    assert "mean something else" not in same
    with pytest.raises(UserError, match="up to 128 tokens"):
        show(Sentence("word " * 200, "", "minilm"), 0, 0, "x", "")
