"""What a part's handler answers, as its tests look at it."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import gradio as gr
from markupsafe import Markup

from demos.lessons.embeddings import LESSON
from demos.page.lesson import Page
from demos.page.services import Services
from tests.one_line import plain
from tests.page.empty_page import empty_page
from tests.shown_values import shown_value


class Wired(NamedTuple):
    """One handler, with what it reads and what it fills."""

    handler: Callable[..., Any]
    inputs: Sequence[Any]
    outputs: Sequence[Any]


@dataclass
class Recorder(Page):
    """A page that keeps what is wired and offered."""

    wired: list[Wired] = field(default_factory=list)
    endpoints: dict[str, Callable[..., Any]] = field(default_factory=dict)

    def draw(self, show: Any, inputs: Any, outputs: Any, **options: Any) -> None:
        self.wired.append(Wired(show, inputs, outputs))

    def on(self, triggers: Any, handler: Any, inputs: Any, outputs: Any, **options: Any) -> Any:
        self.wired.append(Wired(handler, inputs, outputs))
        return gr.on(list(triggers), lambda: None)  # which a button may cancel

    def endpoint(self, function: Callable[..., Any], **options: Any) -> None:
        self.endpoints[function.__name__] = function


def recorded(services: Services, *builds: Callable[[Page], None]) -> Recorder:
    """A bare page on which these parts are built."""
    with gr.Blocks():
        page: Recorder = empty_page(services, LESSON, Recorder)
        for build in builds:
            build(page)
    return page


def answering(handler: Callable[..., Any], outputs: Sequence[Any]) -> Callable[..., Any]:
    """The handler with each answer as a list, one value an output; of one output the value itself."""

    def listed(answer: Any) -> Any:
        if not isinstance(answer, dict):
            return answer
        values = in_order(outputs, answer)
        return values if len(values) > 1 else values[0]

    if not inspect.isgeneratorfunction(handler):
        return lambda *values: listed(handler(*values))

    def stream(*values: Any) -> Iterator[Any]:
        steps = handler(*values)
        try:
            for answer in steps:
                yield listed(answer)
        finally:
            steps.close()

    return stream


def in_order(outputs: Sequence[Any], shown: Any) -> list[Any]:
    """A handler's answer as one value an output; what it leaves as it is is a skip."""
    assert set(shown) <= set(outputs)
    return [as_read(shown.get(output, gr.skip())) for output in outputs]


def as_read(value: Any) -> Any:
    """A value as a test reads it: what is for a fold computed, a figure as Plotly reads it, HTML on one line."""
    value = shown_value(value)
    return plain(value) if isinstance(value, Markup) else value
