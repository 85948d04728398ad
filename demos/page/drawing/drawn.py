"""A handler's answer in the form that the browser takes: figures as their JSON, each with its sentence.

Gradio builds a new component for each output of an event that is skipped or updated, and runs a thread for each value:
about a millisecond for every output, on the one thread that serves all readers. Events that are wired with
`postprocess=False` and answer with `as_sent` are spared that.
"""

import inspect
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

import gradio as gr
from gradio.components.plot import PlotData
from gradio.data_classes import GradioModel, GradioRootModel

from demos.figures.figure.figure import figure_json, is_figure
from demos.figures.figure.summary import with_summary


def answers_of(handler: Callable[..., Any], *inputs: Any) -> Generator[Any]:
    """A handler's answers: those of a generator one after the other, or the only one of a function."""
    if inspect.isgeneratorfunction(handler):
        with closing(handler(*inputs)) as answers:
            yield from answers
    else:
        yield handler(*inputs)


def adapted(
    handler: Callable[..., Any],
    *,
    given: Callable[..., Sequence[Any]] = lambda *inputs: inputs,
    sent: Callable[[Any], Any] = lambda answer: answer,
) -> Callable[..., Any]:
    """A handler that calls `handler` with `given(*inputs)` and answers `sent(answer)`; a generator where it is one."""

    def each(*inputs: Any) -> Iterator[Any]:
        with closing(answers_of(handler, *given(*inputs))) as answers:
            yield from map(sent, answers)

    return each if inspect.isgeneratorfunction(handler) else lambda *inputs: next(each(*inputs))


def drawable(value: Any) -> Any:
    """A component's value, or its update, with a figure as the text that Gradio sends; a function is called for it."""
    if callable(value):
        return drawable(value())
    if is_figure(value):
        return PlotData(type="plotly", plot=figure_json(with_summary(value)))
    if isinstance(value, dict) and "value" in value:
        return value | {"value": drawable(value["value"])}
    return value


def names_components(answer: Any) -> bool:
    """Whether a handler's answer is {component: value}; gr.update() and gr.skip() are dictionaries too, with a type."""
    return isinstance(answer, dict) and "__type__" not in answer and not is_figure(answer)


Update = dict[str, Any]  # what changes of a component, by property: Gradio's own update, or a view's `limit`


class Sent(Update):
    """An update that Gradio passes on unchanged, because it lacks the key by which Gradio recognizes updates."""

    def get(self, name: str, default: Any = None) -> Any:
        return "" if name == "__type__" else super().get(name, default)


AS_IT_IS = (gr.HTML, gr.Textbox, gr.Checkbox, gr.Slider, gr.Number, gr.Dropdown, gr.Radio, gr.CheckboxGroup)
ONLY_SEEN = {"__type__", "value", "visible", "label"}  # attributes that no check of later values reads


def as_sent(values: Iterable[Any], outputs: Sequence[gr.components.Component]) -> list[Any]:
    """The answer of an event without Gradio's own postprocessing, for a value or an update of each output."""
    return [value if output.stateful else _sent(value, output) for value, output in zip(values, outputs, strict=True)]


def _sent(value: Any, output: gr.components.Component) -> Any:
    if not (isinstance(value, dict) and "__type__" in value):
        return _postprocessed(value, output)
    update = value | ({"value": _postprocessed(value["value"], output)} if "value" in value else {})
    return Sent(update) if update.keys() <= ONLY_SEEN else update


def _postprocessed(value: Any, output: gr.components.Component) -> Any:
    if not isinstance(output, AS_IT_IS):
        value = output.postprocess(value)
    return value.model_dump() if isinstance(value, GradioModel | GradioRootModel) else value
