"""Shared by several parts of this lesson: the choice of an English sentence, and the translators' results."""

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from demos.bert.translation.grammar import Pair, held_out
from demos.bert.translation.kept import Kept
from demos.page.services import Services
from demos.page.view import Control, On, choice

LISTED = 24  # held-out sentences in the menu


def first_pairs() -> Sequence[Pair]:
    """The held-out pairs of a menu."""
    return held_out()[:LISTED]


def text_of(pair: Pair) -> str:
    """Its English sentence, as it is typed."""
    return " ".join(pair.source[:-1])


def english(elem_id: str, value: str = "", offers: Callable[[], Sequence[Pair]] = first_pairs, **look: Any) -> Any:
    """A view's choice of an English sentence: one of a menu of pairs (`value`: the first), or a typed one."""
    begin = value or text_of(first_pairs()[0])
    label = "English sentence: choose one, or type"
    return typed_or_listed(elem_id, label, begin, lambda: [text_of(pair) for pair in offers()], **look)


def typed_or_listed(elem_id: str, label: str, value: str, offers: Callable[[], Sequence[str]], **look: Any) -> Any:
    """A view's choice of a text: one of a menu, or a typed one."""

    def make(_: Services) -> gr.Component:
        return gr.Dropdown(list(offers()), value=value, label=label, allow_custom_value=True, elem_id=elem_id, **look)

    def read(_: On, said: Any) -> str:
        return str(said or "")

    return choice(value, Control(make, read))


def results(services: Services) -> Kept:
    """The translators' latest results, for all parts and readers."""
    return Kept(services.memory)
