"""What a page shows before anything is chosen, sent along with it: drawn once, for all who open it.

When the model is there, the handlers that draw a page's first view are asked once, as a browser would ask them. A
browser that opens the page at just that view puts their answers in before it builds the page (demos/page/link.js), and
then asks for nothing. At any other view it builds the page empty.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import gradio as gr
from gradio.state_holder import SessionState

from demos.page.lesson import Drawing, Page

log = logging.getLogger(__name__)


class FirstViews:
    """The first view of each page. `edition` is 0 until they are drawn."""

    def __init__(self) -> None:
        self._pages: list[tuple[Page, gr.Component]] = []
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

    async def _draw(self, demo: gr.Blocks) -> None:
        sent = {component["id"]: component["props"] for component in demo.config["components"]}
        for page, place in self._pages:
            properties: dict[int, dict[str, Any]] = defaultdict(dict)  # those that change, by component

            def value_of(component: gr.Component, changed: dict[int, dict[str, Any]] = properties) -> Any:
                return (sent[component._id] | changed.get(component._id, {})).get("value")

            inputs: dict[int, list[Any]] = {}
            for drawing in page.drawings:
                inputs |= await _drawn(demo, drawing, properties, value_of)
            text, pair, model = map(value_of, page.sentence)
            view = {"text": text, "pair": pair, "model": model, "inputs": inputs, "properties": properties}
            sent[place._id]["value"] = json.dumps(view)
        self.edition += 1


async def _drawn(
    demo: gr.Blocks, drawing: Drawing, properties: dict[int, dict[str, Any]], value_of: Callable[[gr.Component], Any]
) -> dict[int, list[Any]]:
    """Put what a handler draws into `properties`. -> its inputs as they then are, by its number; {} where it fails."""
    values = [value_of(component) for component in drawing.inputs]
    outputs = [component._id for component in demo.fns[drawing.event].outputs]
    changes: dict[int, dict[str, Any]] = {}
    state, iterator, goes_on = SessionState(demo), None, True
    try:
        while goes_on:
            answer = await demo.process_api(drawing.event, values, state, iterator=iterator)
            goes_on = answer["is_generating"]
            if goes_on or iterator is None:  # the last answer of several says only that it is the last
                for number, value in zip(outputs, answer["data"], strict=True):
                    changes[number] = changes.get(number, {}) | _changed(value)
            iterator = answer["iterator"]
    except Exception:
        log.exception("a first view could not be drawn")
        return {}
    if changes[drawing.notice._id]["value"]:
        return {}  # refused: a reader's browser asks for it, and is told
    for number, change in changes.items():
        properties[number] |= change
    own = {component._id for component in drawing.inputs} & changes.keys()  # what it keeps for its next drawing
    return {
        drawing.notice._id: [
            value_of(component) if component._id in own else value
            for component, value in zip(drawing.inputs, values, strict=True)
        ]
    }


def _changed(value: Any) -> dict[str, Any]:
    """The properties that an output changes, of one answer as a browser gets it."""
    is_update = isinstance(value, dict) and value.get("__type__") == "update"
    return {name: now for name, now in value.items() if name != "__type__"} if is_update else {"value": value}
