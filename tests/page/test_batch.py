"""What one tick draws is asked in one event: one handler after the other, each with what those before it changed."""

from typing import Any

import gradio as gr
import pytest
from gradio.state_holder import SessionState

from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.page.drawing.drawn import as_sent
from demos.page.lesson import shut_fold
from demos.page.services import Sentence, Services
from tests.page.empty_page import empty_page
from tests.run_coroutine import run


@pytest.fixture
def built(store: ModelStore) -> dict[str, Any]:
    """Three handlers of one tick: the second reads the token that the first brings into the sentence."""
    parts: dict[str, Any] = {}
    with gr.Blocks() as demo:
        page = empty_page(Services(store, "minilm"))
        parts["token"] = gr.Number(7)
        parts["html"], parts["said"] = gr.HTML(""), gr.HTML("")

        def pick(sentence: Sentence, token: int) -> dict[gr.Component, Any]:
            return {parts["token"]: min(token, len(sentence.text.split()) - 1)}

        def show(sentence: Sentence, token: int) -> dict[gr.Component, Any]:
            return {parts["html"]: f"token {token}"}

        def refuse(sentence: Sentence) -> dict[gr.Component, Any]:
            raise UserError("No.")

        page.keep(token=parts["token"])
        page.draw(pick, [parts["token"]], [parts["token"]])
        page.draw(show, [parts["token"]], [parts["html"]])
        page.draw(refuse, [], [parts["said"]])
        page.wire_redraws()
    (event,) = [event for event in demo.fns.values() if event.fn is not None]
    inputs, outputs = [[one._id for one in ones] for ones in (event.inputs, event.outputs)]
    notices = [slot._id for _, slot in page.slots]

    def ask(numbers: str) -> dict[int, Any]:
        values = {page.text._id: "A text.", page.text_pair._id: "", page.model._id: "minilm", parts["token"]._id: 7}
        return dict(zip(outputs, event.fn(numbers, *(values[number] for number in inputs[1:])), strict=True))

    return parts | {"ask": ask, "notices": notices, "event": event}


def test_a_later_handler_reads_what_an_earlier_one_has_changed(built: dict[str, Any]) -> None:
    drawn = built["ask"]("")
    assert (drawn[built["token"]._id], drawn[built["html"]._id]) == (1, "token 1")
    assert "No." in drawn[built["notices"][2]], "its sentence, and the others are drawn"


def test_only_those_that_are_asked_answer(built: dict[str, Any]) -> None:
    drawn = built["ask"](f"{built['notices'][1]}")
    assert drawn[built["html"]._id] == "token 7"
    others = [value for number, value in drawn.items() if number != built["html"]._id and value != ""]
    assert all(value == gr.skip() for value in others)
    assert all(value in ("", gr.skip()) for value in built["ask"]("none").values())


def test_it_is_one_event_of_the_drawings_line(built: dict[str, Any]) -> None:
    event = built["event"]
    assert (event.concurrency_id, event.trigger_mode, event.api_visibility) == ("draw", "always_last", "private")


def test_what_lies_in_a_shut_fold_is_a_handler_of_its_own_and_called_only_there(store: ModelStore) -> None:
    called: list[str] = []

    def draw_table() -> str:
        called.append("table")
        return "table"

    def show(sentence: Sentence) -> dict[gr.Component, Any]:
        called.append("show")
        return {picture: "picture", table: draw_table, slider: gr.update(value=3)}

    with gr.Blocks() as demo:
        page = empty_page(Services(store, "minilm"))
        picture = gr.HTML()
        with gr.Accordion("The numbers", open=False, elem_id="long-numbers") as fold:
            table, slider = gr.HTML(), gr.Slider(1, 9)
        with gr.Accordion("In sight", open=True):
            gr.HTML()
        page.draw(show, [], [picture, table, slider])
        page.wire_redraws()
    in_sight, folded = page.redrawn
    assert (in_sight.fold, folded.fold) == (None, fold)
    assert in_sight.outputs[:2] == [picture, slider], "a control is moved wherever it lies"
    assert folded.outputs[0] is table
    assert in_sight.handler("A text.", "", "minilm")[:2] == ["picture", gr.update(value=3)]
    assert called == ["show"]
    assert folded.handler("A text.", "", "minilm")[0] == "table"
    assert called == ["show", "show", "table"]
    assert shut_fold(table) is fold
    (heard,) = [one for one in demo.fns.values() if "insideBert.ticks.heard" in str(one.js)]
    assert (fold._id, "expand") in heard.targets
    assert str(heard.js).count('"long-numbers"') == 1


def test_gradio_hands_on_what_is_sent_and_builds_no_component_for_it(store: ModelStore) -> None:
    built: list[str] = []

    class Counted(gr.HTML):
        def __init__(self, *values: Any, **options: Any) -> None:
            built.append("once more")
            super().__init__(*values, **options)

    with gr.Blocks() as demo:
        kept, shown, hidden, code, slider = Counted("kept"), Counted(), Counted(), gr.Code(), gr.Slider(0, 9)
        outputs = [kept, shown, hidden, code, slider]
        answers = [gr.skip(), "<b>new</b>", gr.update(visible=False), " x = 1\n", gr.update(maximum=4, value=2)]
        button = gr.Button()
        button.click(lambda: as_sent(answers, outputs), None, outputs, postprocess=False)
    built.clear()
    (event,) = demo.fns
    answer = run(demo.process_api(event, [], SessionState(demo)))["data"]
    assert answer == [
        gr.skip(),
        "<b>new</b>",
        gr.update(visible=False),
        "x = 1",
        {"__type__": "update", "maximum": 4, "value": 2},
    ]
    assert built == []
