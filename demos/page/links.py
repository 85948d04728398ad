"""The choices in a link: the values of each, in the form for demos/page/link.js, and how Python reads them."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from demos.files import Json
from demos.page.layer_head_choices import is_counted

Offer = Json  # the values of one choice in a link
Brought = Sequence[tuple[str, Mapping[str, Any]]]  # (another choice, the value that each value sets)


@dataclass(frozen=True)
class Link:
    """The rules of a choice in a link, beyond those of its component: its default, bounds and fixed options."""

    former: Mapping[str, str] = field(default_factory=dict)  # its values in links of earlier versions
    zero: str = ""  # its former name, under which layers and heads were counted from 0
    follows: Brought = ()  # the other choices that bring its default with them
    fold: gr.Accordion | None = None  # which is open where it is true, and where a link sets a choice inside


def schema(choices: Mapping[str, gr.Component], links: Mapping[str, Link]) -> dict[str, Offer]:
    """The rules of each choice in a link, by name."""
    offers: dict[str, Offer] = {}
    for name, component in choices.items():
        link = links.get(name, Link())
        offers[name] = offer(name, component, link) | ({"follows": link.follows} if link.follows else {})
        if link.fold:
            offers[name]["holds"] = [other for other, control in choices.items() if _stands_in(control, link.fold)]
    return offers


def offer(name: str, component: gr.Component, link: Link = Link()) -> Offer:
    """The values that a link may give to one choice: its default, the options if they are fixed, and former values.

    With `first`, the number of what the link calls 0; with `zero`, its former name, under which numbers were one less.
    """
    description: Offer = {"name": name, "value": component.value}
    description |= {"former": link.former} if link.former else {}
    if link.zero:
        description["zero"] = link.zero
    if isinstance(component, gr.Slider | gr.Number):
        bounds = {name: getattr(component, name) for name in ("minimum", "maximum", "step")}
        description |= {name: bound for name, bound in bounds.items() if bound is not None}
        if is_counted(component):
            description["first"] = 1
    elif getattr(component, "choices", None) and not getattr(component, "allow_custom_value", False):
        description["offers"] = [value for _, value in component.choices]
    return description


def read(query: Mapping[str, str], offers: Mapping[str, Offer]) -> dict[str, Any]:
    """The choices' values as the browser holds them, where this is the link."""
    said = renamed(query, offers)
    return {name: _read(name, said, offer) for name, offer in offers.items()}


def _read(name: str, said: Mapping[str, str], offer: Offer) -> Any:
    if name in said:
        try:
            return value_of(said[name], offer)
        except ValueError:
            return offer["value"]
    if any(inside in said for inside in offer.get("holds", ())):
        return True
    for other, brought in offer.get("follows", ()):
        if said.get(other) in brought:
            return brought[said[other]]
    return offer["value"]


def renamed(query: Mapping[str, str], offers: Mapping[str, Offer]) -> dict[str, str]:
    """The query with the choices' present names; counts from 0 become counts from 1."""
    former = {offer["zero"]: name for name, offer in offers.items() if "zero" in offer}
    older = {former[name]: _one_more(value) for name, value in query.items() if name in former}
    return older | {name: value for name, value in query.items() if name not in former}


def _one_more(numbers: str) -> str:
    return re.sub("[0-9]+", lambda match: str(int(match[0]) + 1), numbers)


def value_of(said: str, offer: Offer) -> Any:
    """A choice's value as the browser holds it. Raises ValueError where it may not have the value that a link says."""
    said = offer.get("former", {}).get(said, said)
    value: Any = said if isinstance(offer["value"], str) else json.loads(said, parse_constant=_none_of_json)
    kind = _kind(offer["value"])
    if _kind(value) is not kind:
        raise ValueError(f"{said!r} is of another kind.")
    if kind is float:
        value += offer.get("first", 0)
        if not offer.get("minimum", value) <= value <= offer.get("maximum", value):
            raise ValueError(f"{said!r} is out of bounds.")
        if offer.get("step") == 1 and value % 1:
            raise ValueError(f"{said!r} is no whole number.")
    values = value if isinstance(value, list) else [value]
    if "offers" in offer and not all(each in offer["offers"] for each in values):
        raise ValueError(f"{said!r} is not on offer.")
    return value


def _none_of_json(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON.")


def _kind(value: Any) -> type:
    """Its type in JavaScript, where all numbers are of one."""
    return float if isinstance(value, int | float) and not isinstance(value, bool) else type(value)


def _stands_in(component: Any, fold: gr.Accordion) -> bool:
    above = component.parent
    while above is not None and above is not fold:
        above = above.parent
    return above is fold
