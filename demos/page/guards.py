"""Errors in a handler as sentences: a person's error as its own sentence, a fault of ours as such, for page and API."""

import functools
import inspect
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_type_hints

import gradio as gr
from markupsafe import Markup

from demos.bert.model.encoding import Encoding, truncation_notice
from demos.errors import UserError
from demos.page.drawing.drawn import answers_of, drawable, names_components
from demos.templates import templates

TEXT = templates(__file__)
log = logging.getLogger(__name__)
OUR_FAULT = (
    "Something went wrong on the server. The page still shows the previous result. Try again, or reload the page."
)
PICTURES = (gr.HTML, gr.Plot, gr.Code, gr.Markdown)  # the outputs; a control can still be moved


def notice_html(message: str) -> Markup:
    """One plain sentence, escaped; empty hides the notice."""
    return TEXT.notice(message) if message else Markup()


def cut_html(inputs: Sequence[Encoding]) -> Markup:
    """A line on how much of the inputs was removed at the model's limit; empty where nothing was."""
    notices = dict.fromkeys(filter(None, map(truncation_notice, inputs)))
    return TEXT.cut(" ".join(notices)) if notices else Markup()


def guarded(
    handler: Callable[..., Any], outputs: Sequence[gr.Component], beside: str = "", others: int = 0
) -> Callable[..., Any]:
    """`handler` with the notice as one more output, emptied on success and filled on a person's error.

    `beside` is HTML that goes with the notice; then come `others` notices that a success empties too.
    """
    count = len(outputs)

    def shaped(result: Any) -> list[Any]:
        if names_components(result):
            unknown = set(result) - set(outputs)
            assert not unknown, f"not among the outputs: {unknown}"
            return [*(drawable(result.get(output, gr.skip())) for output in outputs), "", *[""] * others]
        values = [result] if count == 1 else list(result) if count else []
        return [*map(drawable, values), "", *[""] * others]

    def failed(error: Exception) -> list[Any]:
        if not isinstance(error, UserError):
            log.exception("a lesson's handler failed")
        message = str(error) if isinstance(error, UserError) else OUR_FAULT
        skipped = [gr.skip() for _ in range(count + others)]
        return [*skipped[:count], notice_html(message) + beside, *skipped[count:]]

    def stream(*values: Any) -> Iterator[list[Any]]:
        try:
            for result in answers_of(handler, *values):
                yield shaped(result)
        except Exception as error:
            yield failed(error)

    return stream if inspect.isgeneratorfunction(handler) else lambda *values: next(stream(*values))


@contextmanager
def _user_errors_as_gradio_errors() -> Iterator[None]:
    """A UserError becomes gr.Error, the one error whose text gradio passes on."""
    try:
        yield
    except UserError as error:
        raise gr.Error(str(error), print_exception=False) from error


KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _check_kinds(function: Callable[..., Any]) -> Callable[..., None]:
    """A check that arguments are what the function's signature says. It raises UserError."""
    signature, hints = inspect.signature(function), get_type_hints(function)

    def fits(value: Any, kind: Any) -> bool:
        if isinstance(value, bool) or kind is bool:
            return isinstance(value, bool) and kind is bool
        return isinstance(value, int | float if kind is float else kind)

    def check(*args: Any, **named: Any) -> None:
        for name, value in signature.bind(*args, **named).arguments.items():
            if (kind := hints[name]) in KINDS and not fits(value, kind):
                raise UserError(f"{name} must be {KINDS[kind]}.")

    return check


def with_api_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` with its UserErrors passed on to who called it in the API, those about wrong types among them."""
    check = _check_kinds(function)
    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def stream(*args: Any, **named: Any) -> Iterator[Any]:
            with _user_errors_as_gradio_errors():
                check(*args, **named)
                yield from function(*args, **named)

        return stream

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        with _user_errors_as_gradio_errors():
            check(*args, **named)
            return function(*args, **named)

    return call


def pictures(outputs: Sequence[gr.Component]) -> list[str]:
    """The element ids of a handler's outputs, a new one where there is none; called while the page is laid out."""
    shown = [output for output in outputs if isinstance(output, PICTURES) and output.visible != "hidden"]
    for output in shown:
        output.elem_id = output.elem_id or f"drawn-{output._id}"
    return [output.elem_id for output in shown]


def dimmed(ids: Sequence[str]) -> Markup:
    """HTML to put beside a notice: dims these elements, and says so where there is anything in one of them."""
    if not ids:
        return Markup()
    return TEXT.dimmed(f":is({', '.join(f'#{name}' for name in ids)})", f"before-{'-'.join(ids)}")
