"""The engine of views: choices are read within their bounds, a drawing is a plain call, and no control is set."""

import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import gradio as gr
import pytest
from hypothesis import given
from hypothesis import strategies as some

from demos.bert.model.models import LoadedModel, ModelStore
from demos.lessons.encoder import LESSON
from demos.lessons.encoder.choices import Shared
from demos.page.lesson import LIMITS, Page
from demos.page.services import Sentence, Services
from demos.page.view import (
    Layout,
    Limits,
    On,
    Shown,
    View,
    controls_of,
    drawn,
    index,
    limit,
    menu,
    open_menu,
    options,
    slider,
    switch,
    unlinked,
    words,
)
from tests.page.empty_page import empty_page
from tests.shown_values import shown_values

ON: Any = None  # what fixed bounds are read on


class Sizes(View):
    tab, order, look = "Sizes", 1, ""

    @dataclass(frozen=True)
    class Choices:
        width: int = slider(2, 512, 128, "Width", step=2)
        padding: bool = switch("Padding")
        kind: str = options([("a table", "table"), ("a curve", "curve")], "table", "Kind")
        typed: str = words("cake", "Word")

    def lay_out(self, at: Layout) -> None:
        at["all"], at["some"] = gr.HTML(""), gr.HTML("")
        for name in controls_of(self.Choices):
            at.control(name)

    def draw(self, on: On, c: Choices) -> Shown:
        return {"all": repr((c.width, c.padding, c.kind, c.typed))}

    @drawn("some", by=("width",))
    def draw_some(self, on: On, c: Choices) -> Shown:
        return {"some": lambda: str(c.width)}


@pytest.fixture(scope="module")
def services(store: ModelStore, bundled: LoadedModel) -> Services:
    return Services(store, bundled.spec.key)


@given(some.none() | some.integers() | some.floats(-1e9, 1e9))
def test_a_number_is_read_within_its_ends_and_on_its_steps(said: float | None) -> None:
    width = Sizes().read(ON, {"width": said}).width
    assert 2 <= width <= 512
    assert width % 2 == 0
    if said is not None and 2 <= said <= 512:
        assert said - 2 < width <= said


def test_a_slider_may_stand_at_zero() -> None:
    choices = dataclass(type("Choices", (), {"__annotations__": {"at": int}, "at": slider(0, 9, 3, "At")}))
    (control,) = controls_of(choices).values()
    assert [control.read(ON, said) for said in (0, None, -1, 12)] == [0, 3, 0, 9]


@given(some.text() | some.none())
def test_an_option_is_one_that_is_on_offer(said: str | None) -> None:
    assert Sizes().read(ON, {"kind": said}).kind == (said if said in ("table", "curve") else "table")


def test_a_drawing_is_a_plain_call(services: Services) -> None:
    sentence = Sentence("A cat.", "", "minilm")
    assert shown_values(Sizes().shown(services, sentence, width=7, padding=1, typed=None)) == {
        "all": "(6, True, 'table', '')",
        "some": "6",
    }


def test_a_method_that_reads_fewer_choices_is_asked_for_those_alone(services: Services) -> None:
    asked: dict[str, list[str]] = {}

    class Recorder(Page):
        def draw(self, show: Any, inputs: Any, outputs: Any, **options: Any) -> None:
            names = {component._id: name for name, component in self.choices.items()}
            read = [names[component._id] for component in inputs]
            asked[",".join(str(type(output).__name__) for output in outputs) + str(len(asked))] = read
            assert len(options["triggers"]) == len(read)

    with gr.Blocks():
        page = empty_page(services, LESSON, Recorder)
        Sizes().build(page)
    assert list(page.choices) == [one.name for one in fields(Sizes.Choices)]
    assert list(asked.values()) == [["width", "padding", "kind", "typed"], ["width"]]


def test_a_method_that_reads_no_sentence_is_asked_for_another_model_alone(services: Services) -> None:
    class Unread(Sizes):
        @drawn("some", by=("width",), reads_sentence=False)
        def draw_some(self, on: On, c: Any) -> Shown:
            return {"some": str(c.width)}

    _, page = built(Unread(), services)
    reading, unread = page.redrawn
    assert (reading.read, unread.read) == ([], [page.model, page.choices["width"]])  # []: at each sentence

    class Read(Sizes):
        @drawn("some", by=("width",), reads_sentence=True)
        def draw_some(self, on: On, c: Any) -> Shown:
            return {"some": str(c.width)}

    _, page = built(Read(), services, reads_sentence=False)
    assert [bool(redraw.read) for redraw in page.redrawn] == [True, False]


