"""The live curve: a component that receives only new points, and the feed that turns events into points."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from demos.figures.short_text import short
from demos.files import Json, read_beside
from demos.templates import in_script
from demos.training.events import (
    BINARY,
    Caching,
    Epoch,
    Event,
    Failed,
    Finished,
    Look,
    PairLook,
    Scoring,
    Started,
    Step,
    Stopped,
    Waiting,
    Watched,
)
from demos.training.metrics import CORRELATIONS
from demos.widgets.live_curve.text import (
    LONGEST,
    NOTHING_ON,
    STATUS,
    dashed_lines_text,
    ended_text,
    look_text,
    pair_look_text,
    result_text,
    score_text,
)
from demos.widgets.live_curve.text import duration as duration  # for the modules that draw a curve

SCRIPT = read_beside(__file__, "live.js")  # for the page's head: all curves share it
CROSS_ENTROPY = Started.loss_name
MAX_POINTS = 600  # steps drawn; in longer runs neighbours are averaged
# of a run's state, for readers who wait
PUBLIC = ("step", "total", "perEpoch", "titles", "shares", "stacked", "most")
DRAWN = ("loss", "score", "learning_rate", "gradient_norm")  # of a step, in the order of a point


def live_curve(news: Callable[[Any], str], **options: Any) -> gr.HTML:
    """The component, filled with a `CurveFeed`'s messages. A function, since gradio writes stubs beside subclasses.

    While a run is drawn, the component requests new points a few times a second:
    news([run, steps, looks, watched]) is a message, or "". A message of an event makes the browser go through the whole
    page, which on a page of this size is most of a second's work; an answer to this request costs only its drawing.
    """

    return live_picture(news, read_beside(__file__, "live_curve.html"), read_beside(__file__, "script.js"), **options)


def live_picture(news: Callable[[Any], str], html: str, script: str, **options: Any) -> gr.HTML:
    """A component that draws itself by `script` from the messages that it requests of `news` while something runs."""

    def server_news(question: Any) -> str:
        return news(question)

    return gr.HTML(
        None,
        html_template=html,
        js_on_load=script,
        apply_default_css=False,
        server_functions=[server_news],
        **options,
    )


@dataclass(frozen=True)
class Watcher:
    """The labels for the few validation examples whose answers are watched."""

    series: tuple[str, ...]  # what the probabilities are of: the classes
    describe: Callable[[int], tuple[str, int]]  # the example's place -> (its words, which of the series is right)
    values: Callable[[int, Any], Sequence[float]]  # (its place, the task's answer) -> one probability per series


class CurveFeed:
    """One run's messages: the words beside the curve, and at its end all points. Until then the curve requests them.

    JSON text and no dict: gradio wraps dicts. `examples` is the name of the run's examples in the words beside the
    curve; `axes` describes panels other than loss and score to script.js. `recipe` says in a few words what is trained
    and how: with it, a reader who waits for this run may watch another one, and this one may be watched.
    """

    def __init__(
        self,
        run: str,
        data: str,
        examples: str = "sentences",
        axes: Mapping[str, Any] | None = None,
        watcher: Watcher | None = None,
        recipe: str = "",
    ) -> None:
        self._data = data  # the data set's name
        self._examples = examples
        self._state: Json = {"run": run, "done": False, **(axes or {})}
        self._bin: list[Step] = []
        self._width = 1
        self._watcher = watcher
        self.recipe = recipe
        self._example_places: tuple[int, ...] = ()
        self._metric = "accuracy"
        self._waiting = ""  # what was last said of its place in the line
        self._all: dict[str, list[Any]] = {"steps": [], "looks": [], "watched": []}

    @property
    def looks(self) -> list[list[float | None]]:
        """Every look so far: step, training loss (null at 0), validation loss and score (and its interval)."""
        return self._all["looks"]

    @property
    def steps(self) -> list[list[float | None]]:
        """The steps' points so far: step, then DRAWN."""
        return self._all["steps"]

    def take(self, event: Event) -> bool:
        """Note the event; True if the page should be updated at once, since the curve fetches its points by itself."""
        self._state["waiting"] = isinstance(event, Waiting) and bool(self.recipe)
        status_text = STATUS.get(type(event))
        if status_text:
            self._state["status"] = status_text(event, self._examples)
        if isinstance(event, Started):
            self._start(event)
        elif isinstance(event, Step):
            self._state["step"] = event.step
            self._bin.append(event)
            if len(self._bin) >= self._width or event.step == event.total_steps:
                means = [sum(getattr(step, name) for step in self._bin) / len(self._bin) for name in DRAWN]
                self._all["steps"].append([event.step, *map(_short, means)])
                self._bin = []
        elif isinstance(event, Epoch):
            values = (event.train_loss, event.validation_loss, event.validation_score)
            self._all["looks"].append([event.step, *map(_short, values)])
            self._state["summary"] = look_text(event, self._metric)
        elif isinstance(event, PairLook):
            scored = (event.train_loss, event.validation_loss, event.spearman, event.low, event.high)
            self._all["looks"].append([event.step, *map(_short, scored)])
            self._state["summary"] = pair_look_text(event)
        elif isinstance(event, Watched) and self._watcher is not None:
            rows = [
                self._watcher.values(place, answer)
                for place, answer in zip(self._example_places, event.answers, strict=True)
            ]
            self._all["watched"].append([event.step, [[_short(value) for value in row] for row in rows]])
        elif isinstance(event, Finished | Stopped | Failed):
            summary = result_text(event.result) if not isinstance(event, Failed) else ""
            self._state |= {"done": True, "summary": summary}
            if isinstance(event, Finished | Stopped):
                self._state["status"] = ended_text(event, self._data, self._examples)
        if isinstance(event, Waiting):
            moved, self._waiting = self._state["status"] != self._waiting, self._state["status"]
            return moved
        return not isinstance(event, Step | Look | Watched | Scoring | Caching)

    def _start(self, event: Started) -> None:
        """The axes' ends, the baseline, and the examples to watch."""
        self._width = math.ceil(event.total_steps / MAX_POINTS)
        self._metric = event.metric
        self._state |= {"total": event.total_steps, "perEpoch": event.steps_per_epoch}
        self._state.setdefault("titles", titles(event.metric, event.loss_name))
        self._state.setdefault("shares", event.metric not in CORRELATIONS)
        baseline = event.baseline, event.baseline_watched
        beaten = _beaten(event.metric, baseline, len(event.labels), event.mean_loss, event.loss_name)
        self._state |= beaten | {"legend": {**self._state.get("legend", {}), **beaten["legend"]}}
        if self._watcher is not None and event.watched:
            self._example_places = event.watched
            self._state |= {"series": self._watcher.series}
            self._example_texts = [self._watcher.describe(place) for place in event.watched]

    def message(self) -> str:
        """The message for the component now."""
        return self.news(0, 0, 0) if self._state["done"] else self._written({name: [] for name in self._all})

    def news(self, steps: int, looks: int, example_points: int) -> str:
        """The same for a page that has these numbers of points; may be called in another thread than `take`."""
        have = {"steps": steps, "looks": looks, "watched": example_points}
        return self._written({name: rows[have[name] :] for name, rows in self._all.items()})

    def shown_as(self, name: str, steps: int, looks: int) -> str:
        """The curve for others to whom its reader shows it, under that name: without the examples that are watched."""
        points = {"steps": self.steps[steps:], "looks": self.looks[looks:], "watched": []}
        return in_script({**self._state, **points, "run": name, "waiting": False, "shared": True})

    @property
    def is_on(self) -> bool:
        """Whether it has a curve that others may watch."""
        return bool(self.recipe) and "total" in self._state and not self._state["done"]

    def watching(self, other: CurveFeed | None, number: int, steps: int, looks: int) -> str:
        """While this run waits: its place, and `other`'s curve and recipe, but no word of that reader's data.

        `number` identifies the other run, of which the reader has so many steps and looks. Without another run, or once
        this run has begun, its own message.
        """
        if not self._state.get("waiting"):
            return self.message()
        if other is None:
            points: dict[str, list[Any]] = {name: [] for name in self._all}
            return in_script({**self._state, **points, "shows": 0, "summary": NOTHING_ON})
        public = {name: other._state[name] for name in PUBLIC if name in other._state}
        public |= {"run": self._state["run"], "done": False, "waiting": True, "shows": number}
        public |= {"steps": other.steps[steps:], "looks": other.looks[looks:]}
        return in_script(
            public | {"status": self._state["status"], "summary": f"This is the current run: {other.recipe}."}
        )

    def _written(self, points: dict[str, list[Any]]) -> str:
        if points["watched"]:  # sent with their points, so that the other messages stay small
            points["examples"] = self._example_texts
        return in_script(self._state | points)


