"""Choices of a layer, a head, a token or a measure: beyond the end it is the last one; unmoved, the model's own."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import gradio as gr

from demos.bert.attention.contributions import CONTRIBUTION, WEIGHT
from demos.counting import counted
from demos.page.drawing.drawn import adapted

Value = TypeVar("Value", int, str)
COUNTED = "counted"  # the class of a slider that shows layers or heads as the page counts them


def counted_slider(count: int, index: int, **options: Any) -> gr.Slider:
    """A slider for `count` layers or heads, 1..count; it begins at the one at `index`.

    The browser holds what is seen. Handlers that are wired by `Page.on` or `Page.draw` are given indices from 0
    (`by_index`), and so is the link (demos/page/link.js).
    """
    return moving_slider(1, count, counted(index), elem_classes=COUNTED, **options)


def moving_slider(least: int, most: int, value: int, **options: Any) -> gr.Slider:
    """A slider whose end follows the model or the sentence; without ↺, which would set it beyond that end."""
    return gr.Slider(least, most, value=value, step=1, buttons=[], **options)


def measure_choice(shown: str, elem_id: str) -> gr.Radio:
    """Attention by weight, or by contribution; `shown` says what is seen of the norms."""
    choices = [("attention weight α", WEIGHT), (f"contribution ‖α f(x)‖ ({shown})", CONTRIBUTION)]
    return gr.Radio(choices, value=WEIGHT, label="Measure", elem_id=elem_id)


def is_counted(component: Any) -> bool:
    """Whether it is a slider that shows an index from 0 as a number from 1."""
    return isinstance(component, gr.Slider) and COUNTED in (component.elem_classes or ())


def index_of(number: float | None) -> float | None:
    """The arguments given to `counted`, read from a slider."""
    return None if number is None else number - 1


def by_index(handler: Callable[..., Any], inputs: Sequence[gr.Component]) -> Callable[..., Any]:
    """A handler of indices as one of what sliders show."""
    read = [is_counted(component) for component in inputs]
    if not any(read):
        return handler

    def indices_of(*values: Any) -> list[Any]:
        return [index_of(value) if counts else value for value, counts in zip(values, read, strict=True)]

    return adapted(handler, given=indices_of)


def clamp(value: float | None, count: int) -> int:
    """`value` as an index into `count` things, 0..count - 1; nothing at all is the first."""
    return min(max(int(value or 0), 0), count - 1)


def following(requested: Any, first: Value, followed: str, model: str, pick: Callable[[], Value]) -> tuple[Any, str]:
    """(the choice, what `followed` is from now on): a choice that nobody has moved is this model's own, `pick()`.

    `first` is what the component opens with, a whole number or a word; `followed` is "model choice" of the last pick,
    or "model moved", and empty before the first drawing.
    """
    before, _, last = (followed or "").rpartition(" ")
    if before == model:
        return requested, followed
    kind = type(first)  # a slider's number may come as 5.0
    if str(kind(requested or kind())) != (last if before else str(first)):
        return requested, f"{model} moved"
    own = pick()
    return own, f"{model} {own}"
