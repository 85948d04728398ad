"""The live curve: a component that is sent only the new points of a training, and what turns events into points."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from demos.page.assets import read_asset
from demos.page.curve_told import STATUS, ended_told, look_told, pair_look_told, tested_told
from demos.page.curve_told import duration as duration  # whoever draws a curve tells durations
from demos.training.events import (
    Caching,
    Epoch,
    Event,
    Failed,
    Finished,
    PairLook,
    Scoring,
    Started,
    Step,
    Stopped,
    Watched,
)

DRAW_SECONDS = 0.2  # between two messages to the page
MAX_POINTS = 600  # steps drawn; in longer runs neighbours are averaged
DRAWN = ("loss", "score", "learning_rate", "gradient_norm")  # of a step, in the order of a point


def live_curve(news: Callable[[Any], str] | None = None, **options: Any) -> gr.HTML:
    """The component, filled with a `CurveFeed`'s messages. A function, since gradio writes stubs beside subclasses.

    With `news` it asks by itself, a few times a second while a run is drawn, for what came since the points it has:
    news([run, steps, looks, watched]) is a message, or "". A message of an event makes the browser go through the whole
    page, which on a page of this size is most of a second's work; an answer to this question costs its drawing alone.
    """
    functions: list[Callable[..., Any]] = []
    if news is not None:

        def server_news(asked: Any) -> str:
            return news(asked)

        functions = [server_news]
    return gr.HTML(
        None,
        html_template=read_asset("curve.html"),
        js_on_load=read_asset("curve.js"),
        apply_default_css=False,
        server_functions=functions or None,
        **options,
    )


@dataclass(frozen=True)
class Watcher:
    """How the few validation examples whose answers are watched are told."""

    series: tuple[str, ...]  # what the probabilities are of: the classes
    told: Callable[[int], tuple[str, int]]  # the example's place -> (its words, which of the series is right)
    values: Callable[[int, Any], Sequence[float]]  # (its place, the task's answer) -> one probability a series


class CurveFeed:
    """One run's messages. Each holds the points since the last message, and once more those of the last one.

    Twice, because a browser may swallow one of two messages that come at once; points go by their step, so that
    drawing one twice changes nothing. The final message holds all of them. JSON text and no dict: gradio wraps dicts.
    `examples` is what the run learns from, as the words beside the curve call it; `axes` what assets/curve.js is told
    of panels that are not loss and score.
    """

    def __init__(
        self,
        run: str,
        data: str,
        examples: str = "sentences",
        axes: Mapping[str, Any] | None = None,
        watcher: Watcher | None = None,
    ) -> None:
        self._data = data  # the data set's name
        self._examples = examples
        self._state: dict[str, Any] = {"run": run, "done": False, **(axes or {})}
        self._bin: list[Step] = []
        self._width = 1
        self._watcher = watcher
        self._watched: tuple[int, ...] = ()
        self._metric = "accuracy"
        self._all: dict[str, list[Any]] = {"steps": [], "looks": [], "watched": []}
        self._sent = dict.fromkeys(self._all, 0)
        self._before = dict.fromkeys(self._all, 0)

    @property
    def looks(self) -> list[list[float | None]]:
        """Every look so far: step, training loss (null at 0), validation loss and score (and its interval)."""
        return self._all["looks"]

    @property
    def steps(self) -> list[list[float | None]]:
        """The steps' points so far: step, then DRAWN."""
        return self._all["steps"]

    def take(self, event: Event) -> bool:
        """Note the event; True where it should be shown at once."""
        said = STATUS.get(type(event))
        if said:
            self._state["status"] = said(event, self._examples)
        if isinstance(event, Started):
            self._start(event)
        elif isinstance(event, Step):
            self._state["step"] = event.step
            self._bin.append(event)
            if len(self._bin) >= self._width or event.step == event.total_steps:
                means = [sum(getattr(one, name) for one in self._bin) / len(self._bin) for name in DRAWN]
                self._all["steps"].append([event.step, *map(_short, means)])
                self._bin = []
        elif isinstance(event, Epoch):
            values = (event.train_loss, event.validation_loss, event.validation_score)
            self._all["looks"].append([event.step, *map(_short, values)])
            self._state["summary"] = look_told(event, self._metric)
        elif isinstance(event, PairLook):
            scored = (event.train_loss, event.validation_loss, event.spearman, event.low, event.high)
            self._all["looks"].append([event.step, *map(_short, scored)])
            self._state["summary"] = pair_look_told(event)
        elif isinstance(event, Watched) and self._watcher is not None:
            rows = [self._watcher.values(*one) for one in zip(self._watched, event.answers, strict=True)]
            self._all["watched"].append([event.step, [[_short(value) for value in row] for row in rows]])
        elif isinstance(event, Finished | Stopped | Failed):
            told = tested_told(event.result) if not isinstance(event, Failed) else ""
            self._state |= {"done": True, "summary": told}
            if isinstance(event, Finished | Stopped):
                self._state["status"] = ended_told(event, self._data, self._examples)
        return not isinstance(event, Step | Scoring | Caching)

    def _start(self, event: Started) -> None:
        """The axes' ends, what guessing reaches, and the examples to watch."""
        self._width = math.ceil(event.total_steps / MAX_POINTS)
        self._metric = event.metric
        self._state |= {"total": event.total_steps, "perEpoch": event.steps_per_epoch}
        self._state.setdefault("titles", titles(event.metric))
        if event.baseline:
            self._state["baseline"] = _short(event.baseline_score)
        if event.labels:
            self._state["guess"] = _short(math.log(len(event.labels)))
        if self._watcher is not None and event.watched:
            self._watched = event.watched
            self._state |= {"series": self._watcher.series}
            self._examples_told = [self._watcher.told(place) for place in event.watched]

    def message(self) -> str:
        """What the component is to be given now."""
        done = self._state["done"]
        points = {name: rows if done else rows[self._before[name] :] for name, rows in self._all.items()}
        self._before = dict(self._sent)
        self._sent = {name: len(rows) for name, rows in self._all.items()}
        return self._written(points)

    def news(self, steps: int, looks: int, watched: int) -> str:
        """The same for who has so many points of each kind; may be asked in another thread than `take`."""
        have = {"steps": steps, "looks": looks, "watched": watched}
        return self._written({name: rows[have[name] :] for name, rows in self._all.items()})

    def _written(self, points: dict[str, Any]) -> str:
        if points["watched"]:  # told with their points, so that the other messages stay small
            points["examples"] = self._examples_told
        return json.dumps(self._state | points).replace("<", "\\u003c")


