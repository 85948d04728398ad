"""A page's first view, sent with the page: drawn once, for all readers.

When the model is there, the handlers that draw a page's first view are called once, as a browser would call them.
A browser that opens the page at exactly that view inserts their answers before it builds the page (demos/page/link.js),
and then sends no request. At any other view it builds the page empty.
"""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gradio as gr
from gradio import state_holder

from demos.page.batch import Drawing, changed_by
from demos.page.drawing.drawn import Update
from demos.page.lesson import Page

log = logging.getLogger(__name__)


class FirstViews:
    """The first view of each page. `edition` is 0 until they are drawn, and grows when one of them changes."""

    def __init__(self) -> None:
        self._pages: list[tuple[Page, gr.Component]] = []
        self._again = ThreadPoolExecutor(1, "first views")
        self.edition = 0

    def add(self, page: Page, place: gr.Component) -> None:
        """A page that is built; its first view goes into the value of `place`, as JSON."""
        self._pages.append((page, place))

    @property
    def pages(self) -> list[Page]:
        """Those that were added."""
        return [page for page, _ in self._pages]

    def draw(self, demo: gr.Blocks) -> None:
        """Draw them into the configuration of `demo`, which is launched and whose model is loaded."""
        asyncio.run(self._draw(demo))

    def draw_again(self, demo: gr.Blocks) -> None:
        """The same in the background, after a measurement that a first view shows: how long a run takes."""
        self._again.submit(self.draw, demo)

    async def _draw(self, demo: gr.Blocks) -> None:
        sent = {component["id"]: component["props"] for component in demo.config["components"]}
        has_changed = False
        for page, place in self._pages:
            properties: dict[int, Update] = defaultdict(dict)  # those that change, by component

            def value_of(component: gr.Component, changed: dict[int, Update] = properties) -> Any:
                return (sent[component._id] | changed.get(component._id, {})).get("value")

            inputs: dict[int, list[Any]] = {}
            for drawing in page.drawings:
                inputs |= await _drawn(demo, drawing, properties, value_of)
            text, pair, model = map(value_of, page.sentence)
            view = {"text": text, "pair": pair, "model": model, "inputs": inputs, "properties": properties}
            before, sent[place._id]["value"] = sent[place._id]["value"], json.dumps(view)
            has_changed |= sent[place._id]["value"] != before
        self.edition += has_changed


async def _drawn(
    demo: gr.Blocks, drawing: Drawing, properties: dict[int, Update], value_of: Callable[[gr.Component], Any]
) -> dict[int, list[Any]]:
    """Put what an event draws into `properties`. -> its handlers' inputs as they then are; {} where it fails."""
    values = [value_of(component) for component in drawing.inputs]
    before = {component._id: value for component, value in zip(drawing.inputs, values, strict=True)}
    if drawing.is_batch:
        values[0] = ",".join(str(redraw.notice._id) for redraw in drawing.redraws)
    outputs = [component._id for component in demo.fns[drawing.event].outputs]
    changes: dict[int, Update] = {}
    state, iterator, goes_on = state_holder.SessionState(demo), None, True
    try:
        while goes_on:
            answer = await demo.process_api(drawing.event, values, state, iterator=iterator)
            goes_on = answer["is_generating"]
            if goes_on or iterator is None:  # the last answer of several says only that it is the last
                for number, value in zip(outputs, answer["data"], strict=True):
                    changes[number] = changes.get(number, {}) | changed_by(value)
            iterator = answer["iterator"]
    except Exception:
        log.exception("a first view could not be drawn")
        return {}
    refused = [redraw for redraw in drawing.redraws if changes[redraw.notice._id]["value"]]
    for redraw in refused:  # a reader's browser requests it later, and gets the error
        del changes[redraw.notice._id]
    for number, change in changes.items():
        properties[number] |= change
    drawn_with: dict[int, list[Any]] = {}
    for redraw in (redraw for redraw in drawing.redraws if redraw not in refused):
        drawn_with[redraw.notice._id] = [  # with the values that this event has changed
            value_of(component) if component._id in changes else before[component._id] for component in redraw.inputs
        ]
    return drawn_with
