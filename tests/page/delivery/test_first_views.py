"""The first view is written into the page's configuration, as the handlers would draw it for a browser."""

import json
from collections.abc import Iterator
from typing import Any

import gradio as gr
import plotly.graph_objects as go
import pytest

from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.page.delivery.first_views import FirstViews
from demos.page.services import Sentence, Services
from tests.page.empty_page import empty_page
from tests.run_coroutine import elsewhere


@pytest.fixture
def built(store: ModelStore) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    with gr.Blocks() as parts["demo"]:
        other = gr.Textbox("")
        page = empty_page(Services(store, "minilm"), trained=gr.State("mine"))
        page.opening += [page.settled, page.typed]
        parts |= {"page": page, "drawn": gr.Textbox(""), "layer": gr.Slider(0, 5, 1, step=1), "held": gr.Textbox("")}
        for name in ("html", "counted", "refused", "broken", "hidden", "live"):
            parts[name] = gr.HTML("before")
        parts["plot"], parts["words"] = gr.Plot(), gr.Dropdown(["a"], value="a")

        outputs = [parts[name] for name in ("html", "plot", "words", "held")]

        def show(sentence: Sentence, layer: int, held: str) -> dict[gr.Component, Any]:
            words = sentence.text.split()
            menu = gr.update(choices=words, value=words[0])
            return dict(zip(outputs, [f"{layer}: {words}", go.Figure(go.Bar(y=[layer])), menu, "1"], strict=True))

        def count(text: str, trained: str | None) -> Iterator[Any]:
            yield f"reading {text}"
            yield f"read {text} of {trained}"

        def refuse(sentence: Sentence) -> dict[gr.Component, Any]:
            raise UserError("No.")

        def fail(sentence: Sentence) -> dict[gr.Component, Any]:
            raise KeyError("our side")

        page.draw(show, [parts["layer"], parts["held"]], outputs)
        page.on(
            [page.settled.change], count, [page.text, page.trained], [parts["counted"]], for_all=True,
            trigger_mode="always_last",
        )  # fmt: skip
        page.draw(refuse, [], [parts["refused"]])
        page.draw(fail, [], [parts["broken"]])
        page.draw(lambda sentence, reader: {parts["live"]: "mine"}, [page.reader], [parts["live"]])
        parts["tick"] = other
        page.on([other.change], lambda: "opened", [], [parts["hidden"]], for_all=True, trigger_mode="always_last")
        page.wire_redraws()
    return parts


def drawn_of(built: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """The properties of each part in the configuration, and the inputs that are said to be drawn, by their order."""
    views = FirstViews()
    views.add(built["page"], built["drawn"])
    assert views.edition == 0
    elsewhere(views.draw, built["demo"])
    assert views.edition == 1
    sent = {component["id"]: component["props"] for component in built["demo"].config["components"]}
    assert sent[built["html"]._id]["value"] == "before", "who opens the page at another view is sent it as it is"
    view = json.loads(sent[built["drawn"]._id]["value"])
    assert (view["text"], view["pair"], view["model"]) == ("A text.", "", "minilm")
    parts = {name: part._id for name, part in built.items() if isinstance(part, gr.Component)}
    shown = {name: sent[number] | view["properties"].get(str(number), {}) for name, number in parts.items()}
    return shown, list(view["inputs"].values())


def test_what_handlers_draw_is_in_the_page_and_what_they_read_is_said(built: dict[str, Any]) -> None:
    shown, inputs = drawn_of(built)
    assert shown["html"]["value"] == "1: ['A', 'text.']"
    assert json.loads(shown["plot"]["value"]["plot"])["data"][0]["y"] == [1]
    assert shown["words"]["value"] == "A"
    assert shown["words"]["choices"] == [["A", "A"], ["text.", "text."]]
    assert shown["counted"]["value"] == "read A text. of mine"  # a state as it begins
    # what a handler keeps for its next drawing is as it stands after this one
    assert inputs == [["A text.", "", "minilm", 1, "1"], ["A text.", None]]


def test_what_is_refused_fails_is_a_readers_own_or_not_open_is_left_to_the_browser(built: dict[str, Any]) -> None:
    shown, _ = drawn_of(built)
    assert {shown[name]["value"] for name in ("refused", "broken", "live", "hidden")} == {"before"}
    notices = [notice for _, notice in built["page"].slots]
    of = {component["id"]: component["props"] for component in built["demo"].config["components"]}
    assert not any(of[notice._id]["value"] for notice in notices)


def test_an_estimate_is_drawn_anew_and_the_page_is_another_edition_only_if_it_has_changed(store: ModelStore) -> None:
    speeds = ["about 30 s", "about 30 s", "about 12 s"]
    with gr.Blocks() as demo:
        page = empty_page(Services(store, "minilm"))
        page.opening.append(page.settled)
        told, place = gr.HTML(""), gr.Textbox("")
        page.draw(lambda sentence: {told: speeds.pop(0)}, [], [told], pure=False)
        page.wire_redraws()
    views = FirstViews()
    views.add(page, place)
    editions = []
    while speeds:
        elsewhere(views.draw, demo)
        editions.append(views.edition)
    assert editions == [1, 1, 2]
    sent = {component["id"]: component["props"] for component in demo.config["components"]}
    view = json.loads(sent[place._id]["value"])
    assert view["properties"][str(told._id)]["value"] == "about 12 s"
    assert list(view["inputs"].values()) == [["A text.", "", "minilm"]]