def titles(metric: str) -> list[list[str]]:
    """The two panels' titles and what to say of them."""
    return [["Loss", "cross-entropy, lower is better"], [metric[:1].upper() + metric[1:], "higher is better"]]


def shown_now(
    events: Iterator[Event], feed: CurveFeed, seconds: float | None = None, asked: bool = False
) -> Iterator[Event]:
    """Those events after which the page is to be told; the others are only noted. Closing this closes `events`.

    Told it is after each look, and every `seconds` (None: DRAW_SECONDS). Where the page asks for points by itself
    (`asked`), looks are not told at once.
    """
    shown_at = 0.0
    try:
        for event in events:
            due = feed.take(event) and not (asked and isinstance(event, Epoch | Watched))
            wait = DRAW_SECONDS if seconds is None else seconds
            if due or time.monotonic() - shown_at >= wait:
                yield event
                shown_at = time.monotonic()
    finally:
        events.close()  # type: ignore[attr-defined]


def idle_message(metric: str, baseline: float, classes: int) -> str:
    """The empty axes before a run, with what guessing would reach (NaN, 0: nothing to tell)."""
    guess = _short(math.log(classes)) if classes else None
    told = ", and beat the dashed lines: they are guessing" if guess else ""
    state = {
        "run": "",
        "done": True,
        "steps": [],
        "looks": [],
        "guess": guess,
        "baseline": _short(baseline),
        "titles": titles(metric),
        "status": f"Nothing is trained yet: press Start{told}.",
    }
    return json.dumps(state).replace("<", "\\u003c")


def failure_message(told: str) -> str:
    """Empty axes, and why a run could not even begin."""
    feed = CurveFeed("none", "")
    feed.take(Failed(told))
    return feed.message()


def _short(value: float) -> float | None:
    return float(f"{value:.4g}") if math.isfinite(value) else None
