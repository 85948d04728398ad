"""The programs of all folds "The code", as the page fills them at first: nobody has to name a new one."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import gradio as gr
from gradio.blocks import Block

from demos.lessons import discover
from demos.page.lesson import Page, by_name, with_sentence
from demos.page.parts import build_lesson
from demos.page.services import Sentence, Services

TEXT, PAIR = "The animal didn't cross the street because it was too tired.", "It was asleep."


@dataclass
class Panels(Page):
    """A page that notes what fills its code panels."""

    fillings: list[tuple[Callable[..., Any], Sequence[Any], Sequence[Any]]] = field(default_factory=list)

    def draw(self, show: Any, inputs: Any, outputs: Any, **options: Any) -> None:
        """What is drawn of a sentence, which `show` is handed before the inputs."""
        sentence = Sentence(TEXT, PAIR, self.services.default_model)
        self.fillings.append((lambda *values: show(sentence, *values), inputs, outputs))

    def on(self, triggers: Any, handler: Any, inputs: Any, outputs: Any, **options: Any) -> Any:
        """What follows an event of a control."""
        if options.get("of_sentence"):
            handler, inputs = with_sentence(handler), [*self.sentence, *inputs]
        if isinstance(outputs, dict):
            handler, outputs = by_name(handler, outputs), list(outputs.values())
        self.fillings.append((handler, inputs, outputs))
        return gr.on(list(triggers), lambda *values: None, None, None)


def panels(services: Services) -> Iterator[tuple[str, str]]:
    """(the fold's id without "-code", its program) of each panel, with the controls' first values."""
    for lesson in discover():
        with gr.Blocks() as blocks:
            hidden: list[Any] = [gr.Textbox() for _ in range(5)]
            page = Panels(lesson, services, *hidden, notices=gr.Column(), trained=gr.State(""))
            build_lesson(page)
        bar = {page.text._id: TEXT, page.text_pair._id: PAIR, page.model._id: services.default_model}
        wanted = {name for block in blocks.blocks.values() if isinstance(block, gr.Code) and (name := fold_of(block))}
        for fill, inputs, outputs in page.fillings:
            if not wanted.intersection(map(fold_of, outputs)):
                continue
            answer = fill(*(bar.get(component._id, getattr(component, "value", None)) for component in inputs))
            for values in answer if inspect.isgenerator(answer) else [answer]:
                for name, program in _programs(values, outputs):
                    if name in wanted:
                        wanted.remove(name)
                        yield name, program
                if not wanted.intersection(map(fold_of, outputs)):
                    break
        assert not wanted, f"nothing fills these panels: {wanted}"


def fold_of(block: Any) -> str:
    """The id, without "-code", of the fold "The code" that a block stands in."""
    if not isinstance(block, gr.Code):
        return ""
    while block is not None:
        name = str(getattr(block, "elem_id", None) or "")
        if isinstance(block, gr.Accordion) and name.endswith("-code"):
            return name.removesuffix("-code")
        block = block.parent
    return ""


def _programs(values: Any, outputs: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """The panels among what a handler answers."""
    if not (isinstance(values, dict) and all(isinstance(key, Block) for key in values)):
        values = dict(zip(outputs, [values] if len(outputs) == 1 else values, strict=True))
    for output, value in values.items():
        if not (name := fold_of(output)):
            continue
        text = value() if callable(value) else value.get("value") if isinstance(value, dict) else value
        if isinstance(text, str) and text.strip():
            yield name, text
