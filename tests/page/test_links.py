"""What a link may say of a choice, and how Python reads it; tests/browser/test_link.py compares it with the page."""

import gradio as gr
import pytest

from demos.page.links import Link, Offer, offer, read, renamed, value_of


def test_what_the_link_may_say_is_bounded_by_what_is_on_offer() -> None:
    with gr.Blocks():
        slider, radio = gr.Slider(0, 5, 2, step=1), gr.Radio([("A", "a"), ("B", "b")], value="a")
        free = gr.Dropdown(["x"], value="x", allow_custom_value=True)
        token, seed = gr.Number(1, precision=0, minimum=0, maximum=127), gr.Number(7, precision=0)
    bounds = {"minimum": 0, "maximum": 5, "step": 1}
    assert offer("layer", slider) == {"name": "layer", "value": 2, **bounds}
    assert offer("side", radio)["offers"] == ["a", "b"]
    assert "offers" not in offer("word", free)
    assert {"minimum": 0, "maximum": 127, "step": 1}.items() <= offer("token", token).items()
    assert not {"minimum", "maximum"} & offer("seed", seed).keys()  # JavaScript takes null for 0


def test_a_value_of_an_earlier_version_is_on_offer_under_its_name_of_now() -> None:
    menu = gr.Radio([("small model", "quick"), ("[CLS]", "cls")], value="quick")
    said = offer("preset", menu, Link(former={"paper": "cls"}))
    assert said["former"] == {"paper": "cls"}
    assert [value_of(value, said) for value in ("cls", "paper")] == ["cls", "cls"]
    with pytest.raises(ValueError, match="not on offer"):
        value_of("lecture", said)
    assert "former" not in offer("preset", menu)


@pytest.mark.parametrize(
    ("said", "offer", "can_be"),
    [
        ("head", {"value": "head", "offers": ["head", "model"]}, True),
        ("tail", {"value": "head", "offers": ["head", "model"]}, False),
        ("any text", {"value": ""}, True),
        ("3", {"value": 0, "minimum": 0, "maximum": 3}, True),
        ("4", {"value": 0, "minimum": 0, "maximum": 3}, False),
        ("0", {"value": 1, "minimum": 1, "maximum": 6, "first": 1}, True),  # a link counts from 0
        ("5", {"value": 1, "minimum": 1, "maximum": 6, "first": 1}, True),
        ("6", {"value": 1, "minimum": 1, "maximum": 6, "first": 1}, False),
        ("true", {"value": 0, "minimum": 0}, False),
        ("true", {"value": False}, True),
        ("1", {"value": False}, False),
        ("5e-05", {"value": 0.0001, "offers": [2e-5, 5e-5]}, True),
        ("NaN", {"value": 0, "minimum": 0}, False),
        ("x", {"value": 0}, False),
        ("1e400", {"value": 0, "step": 1}, False),
        ('["a"]', {"value": ["a", "b"], "offers": ["a", "b"]}, True),
        ('["a", "c"]', {"value": ["a", "b"], "offers": ["a", "b"]}, False),
    ],
)
def test_a_choice_can_be_what_the_page_takes(said: str, offer: dict[str, object], can_be: bool) -> None:
    if can_be:
        value_of(said, offer)
    else:
        with pytest.raises(ValueError, match=r"kind|bounds|on offer|JSON|Expecting|number"):
            value_of(said, offer)


def test_a_former_name_is_read_with_numbers_from_zero() -> None:
    offers = {"heads_off": {"value": "1.3", "zero": "off"}, "layer": {"value": 1, "first": 1}}
    assert renamed({"off": "0.2, 11.9", "layer": "3"}, offers) == {"heads_off": "1.3, 12.10", "layer": "3"}
    assert renamed({"heads_off": "1.3"}, offers) == {"heads_off": "1.3"}
    assert renamed({"heads_off": "1.3", "off": "7.7"}, offers) == {"heads_off": "1.3"}


def test_what_a_link_leaves_out_or_says_wrongly_is_as_the_page_begins() -> None:
    offers: dict[str, Offer] = {
        "layer": {"value": 1, "first": 1, "minimum": 1, "maximum": 6, "step": 1},
        "rate": {"value": 1e-4, "follows": [("task", {"pair": 2e-4})]},
        "task": {"value": "sentence", "offers": ["sentence", "pair"]},
        "open": {"value": False, "holds": ["rate"]},
    }
    assert read({}, offers) == {"layer": 1, "rate": 1e-4, "task": "sentence", "open": False}
    assert read({"task": "pair", "layer": "5"}, offers) == {"layer": 6, "rate": 2e-4, "task": "pair", "open": False}
    assert read({"rate": "3", "layer": "6", "task": "<b>"}, offers) == {
        "layer": 1, "rate": 3, "task": "sentence", "open": True,
    }  # fmt: skip
