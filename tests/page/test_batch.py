"""What one tick draws is asked in one event: one handler after the other, each with what those before it changed."""

from __future__ import annotations

import json
from typing import Any

import gradio as gr
import pytest

from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.page.lesson import Lesson, Page
from demos.page.services import Sentence, Services


@pytest.fixture
def built(store: ModelStore) -> dict[str, Any]:
    """Three handlers of one tick: the second reads the token that the first brings into the sentence."""
    parts: dict[str, Any] = {}
    lesson = Lesson("long", 9, "Long", "Long?", "Look. Here.")
    with gr.Blocks() as demo:
        hidden = [gr.Textbox(value) for value in ("A text.", "", "minilm", "", "")]
        page = Page(lesson, Services(store, "minilm"), *hidden, notices=gr.Column(), trained=gr.State(""))
        parts["token"] = gr.Number(7)
        parts["html"], parts["said"] = gr.HTML(""), gr.HTML("")

        def pick(sentence: Sentence, token: int) -> dict[gr.Component, Any]:
            return {parts["token"]: min(token, len(sentence.text.split()) - 1)}

        def show(sentence: Sentence, token: int) -> str:
            return f"token {token}"

        def refuse(sentence: Sentence) -> str:
            raise UserError("No.")

        page.keep(token=parts["token"])
        page.draw(pick, [parts["token"]], [parts["token"]], triggers=[])
        page.draw(show, [parts["token"]], [parts["html"]], triggers=[])
        page.draw(refuse, [], [parts["said"]])
        page.wire_redraws()
    (event,) = [event for event in demo.fns.values() if event.fn is not None]
    inputs, outputs = [[one._id for one in ones] for ones in (event.inputs, event.outputs)]
    notices = [slot._id for _, slot in page.slots]

    def ask(numbers: str) -> dict[int, Any]:
        values = {page.text._id: "A text.", page.text_pair._id: "", page.model._id: "minilm", parts["token"]._id: 7}
        return dict(zip(outputs, event.fn(numbers, *(values[number] for number in inputs[1:])), strict=True))

    return parts | {"ask": ask, "notices": notices, "note": page.note, "event": event}


def test_a_later_handler_reads_what_an_earlier_one_has_changed_and_the_browser_is_told(built: dict[str, Any]) -> None:
    drawn = built["ask"]("")
    token = built["token"]._id
    assert (drawn[token], drawn[built["html"]._id]) == (1, "token 1")
    note = json.loads(drawn[built["note"]._id])
    first, second, refused = map(str, built["notices"])
    assert note["choices"] == {"token": 1}
    assert note["taken"] == {first: {str(token): 1}, second: {str(token): 1}, refused: {}}
    assert "No." in drawn[built["notices"][2]], "its sentence, and the others are drawn"
    assert json.loads(built["ask"]("")[built["note"]._id])["number"] != note["number"]


def test_only_those_that_are_asked_answer(built: dict[str, Any]) -> None:
    drawn = built["ask"](f"{built['notices'][1]}")
    assert drawn[built["html"]._id] == "token 7"
    others = [value for number, value in drawn.items() if number != built["html"]._id and value != ""]
    assert all(value == gr.skip() for value in others)
    assert all(value in ("", gr.skip()) for value in built["ask"]("none").values())


def test_it_is_one_event_of_the_drawings_line(built: dict[str, Any]) -> None:
    event = built["event"]
    assert (event.concurrency_id, event.trigger_mode, event.api_visibility) == ("draw", "always_last", "private")
