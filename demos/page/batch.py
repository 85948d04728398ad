"""The requests for drawings: all that must be redrawn at one moment goes into one event, and nothing is drawn twice.

In the browser each handler of a batch hears its triggers (`insideBert.ticks.heard` in ticks.js). Those that have
something new to draw are called in one event, one after the other, in the order of their wiring. A batch has one queue.
"""

import inspect
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import gradio as gr

from demos.page.drawing.drawn import Update, answers_of, as_sent

IN_BROWSER = {"trigger_mode": "multiple", "show_progress": "hidden", "api_visibility": "private"}
DRAW_LIMIT = 4  # forward passes at once, over all lessons and users
DRAWN = {"concurrency_id": "draw", "concurrency_limit": DRAW_LIMIT, "show_progress": "minimal"}


@dataclass(frozen=True)
class Redraw:
    """A handler that is called when its lesson's tick changes, or at separate triggers."""

    notice: gr.HTML  # its sentence where it fails; its number is the one that the browser knows the handler by
    handler: Callable[..., Any]  # -> a value for each of `outputs`, or a generator of such
    inputs: list[gr.Component]
    outputs: list[gr.Component]  # its notice among them
    ticks: list[gr.Component]  # the first of them is empty until the handler's place is opened
    triggers: list[Any]  # its ticks' changes among them
    for_all: bool  # draws the same for all readers
    in_sight: bool  # shows that it is at work
    fold: gr.Accordion | None = None  # it is called only while this is open
    read: Sequence[gr.Component] = ()  # a tick calls it again only when one of these has changed; (): at each tick
    own_text: gr.Component | None = None  # while this box is empty, at each tick after all
    queue: tuple[Any, Any] = ("draw", DRAW_LIMIT)  # its name, and how many of its calls run at once
    cancel: gr.Button | None = None  # ends it


@dataclass(frozen=True)
class Drawing:
    """An event that draws what a page shows first, the same for all readers."""

    event: int
    inputs: list[gr.Component]
    redraws: list[Redraw]
    is_batch: bool = False  # then its first input names the handlers to call


def hear(redraws: Sequence[Redraw], triggers: Sequence[Any], batch: str) -> Any:
    """The step in the browser through which these handlers hear `triggers`; it throws where none must be called.

    A box that the link has filled says that it has changed when its lesson opens, and so does the lesson's tick: a
    request that was sent is not sent again. A State's value is not in the browser, so its changes all count.
    """
    ticks = [tick for redraw in redraws for tick in redraw.ticks]
    if not ticks:
        return gr.on(list(triggers), None, None, None, js="() => {}", **IN_BROWSER)
    handlers = []
    moved: dict[tuple[int, str], tuple[Any, list[int]]] = {}  # what a reader moves, and the handlers that it calls
    for redraw in redraws:
        number = redraw.notice._id
        for event in redraw.triggers:
            if not _is_value_change(event):
                moved.setdefault(_key(event), (event, []))[1].append(number)
        compared, inputs = _numbers(_compared_components(redraw)), _numbers(redraw.inputs)
        read = [*compared[len(redraw.ticks) :], *_numbers(redraw.read)] if redraw.read else []
        own_text = redraw.own_text._id if redraw.own_text else None
        handlers.append([number, compared, inputs, _fold_id(redraw), read, own_text])
    for numbers in dict.fromkeys(tuple(called) for _, called in moved.values()):
        events = [event for event, called in moved.values() if tuple(called) == numbers]
        # gradio keeps the order: this is known before the step below
        gr.on(events, None, None, None, js=f"() => insideBert.ticks.moved({list(numbers)})", **IN_BROWSER)
    values = _distinct(component for redraw in redraws for component in [*_compared_components(redraw), *redraw.inputs])
    of = json.dumps({"batch": batch, "handlers": handlers, "values": _numbers(values)})
    script = f"(...values) => insideBert.ticks.heard({of}, values)"
    # last, since what is fetched last is of the same moment as what comes before it, or of a later one
    return gr.on(list(triggers), None, values, None, js=script, **IN_BROWSER)