def titles(metric: str, loss: str = CROSS_ENTROPY) -> list[list[str]]:
    """The two panels' titles and what to say of them."""
    return [["Loss", f"{loss}, lower is better"], [metric[:1].upper() + metric[1:], "higher is better"]]


def shown_now(events: Iterator[Event], feed: CurveFeed, seconds: float) -> Iterator[Event]:
    """The events after which the page must be updated; the others are only noted. Closing this closes `events`.

    The page is updated if `CurveFeed.take` says so, else every `seconds`: the curve requests points by itself.
    """
    shown_at = 0.0
    try:
        for event in events:
            if feed.take(event) or time.monotonic() - shown_at >= seconds:
                yield event
                shown_at = time.monotonic()
    finally:
        events.close()  # type: ignore[attr-defined]


def _beaten(metric: str, baseline: tuple[str, float], classes: int, mean_loss: float | None, loss: str) -> Json:
    """The dashed lines: the loss of guessing among so many classes, and the task's baseline (words, score).

    Where answers are numbers, the loss is `mean_loss`, of always giving the mean. Loss and score are on the validation
    examples, as the curve's are.
    """
    name, score = short(baseline[0], LONGEST), baseline[1]
    value = _short(score) if name else None
    choices = 2 * (loss == BINARY) if BINARY in loss else classes  # yes or no for each label; weighted, no such loss
    guess = _short(math.log(choices) if choices else mean_loss)
    guessed = "guessing" if classes else "always the mean score"
    legend = {
        "guess": dashed_lines_text(guessed if guess is not None else "", name if value is not None else "", metric)
    }
    return {"guess": guess, "guessed": guessed, "baseline": value, "beaten": name, "legend": legend}


def idle_message(
    metric: str, baseline: tuple[str, float], classes: int, mean_loss: float | None = None, loss: str = CROSS_ENTROPY
) -> str:
    """The empty axes before a run, with the task's baseline (words, score)."""
    beaten = _beaten(metric, baseline, classes, mean_loss, loss)
    value = beaten["baseline"]
    hint = "" if value is None else f" Baseline: {beaten['beaten']}, {score_text(metric, value)}."
    state = {
        "run": "",
        "done": True,
        "steps": [],
        "looks": [],
        "titles": titles(metric, loss),
        "shares": metric not in CORRELATIONS,
        "status": f"Nothing has been trained yet; click Start.{hint}",
        **beaten,
    }
    return in_script(state)


def failure_message(message: str) -> str:
    """Empty axes, and why a run could not even begin."""
    feed = CurveFeed("none", "")
    feed.take(Failed(message))
    return feed.message()


def _short(value: float | None) -> float | None:
    return float(f"{value:.4g}") if value is not None and math.isfinite(value) else None
