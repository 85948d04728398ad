"""The live curve: a component that is sent only the new points of a training, and what turns events into points."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import gradio as gr

from demos.page.assets import read_asset
from demos.training.data import Dataset
from demos.training.events import (
    Epoch,
    Event,
    Failed,
    Finished,
    PairLook,
    PairResult,
    Result,
    Scoring,
    Started,
    Step,
    Stopped,
    Waiting,
)

DRAW_SECONDS = 0.2  # between two messages to the page
MAX_POINTS = 600  # steps drawn; in longer runs neighbours are averaged


def live_curve(**options: Any) -> gr.HTML:
    """The component, filled with a `CurveFeed`'s messages. A function, since gradio writes stubs beside subclasses."""
    return gr.HTML(
        None,
        html_template=read_asset("curve.html"),
        js_on_load=read_asset("curve.js"),
        apply_default_css=False,
        **options,
    )


class CurveFeed:
    """One run's messages. Each holds the points since the last message, and once more those of the last one.

    Twice, because a browser may swallow one of two messages that come at once; points go by their step, so that
    drawing one twice changes nothing. The final message holds all of them. JSON text and no dict: gradio wraps dicts.
    `examples` is what the run learns from, as the words beside the curve call it; `axes` what assets/curve.js is told
    of panels that are not loss and accuracy.
    """

    def __init__(self, run: str, data: str, examples: str = "sentences", axes: Mapping[str, Any] | None = None) -> None:
        self._data = data  # the data set's name
        self._examples = examples
        self._state: dict[str, Any] = {"run": run, "done": False, **(axes or {})}
        self._bin: list[Step] = []
        self._width = 1
        self._all: dict[str, list[list[float | None]]] = {"steps": [], "looks": []}
        self._sent = {"steps": 0, "looks": 0}
        self._before = {"steps": 0, "looks": 0}

    @property
    def looks(self) -> list[list[float | None]]:
        """Every look so far: step, training loss (null at 0), validation loss and score (and its interval)."""
        return self._all["looks"]

    def take(self, event: Event) -> bool:
        """Note the event; True where it should be shown at once."""
        said = _STATUS.get(type(event))
        if said:
            self._state["status"] = said(event, self._examples)
        if isinstance(event, Started):
            self._width = math.ceil(event.total_steps / MAX_POINTS)
            self._state |= {"total": event.total_steps, "perEpoch": event.steps_per_epoch}
            if event.labels:
                self._state |= {"baseline": _short(event.baseline_score)}
                self._state |= {"guess": _short(math.log(len(event.labels)))}
        elif isinstance(event, Step):
            self._state["step"] = event.step
            self._bin.append(event)
            if len(self._bin) >= self._width or event.step == event.total_steps:
                means = [sum(getattr(one, name) for one in self._bin) / len(self._bin) for name in ("loss", "score")]
                self._all["steps"].append([event.step, *map(_short, means)])
                self._bin = []
        elif isinstance(event, Epoch):
            values = (event.train_loss, event.validation_loss, event.validation_score)
            self._all["looks"].append([event.step, *map(_short, values)])
            self._state["summary"] = _look_told(event)
        elif isinstance(event, PairLook):
            scored = (event.train_loss, event.validation_loss, event.spearman, event.low, event.high)
            self._all["looks"].append([event.step, *map(_short, scored)])
            self._state["summary"] = _pair_look_told(event)
        elif isinstance(event, Finished | Stopped | Failed):
            told = _tested(event.result) if not isinstance(event, Failed) else ""
            self._state |= {"done": True, "summary": told}
            if isinstance(event, Finished | Stopped):
                self._state["status"] = _ended(event, self._data, self._examples)
        return not isinstance(event, Step | Scoring)

    def message(self) -> str:
        """What the component is to be given now."""
        done = self._state["done"]
        points = {name: rows if done else rows[self._before[name] :] for name, rows in self._all.items()}
        self._before = dict(self._sent)
        self._sent = {name: len(rows) for name, rows in self._all.items()}
        return json.dumps(self._state | points).replace("<", "\\u003c")


def shown_now(events: Iterator[Event], feed: CurveFeed) -> Iterator[Event]:
    """Those events after which the page is to be told; the others are only noted. Closing this closes `events`."""
    shown_at = 0.0
    try:
        for event in events:
            if feed.take(event) or time.monotonic() - shown_at >= DRAW_SECONDS:
                yield event
                shown_at = time.monotonic()
    finally:
        events.close()  # type: ignore[attr-defined]


def idle_message(dataset: Dataset, baseline: float) -> str:
    """The empty axes before a run, with what guessing would reach."""
    state = {
        "run": "",
        "done": True,
        "steps": [],
        "looks": [],
        "guess": _short(math.log(len(dataset.labels))),
        "baseline": _short(baseline),
        "status": "Nothing is trained yet. The dashed lines are what guessing reaches: beat them.",
    }
    return json.dumps(state).replace("<", "\\u003c")


def failure_message(told: str) -> str:
    """Empty axes, and why a run could not even begin."""
    feed = CurveFeed("none", "")
    feed.take(Failed(told))
    return feed.message()


def duration(seconds: float) -> str:
    """ "8 s", "1 min 20 s"."""
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def _short(value: float) -> float | None:
    return round(value, 4) if math.isfinite(value) else None


def _when(event: Epoch | PairLook) -> str:
    epochs = f"{event.epoch:.2g} epoch{'' if event.epoch == 1 else 's'}"
    return f"After {epochs}" if event.step else "Before training"


def _pair_look_told(event: PairLook) -> str:
    loss = f"{_when(event)}, on the held-out pairs: loss {event.validation_loss:.3f}"
    if math.isnan(event.spearman):
        return f"{loss}; all their cosines are equal, so they have no order."
    return f"{loss}, ρ {event.spearman:.2f} ({event.low:.2f} to {event.high:.2f})."


def _look_told(event: Epoch) -> str:
    when = _when(event)
    return f"{when}: validation loss {event.validation_loss:.2f}, validation accuracy {event.validation_score:.0%}."


def _step_told(event: Step, examples: str) -> str:
    return (
        f"Step {event.step:,} of {event.total_steps:,} · learning rate {event.learning_rate:.1e} · "
        f"{event.examples_per_second:.0f} {examples}/s · about {duration(event.seconds_left)} left"
    )


def _ended(event: Finished | Stopped, data: str, examples: str) -> str:
    result = event.result
    begin = "Trained" if isinstance(event, Finished) else "Out of time" if event.reason == "time" else "Stopped"
    speed = f"{result.examples_per_second:.0f} {examples}/s"
    return f"{begin} after {result.steps:,} steps and {duration(result.seconds)} on {data} ({speed})."


def _tested(result: Result | PairResult) -> str:
    if isinstance(result, PairResult):
        return f"On the held-out pairs the loss went from {result.loss_before:.3f} to {result.loss:.3f}."
    return (
        f"It is right on {result.accuracy:.0%} of the test sentences; always answering “{result.majority_label}” "
        f"is on {result.majority_accuracy:.0%}."
    )


_STATUS: dict[type, Callable[[Any, str], str]] = {
    Waiting: lambda event, _: f"Another training runs on this machine; you are number {event.place} in the queue.",
    Started: lambda event, _: f"Loaded on {event.device}, {event.precision}; a first look before training…",
    Step: _step_told,
    Scoring: lambda event, examples: f"Scoring the {event.split} {examples}: {event.done:,} of {event.total:,}",
    Failed: lambda event, _: event.message,
}
