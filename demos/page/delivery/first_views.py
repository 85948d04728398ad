"""What a page shows before anything is chosen, in the page as it is sent: drawn once, for all who open it.

When the model is there, the handlers that draw a page's first view are asked once, as a browser would ask them, and
their answers are written into the page's configuration. A browser that stands at that view then asks for nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from typing import Any

import gradio as gr
from gradio.state_holder import SessionState

from demos.page.lesson import Drawing, Page

log = logging.getLogger(__name__)


class FirstViews:
    """The first view of each page. `edition` counts how often they were drawn: 0 before the model is there."""

    def __init__(self) -> None:
        self._demo: gr.Blocks | None = None
        self._pages: list[tuple[Page, gr.Component]] = []
        self._lock = threading.Lock()
        self.edition = 0

    def add(self, page: Page, drawn: gr.Component) -> None:
        """A page that is built; in `drawn` its browser finds what is drawn: each handler's inputs, as JSON."""
        self._pages.append((page, drawn))

    def begin(self, demo: gr.Blocks) -> None:
        """Draw them into the configuration of `demo`, which is launched and whose model is loaded."""
        self._demo = demo
        self.draw()

    def draw(self) -> None:
        """Draw them anew, where they were begun: there is another model, and some views name all that there are."""
        if self._demo is not None:
            with self._lock:
                asyncio.run(self._draw(self._demo))

    def draw_soon(self) -> None:
        """`draw`, while the caller goes on."""
        threading.Thread(target=self.draw, daemon=True).start()

    async def _draw(self, demo: gr.Blocks) -> None:
        properties = {component["id"]: component["props"] for component in demo.config["components"]}
        for page, drawn in self._pages:
            inputs: dict[int, list[Any]] = {}
            for drawing in page.drawings:
                if any(trigger is tick for trigger in drawing.triggers for tick in page.opening):
                    inputs |= await _drawn(demo, drawing, properties)
            properties[drawn._id]["value"] = json.dumps(inputs)
        self.edition += 1


async def _drawn(demo: gr.Blocks, drawing: Drawing, properties: dict[int, dict[str, Any]]) -> dict[int, list[Any]]:
    """Put what a handler draws into `properties`, by component. -> its inputs as they then are; {} where it fails."""
    values = [properties[component._id].get("value") for component in drawing.inputs]
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
            properties[component._id].get("value") if component._id in own else value
            for component, value in zip(drawing.inputs, values, strict=True)
        ]
    }


def _changed(value: Any) -> dict[str, Any]:
    """The properties that an output changes, of one answer as a browser gets it."""
    is_update = isinstance(value, dict) and value.get("__type__") == "update"
    return {name: now for name, now in value.items() if name != "__type__"} if is_update else {"value": value}
