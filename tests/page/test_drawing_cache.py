"""One computation for the whole hall: what is remembered, what never is, and that nobody's answer changes another's."""

import json
import threading
import time
from typing import Any

import gradio as gr
import numpy as np
import pytest
from gradio.blocks import postprocess_update_dict

from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.page.drawing.drawing_cache import Drawings
from demos.page.lesson import Page, with_sentence
from demos.page.services import Sentence, Services
from tests.page.empty_page import empty_page

BANK = Sentence("The bank.", "", "minilm")


class Counted:
    """A handler that says how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def show(self, sentence: Sentence, *inputs: Any) -> Any:
        self.asked.append((sentence, *inputs))
        return f"{sentence.text} {inputs} {len(self.asked)}"


def test_the_same_inputs_are_drawn_once_and_others_anew() -> None:
    counted, drawings = Counted(), Drawings()
    recall = drawings.remembered(counted.show)
    first = recall(BANK, 3, ["a"])
    assert recall(BANK, 3, ["a"]) == first
    assert recall(Sentence("The bank.", "", "minilm"), 3, ["a"]) == first
    for sentence, *inputs in ((BANK, 4, ["a"]), (BANK, 3, ["b"]), (BANK, "3", ["a"]), (Sentence("A", "", "b"), 3, [])):
        assert recall(sentence, *inputs) != first
    assert len(counted.asked) == 5
    other = Counted()
    assert drawings.remembered(other.show)(BANK, 3, ["a"]).endswith("1")  # another handler's answer is its own
    assert len(other.asked) == 1


def test_a_hundred_who_ask_at_once_wait_for_one_computation() -> None:
    started, counted = threading.Event(), Counted()

    def slow(sentence: Sentence) -> str:
        started.set()
        time.sleep(0.2)
        return str(counted.show(sentence))

    recall = Drawings().remembered(slow)
    answers: list[str] = []
    readers = [threading.Thread(target=lambda: answers.append(recall(BANK))) for _ in range(100)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(20)
    assert started.is_set()
    assert len(counted.asked) == 1
    assert len(answers) == 100
    assert len(set(answers)) == 1


def test_figures_are_written_once_and_updates_are_each_readers_own() -> None:
    figure = {"data": [{"x": [1, 2], "y": np.array([3.0, 4.5])}], "layout": {}}
    with gr.Blocks():
        plot, box = gr.Plot(), gr.Textbox()
    recall = Drawings().remembered(lambda sentence: {plot: figure, box: gr.update(value="here", visible=True)})
    first, second = recall(BANK), recall(BANK)
    text = first[plot].plot
    sentence = "The curve starts at 3, ends at 4.5, and its maximum, 4.5, is at 2."
    assert json.loads(text) == {"data": [{"x": [1, 2], "y": [3.0, 4.5]}], "layout": {"meta": sentence}}
    assert plot.postprocess(first[plot]).plot == text
    assert first[plot] == second[plot]
    for answer in (first, second):
        assert postprocess_update_dict(box, answer[box])["value"] == "here"  # which takes the value out of it
    shown = Drawings().remembered(lambda sentence: (gr.update(value=figure, visible=True), "said"))(BANK)
    assert plot.postprocess(shown[0]["value"]).plot == text
    assert shown[1] == "said"


def test_what_is_refused_is_not_remembered() -> None:
    answers: list[Any] = [UserError("Not now."), "now"]

    def show(sentence: Sentence) -> Any:
        answer = answers.pop(0)
        if isinstance(answer, UserError):
            raise answer
        return answer

    recall = Drawings().remembered(show)
    with pytest.raises(UserError, match="Not now"):
        recall(BANK)
    assert recall(BANK) == recall(BANK) == "now"


def test_the_bound_is_in_bytes_and_the_last_used_stay() -> None:
    counted = Counted()

    def show(sentence: Sentence, digits: int) -> str:
        counted.show(sentence, digits)
        return "7" * digits

    recall = Drawings(most_bytes=90_000).remembered(show)
    for digits in (40_000, 40_001, 40_000, 40_002, 40_000, 40_001):  # two have room
        assert len(recall(BANK, digits)) == digits
    assert [digits for _, digits in counted.asked] == [40_000, 40_001, 40_002, 40_001]
    recall(BANK, 200_000)  # too large to be kept, and puts nothing else out
    recall(BANK, 40_001)
    assert [digits for _, digits in counted.asked][4:] == [200_000]


@pytest.mark.parametrize("text", ["", "short", "−" * 40_000, "bank " * 9_000, "\ud800" * 2_000])
def test_a_text_comes_back_as_it_was(text: str) -> None:
    recall = Drawings(most_bytes=300_000).remembered(lambda sentence: (text, gr.update(value=text)))
    assert recall(BANK) == recall(BANK) == [text, gr.update(value=text)]


def test_what_one_reader_alone_has_is_drawn_for_them_alone() -> None:
    counted = Counted()
    wired: list[Any] = []

    class Recorder(Page):
        def on(self, triggers: Any, handler: Any, inputs: Any, outputs: Any, **options: Any) -> None:
            wired.append(with_sentence(handler) if options["of_sentence"] else handler)

    services: Any = Services(ModelStore(), "minilm")
    with gr.Blocks():
        page = empty_page(services, kind=Recorder)
        own, slider, file, out = gr.State(""), gr.Slider(0, 9), gr.File(), gr.HTML()

        def show(*inputs: Any) -> dict[gr.Component, Any]:
            return {out: counted.show(*inputs)}

        page.draw(show, [slider, own, file], [out])
        page.draw(show, [slider, page.reader], [out])
        page.draw(show, [slider], [out], pure=False)
    kept, read, impure = wired
    for values in ((1, "", None), (1, "", None), (1, "a run", None), (1, "a run", None), (1, "", "a.csv")):
        kept("The bank.", "", "minilm", *values)
    assert len(counted.asked) == 1 + 2 + 1
    for handler, values in ((read, (1, "a-key")), (impure, (1,))):
        before = len(counted.asked)
        for _ in range(2):
            handler("The bank.", "", "minilm", *values)
        assert len(counted.asked) == before + 2
