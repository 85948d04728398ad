"""The take-away row: harmless names, bounded files, private events, and nothing kept once a file has gone."""

import json
from typing import Any

import gradio as gr
import pytest

from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.page.lesson import Lesson
from demos.page.services import Sentence, Services
from demos.widgets.takeaway.takeaway import LARGEST, file_button, packed, picture_buttons, sized, takeaway_row
from tests.page.empty_page import empty_page


@pytest.fixture(scope="module")
def built(store: ModelStore) -> dict[str, Any]:
    found: dict[str, Any] = {"asked": []}

    def make(*asked: Any) -> tuple[str, str]:
        found["asked"].append(asked)
        return "a <b>.json", "[1]"

    with gr.Blocks() as found["demo"]:
        lesson = Lesson("tokens", 9, "Long", "Long?", "Look. Here.", None)
        page = empty_page(Services(store, "minilm"), lesson)
        choice = gr.Slider()
        with takeaway_row():
            picture_buttons("#there", "heads-{layer}", inputs={"layer": choice})
            found["button"] = file_button(page, "JSON", make, [choice])
    return found


def pressed(built: dict[str, Any]) -> Any:
    """The event of a press on the file's button."""
    return next(e for e in built["demo"].fns.values() if e.targets == [(built["button"]._id, "click")])


def test_a_press_makes_the_file_of_this_sentence_and_these_choices(built: dict[str, Any]) -> None:
    made = pressed(built)
    value, notice = made.fn("text", None, "minilm", 3)
    assert built["asked"] == [(Sentence("text", "", "minilm"), 3)]
    assert json.loads(value) == {"name": "a-b.json", "type": "application/json", "content": "[1]"}
    assert notice == ""


def test_the_parcel_is_emptied_on_the_server_too(built: dict[str, Any]) -> None:
    parcel = pressed(built).outputs[0]
    emptied = [event for event in built["demo"].fns.values() if event.inputs == [parcel]]
    assert len(emptied) == 1
    assert emptied[0].outputs == [parcel]
    assert emptied[0].fn("a megabyte") == ""
    assert "insideBert.pictures.save.arrived" in emptied[0].js


def test_pictures_ask_the_server_nothing_and_all_is_private(built: dict[str, Any]) -> None:
    events = list(built["demo"].fns.values())
    assert all(event.api_visibility == "private" for event in events)
    scripts = [event.js for event in events if event.fn is None and "save.pressed" in (event.js or "")]
    assert [kind in script for script, kind in zip(scripts, ('"png"', '"svg"'), strict=True)] == [True, True]
    assert all('"#there"' in script and '"heads-{layer}", ["layer"]' in script for script in scripts)
    ids = [block.elem_id for block in built["demo"].blocks.values() if isinstance(block, gr.Button)]
    assert len(set(ids)) == 3
    assert all(one.replace("-", "").isalnum() for one in ids)


def test_a_size_stands_in_a_label() -> None:
    assert sized("JSON", 12_345) == "JSON (12 kB)"
    assert sized("This view as one HTML file", 912_345) == "This view as one HTML file (0.9 MB)"
    assert sized("JSON", 4) == "JSON (1 kB)"


@pytest.mark.parametrize(
    ("name", "expected", "kind"),
    [
        ("../../view.html", "view.html", "text/html"),
        ("numbers.CSV", "numbers.csv", "text/csv"),
        ("program.exe", "program.txt", "text/plain"),
        ("", "bert.txt", "text/plain"),
    ],
)
def test_a_file_has_a_harmless_name_and_a_known_type(name: str, expected: str, kind: str) -> None:
    file = json.loads(packed(name, "ü"))
    assert (file["name"], file["type"], file["content"]) == (expected, kind, "ü")


def test_a_file_is_bounded() -> None:
    packed("a.txt", "x" * LARGEST)
    with pytest.raises(UserError, match=r"12\.6 MB"):
        packed("a.txt", "x" * (LARGEST - 1) + "é")
