"""A visit of the page without a browser: its events are sent as the page sends them, and their answers read."""

from __future__ import annotations

import json
import uuid
from copy import copy
from typing import Any

import httpx
from gradio_client.utils import apply_diff

from demos.lessons.finetune.train.choices import START


class Visit:
    """One session. Components are named by their `elem_id`; what is not given is as the page opens."""

    def __init__(self, url: str) -> None:
        self.session = uuid.uuid4().hex
        self.http = httpx.Client(base_url=url, timeout=60)
        config = self.http.get("/config").json()
        self.handlers = [handler for handler in config["dependencies"] if handler["backend_fn"]]
        self.names = {component["id"]: component["props"].get("elem_id") for component in config["components"]}
        self.values = {component["id"]: component["props"].get("value") for component in config["components"]}

    def others(self, number: int) -> list[Visit]:
        """So many more sessions of the same page."""
        visits = [copy(self) for _ in range(number)]
        for visit in visits:
            visit.session = uuid.uuid4().hex
        return visits

    def on(self, event: str, component: str | int) -> dict[str, Any]:
        """The first handler of a component's event."""
        ids = [component, *(number for number, name in self.names.items() if name == component)]
        return next(handler for handler in self.handlers for number in ids if [number, event] in handler["targets"])

    def drawing(self, component: str) -> dict[str, Any]:
        """The first handler that fills a component."""
        (number,) = (number for number, name in self.names.items() if name == component)
        return next(handler for handler in self.handlers if number in handler["outputs"])

    def ask(self, handler: dict[str, Any], values: dict[int, Any]) -> dict[str | None, Any]:
        """What the handler answers at last, by its outputs' names; `values` are inputs by their place."""
        data = [values.get(place, self.values[number]) for place, number in enumerate(handler["inputs"])]
        asked = {"data": data, "fn_index": handler["id"], "session_hash": self.session}
        self.http.post("/gradio_api/queue/join", json=asked).raise_for_status()
        completed: dict[str, Any] = {}
        streamed: list[Any] = []  # whole at first, then what changes
        with self.http.stream("GET", "/gradio_api/queue/data", params={"session_hash": self.session}) as events:
            for line in events.iter_lines():
                message = json.loads(line.removeprefix("data:")) if line.startswith("data:") else {"msg": ""}
                if message["msg"] == "process_generating":
                    came = message["output"]["data"]
                    streamed = [apply_diff(*one) for one in zip(streamed, came, strict=True)] if streamed else came
                elif message["msg"] == "process_completed":
                    completed = message
                elif message["msg"] == "close_stream":
                    break
        assert completed["success"], completed
        return {
            self.names[number]: value
            for number, value in zip(handler["outputs"], streamed or completed["output"]["data"], strict=True)
        }


def train(visit: Visit, reader: str) -> dict[str | None, Any]:
    """One short run on the page, of the reader with this key; what the page shows at its end."""
    start = visit.on("click", "finetune-start")
    visit.ask(start, {0: reader})
    begun = start["outputs"][1]
    names = ["run", "reader", "model", *START]
    chosen = {"reader": reader, "most": 100, "trains": "head", "epochs": 1}
    return visit.ask(visit.on("change", begun), {names.index(name): value for name, value in chosen.items()})