def test_limits_say_the_last_value_and_what_lies_beyond_as_the_page_counts(services: Services) -> None:

    controls, on = controls_of(Shared), On(services, Sentence("A cat sat.", "", "minilm"))
    with gr.Blocks():
        components = {name: control.make(services) for name, control in controls.items()}
        limits = Limits(components, controls)
    c = Shared(**{name: control.read(on, 99) for name, control in controls.items()})
    assert (c.token, c.layer, c.head) == (4, 5, 11)  # the full stop; the last layer and head
    (box,) = limits.outputs
    drawn_too = {"head": limit(visible=False)}
    said = json.loads(limits.answer(on, c, {"token": 99, "layer": 99, "head": None}, drawn_too)[box])
    ends = {name: said[str(component._id)] for name, component in components.items()}
    assert ends == {
        "token": {"maximum": 5, "said": 99, "value": 4},
        "layer": {"maximum": 6, "said": 100, "value": 6},
        "head": {"maximum": 12, "visible": False, "said": None, "value": 12},
    }


@given(some.none() | some.integers() | some.floats(-1e9, 1e9))
def test_a_hidden_index_is_read_within_its_count(said: float | None) -> None:
    choices = dataclass(type("Choices", (), {"__annotations__": {"at": int}, "at": index(2, 5)}))
    (control,) = controls_of(choices).values()
    assert control.read(ON, said) in range(5)


class InSteps(View):
    """A drawing that takes a while, a menu of the sentence's words, and what no link says."""

    tab, order, look = "Steps", 1, ""

    @dataclass(frozen=True)
    class Choices:
        word: str = open_menu([("cat", "cat")], "cat", "Word")
        steps: int = menu([("two", 2), ("three", 3)], 2, "Steps")
        share: float = slider(0, 1, 0.5, "Share", step=0.05)
        trained: str = unlinked("")

    def lay_out(self, at: Layout) -> None:
        at["status"] = gr.HTML("")
        for name in ("word", "steps", "share"):
            at.control(name)
        at.hold("trained", at.page.trained)
        at.folds("Prints nothing")

    @drawn(limits=("word",))
    def draw(self, on: On, c: Choices) -> Iterator[Shown]:
        for step in range(c.steps):
            yield {"status": f"{step} of {c.steps}"}
        words = on.sentence.text.split()
        yield {
            "status": f"{c.word}, {c.share}, {c.trained}",
            "word": limit(choices=[(word, word) for word in words], value=c.word if c.word in words else words[0]),
            "numbers": lambda: "counted",
        }


def built(view: View, services: Services, **of_page: Any) -> tuple[gr.Blocks, Page]:
    with gr.Blocks() as demo:
        page = empty_page(services, LESSON, **of_page)
        view.build(page)
        page.wire_redraws()
    return demo, page