def wire_batch(redraws: Sequence[Redraw], tick: gr.Component) -> Drawing:
    """Call these handlers, which have one queue, in one event when `tick` changes, or at their own triggers."""
    inputs = _distinct(component for redraw in redraws for component in redraw.inputs)
    outputs = _distinct(component for redraw in redraws for component in redraw.outputs)
    own = [event for redraw in redraws for event in redraw.triggers if event.__self__ not in redraw.ticks]
    folds = [redraw.fold.expand for redraw in redraws if redraw.fold]
    triggers = {_key(event): event for event in [tick.change, *own, *folds]}
    queue, at_once = redraws[0].queue
    batch = f"{tick._id} {queue}"
    heard = hear(redraws, list(triggers.values()), batch)
    in_sight = [output for redraw in redraws if redraw.in_sight for output in redraw.outputs]
    event = heard.then(
        _together(redraws, inputs, outputs),
        [tick, *inputs],
        outputs,
        js=f"(tick, ...values) => [insideBert.ticks.asked({json.dumps(batch)}), ...values]",
        trigger_mode="always_last",
        api_visibility="private",
        postprocess=False,
        concurrency_id=queue,
        concurrency_limit=at_once,
        **{"show_progress_on": in_sight} if in_sight else {"show_progress": "hidden"},
    )
    for cancel in dict.fromkeys(redraw.cancel for redraw in redraws):
        ended_by(cancel, event)
    return Drawing(event["id"], [tick, *inputs], list(redraws), is_batch=True)


def _together(
    redraws: Sequence[Redraw], inputs: Sequence[gr.Component], outputs: Sequence[gr.Component]
) -> Callable[..., Any]:
    """A handler of (the numbers of the handlers to call, with a comma between, or nothing for all; their inputs).

    The later handlers read the values that the earlier ones changed. It is a generator where one of them is.
    """

    def each(numbers: str, *values: Any) -> Generator[dict[int, Any]]:
        """What each answer changes, by its output."""
        requested = set((numbers or "").split(",")) - {""}
        now = {component._id: value for component, value in zip(inputs, values, strict=True)}
        for redraw in redraws:
            if requested and str(redraw.notice._id) not in requested:
                continue
            with closing(answers_of(redraw.handler, *(now[component._id] for component in redraw.inputs))) as answers:
                for answer in answers:
                    changes = {output._id: value for output, value in zip(redraw.outputs, answer, strict=True)}
                    changes = {number: value for number, value in changes.items() if changed_by(value)}
                    for number in changes.keys() & now.keys():
                        now[number] = changed_by(changes[number]).get("value", now[number])
                    yield changes

    def sent(changes: dict[int, Any]) -> list[Any]:
        return as_sent((changes.get(output._id, gr.skip()) for output in outputs), outputs)

    def stream(*values: Any) -> Iterator[list[Any]]:
        with closing(each(*values)) as answers:
            yield from map(sent, answers)

    def whole(*values: Any) -> list[Any]:
        drawn: dict[int, Any] = {}
        for changes in each(*values):
            drawn |= changes
        return sent(drawn)

    return stream if any(map(_is_in_steps, redraws)) else whole


def ended_by(cancel: gr.Button | None, event: Any) -> None:
    """Let a press on the button, where there is one, end the event."""
    if cancel:
        cancel.click(None, None, None, cancels=[event], api_visibility="private", show_progress="hidden")


def changed_by(value: Any) -> Update:
    """The properties of a component that an answer for it changes."""
    is_update = isinstance(value, dict) and value.get("__type__") == "update"
    return {name: now for name, now in value.items() if name != "__type__"} if is_update else {"value": value}


def _key(event: Any) -> tuple[int, str]:
    return event.__self__._id, event.event_name


def _is_value_change(event: Any) -> bool:
    return event.event_name == "change" and not isinstance(event.__self__, gr.State)


def _compared_components(redraw: Redraw) -> list[gr.Component]:
    """The inputs whose changes call the handler again: its ticks first."""
    return _distinct([*redraw.ticks, *(event.__self__ for event in redraw.triggers if _is_value_change(event))])


def _fold_id(redraw: Redraw) -> str:
    """The id of the fold of the handler, which gets one where it has none; "" where its place is in sight."""
    if redraw.fold is None:
        return ""
    redraw.fold.elem_id = redraw.fold.elem_id or f"fold-{redraw.fold._id}"
    return redraw.fold.elem_id


def _is_in_steps(redraw: Redraw) -> bool:
    return inspect.isgeneratorfunction(redraw.handler)


def _numbers(components: Iterable[gr.Component]) -> list[int]:
    return [component._id for component in components]


def _distinct(components: Iterable[gr.Component]) -> list[gr.Component]:
    return list({component._id: component for component in components}.values())