def test_a_drawing_in_steps_says_how_far_it_is_and_folds_are_asked_for_alone(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = {"numbers": "Numbers", "program": "Code"}
    monkeypatch.setattr("demos.page.view.folds", lambda *_: {name: shut(title) for name, title in filled.items()})
    demo, page = built(InSteps(), services)
    in_sight, numbers, _ = page.redrawn
    given = ["A dog sat.", "", "minilm", "cat", 3, 0.5, "run 1"]
    *steps, last = in_sight.handler(*given)
    assert [step[0] for step in steps] == ["0 of 3", "1 of 3", "2 of 3"]
    assert last[0] == "cat, 0.5, run 1"
    (limited,) = [json.loads(value) for value in last if isinstance(value, str) and value.startswith("{")]
    assert limited == {
        str(page.choices["word"]._id): {
            "choices": [["A", "A"], ["dog", "dog"], ["sat.", "sat."]],
            "said": "cat",
            "value": "A",
        }
    }
    assert numbers.handler(*given)[0] == "counted"
    (together,) = [event.fn for event in demo.fns.values() if event.fn is not None]
    *_, counted = together(str(numbers.notice._id), *given)
    assert "counted" in counted
    assert [*together("none", *given)] == []
    assert list(page.choices) == ["word", "steps", "share"]


class InAFold(View):
    """What a fold shows of a word of the sentence: the menu beside it is filled while it is open."""

    tab, order, look = "Words", 1, ""

    @dataclass(frozen=True)
    class Choices:
        word: str = open_menu([("the longest", "")], "", "Word")

    def lay_out(self, at: Layout) -> None:
        at["picture"] = gr.HTML("")
        with gr.Accordion(open=False):
            at.control("word")
            at["letters"] = gr.HTML("")

    @drawn(by=())
    def draw(self, on: On, c: Choices) -> Shown:
        return {"picture": on.sentence.text}

    @drawn("letters", limits=("word",))
    def draw_letters(self, on: On, c: Choices) -> Shown:
        words = on.sentence.text.split()
        return {
            "letters": " ".join(c.word or max(words, key=len)),
            "word": limit(choices=[("the longest", ""), *((word, word) for word in words)]),
        }


def test_what_a_drawing_in_a_fold_says_of_a_menu_is_filled_with_the_fold(services: Services) -> None:
    _, page = built(InAFold(), services)
    picture, letters = page.redrawn
    assert picture.fold is None
    assert letters.fold is not None
    assert not any(LIMITS in (output.elem_classes or ()) for output in picture.outputs)
    shown, box, *_ = letters.handler("A black dog", "", "minilm", "")
    assert shown == "b l a c k"
    (update,) = json.loads(box).values()
    assert update["choices"] == [["the longest", ""], ["A", "A"], ["black", "black"], ["dog", "dog"]]


class Halves(View):
    """A drawing in two steps, which a button ends; and the same in a fold."""

    tab, order, look = "Halves", 1, ""

    def lay_out(self, at: Layout) -> None:
        at["seen"], at["cancel"] = gr.HTML(""), gr.Button("Cancel")
        at["folded"] = shut("Numbers")

    @drawn(cancel="cancel")
    def draw(self, on: On, c: Any) -> Iterator[Shown]:
        yield {"seen": "half"}
        yield {"seen": "whole"}

    @drawn("folded")
    def draw_folded(self, on: On, c: Any) -> Iterator[Shown]:
        yield {"folded": "half"}
        yield {"folded": "whole"}


def test_what_stands_in_a_fold_alone_says_how_far_it_is_and_a_button_ends_a_drawing(services: Services) -> None:
    demo, page = built(Halves(), services)
    for drawing in page.redrawn:
        assert [step[0] for step in drawing.handler("", "", "minilm")] == ["half", "whole"]
    (together,) = [event for event in demo.fns.values() if event.fn is not None]
    (ends,) = [event for event in demo.fns.values() if event.cancels]
    assert ends.cancels == [together._id]
    assert sum(value in ("half", "whole") for step in together.fn("", "", "", "minilm") for value in step) == 4


def test_a_button_is_answered_for_what_the_controls_so_far_hold_at_once_or_in_steps(services: Services) -> None:
    def steps(on: On, c: Any) -> Iterator[int]:
        yield from (c.width, c.width + 1)

    with gr.Blocks():
        page = empty_page(services, LESSON)
        at = Layout(Sizes(), page)
        width = at.control("width")
        (width_of, read), (two_of, _) = at.asking(lambda on, c: c.width), at.asking(steps)
        at.control("typed")
    assert read == [width]
    assert width_of(Sentence("A cat.", "", "minilm"), 7) == 6
    assert inspect.isgeneratorfunction(two_of)
    assert list(two_of(Sentence("A cat.", "", "minilm"), 7)) == [6, 7]


def shut(title: str) -> gr.HTML:
    with gr.Accordion(title, open=False):
        return gr.HTML("")


@given(some.floats(-1, 2))
def test_a_share_is_one_of_its_steps(said: float) -> None:
    share = InSteps().read(ON, {"share": said}).share
    assert 0 <= share <= 1
    assert share * 20 == pytest.approx(round(share * 20))


def test_a_control_that_is_not_laid_out_is_a_fault_of_the_view(services: Services) -> None:
    class Forgetful(Sizes):
        def lay_out(self, at: Layout) -> None:
            at["all"], at["some"] = gr.HTML(""), gr.HTML("")
            at.control("width")

    with gr.Blocks():
        page = empty_page(services, LESSON)
        with pytest.raises(ValueError, match=r"Forgetful: not laid out, or no choice: \['kind', 'padding', 'typed'\]"):
            Forgetful().build(page)
