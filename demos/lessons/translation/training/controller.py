"""A training on the page: the changes by each event, and the runs of this page side by side."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from demos.bert.translation.alignment import weights_for
from demos.bert.translation.grammar import Pair
from demos.bert.translation.gru import END, SPECIAL
from demos.bert.translation.tasks import DATES, FRENCH, TASKS
from demos.bert.translation.translators import TRANSFORMER
from demos.bert.translation.waiting import waiting
from demos.lessons.translation.figure import alignment_figure, curves_figure, shares_by_length
from demos.page.services import Services
from demos.templates import templates
from demos.training.events import Failed, Finished, Started, Stopped
from demos.training.service.background import BEAT_SECONDS, Changes
from demos.training.translation.live import train_live
from demos.training.translation.training import Aligned, Plan, untrained
from demos.widgets.live_curve.feeds import Feeds
from demos.widgets.live_curve.live_curve import CurveFeed, failure_message, shown_now
from demos.widgets.run_controller.run_controller import buttons

TEXT = templates(__file__)
NAMES = {
    "additive": "GRU, attention",
    "dot": "GRU, attention, dot product",
    "none": "GRU, no attention",
    TRANSFORMER: "Transformer",
}
DATA = {FRENCH: "the grammar's sentences", DATES: "dates in words"}
LANGUAGES = {FRENCH: "fr", DATES: "en"}  # of the output
MOST_RUNS = 3  # shown side by side
CHANGED = ("run", "plot", "says", "curve", "start", "stop", "ran", "runs", "curves", "numbers")
AXES = {
    "titles": [["Loss", "cross-entropy per word"], ["Correct sentences", "held-out, word by word"]],
    "legend": {"train": "training, each batch and smoothed", "validation": "held-out sentences", "guess": ""},
}


@dataclass(frozen=True)
class Ran:
    """A run that ended on this page."""

    task: str
    name: str
    parameters: int
    steps: int
    seconds: float
    right: tuple[bool, ...]
    looks: tuple[tuple[int, float], ...] = ()  # (step, share of the held-out sentences that are right)


@cache
def untrained_weights(task: str) -> np.ndarray:
    """[m, n]: the weights of the task's example in a translator that has learned nothing yet."""
    return weights_for(untrained(Plan(task=task)), TASKS[task].example())


def idle(task: str) -> Changes:
    """The part before any run: empty axes, and the weights of a translator that has learned nothing yet."""
    pair, weights = TASKS[task].example(), untrained_weights(task)
    status = "Nothing has been trained yet; click Start."
    curve = {**AXES, "run": "", "done": True, "steps": [], "looks": [], "status": status}
    return {
        "plot": alignment_figure(pair.source, pair.target, weights, pair.links),
        "says": TEXT.before(pair.source, pair.target, LANGUAGES[task]),
        "curve": json.dumps(curve),
        "runs": "",
        "curves": None,
        "numbers": TEXT.no_numbers(),
    }


class Trainer:
    """The part's runs, for all its readers."""

    def __init__(self, services: Services) -> None:
        self.trainings = services.trainings
        self.feeds = Feeds()

    def train(self, run: str, plan: Plan, ran: tuple[Ran, ...]) -> Iterator[Changes]:
        """One run, as changes to the page by their names in CHANGED."""
        pair, parameters = TASKS[plan.task].example(), 0
        feed = CurveFeed(run, DATA[plan.task], axes=AXES, recipe=f"a translator, {NAMES[plan.score]}")
        events = shown_now(train_live(self.trainings, run, plan, pair), feed, BEAT_SECONDS)  # type: ignore[arg-type]
        try:
            with self.feeds.showing(run, feed):
                for event in events:
                    if isinstance(event, Aligned):
                        yield drawn(pair, plan, event)
                    elif isinstance(event, Finished | Stopped):
                        result = event.result
                        new = Ran(
                            task=plan.task,
                            name=NAMES[plan.score],
                            parameters=parameters,
                            steps=result.steps,
                            seconds=result.seconds,
                            right=result.right,  # type: ignore[attr-defined]
                            looks=tuple((step, score) for step, _, _, score in feed.looks),  # type: ignore[misc]
                        )
                        yield {
                            "run": "",
                            "curve": feed.message(),
                            **buttons(False),
                            **compared((*(earlier for earlier in ran if earlier.task == new.task), new)[-MOST_RUNS:]),
                        }
                    elif isinstance(event, Failed):
                        yield {"run": "", "curve": feed.message(), **buttons(False)}
                    else:
                        parameters = event.parameters if isinstance(event, Started) else parameters
                        yield {"curve": feed.message()}
        finally:
            events.close()  # type: ignore[attr-defined]

    def failed(self, message: str) -> Changes:
        """The reason why a run ended or never began; Start is enabled again."""
        return {"curve": failure_message(message), "run": "", **buttons(False)}


def drawn(pair: Pair, plan: Plan, event: Aligned) -> Changes:
    """The weights of the watched sentence after this many steps, and its translation by then."""
    right = event.written[:-1] == pair.target
    weights = np.array(event.weights)
    words = tuple(word for word in event.written if word != SPECIAL[END])
    attends = plan.score != "none"
    changes = {"says": TEXT.says(event.step, pair.source, words, pair.target, attends, LANGUAGES[plan.task])}
    if attends:
        changes["plot"] = alignment_figure(pair.source, event.written, weights, pair.links if right else ())
    return changes


def compared(ran: tuple[Ran, ...]) -> Changes:
    """The runs of this page on the last one's task, side by side."""
    lengths = [len(pair.source) for pair in TASKS[ran[-1].task].held_out()]
    shares = [shares_by_length(lengths, run.right) for run in ran]
    curves = curves_figure([(run.name, run.looks) for run in ran])
    return {
        "ran": ran,
        "runs": TEXT.runs(ran),
        "curves": curves,
        "numbers": TEXT.numbers(ran, list(zip(*shares, strict=True))),
    }


def waits(task: str) -> Any:
    """The sequential steps in the task's watched sentence, recurrent and not."""
    pair = TASKS[task].example()
    n, m = len(pair.source), len(pair.target) + 1
    return TEXT.waits(n, m, [("GRU", waiting("additive", n, m)), ("Transformer", waiting(TRANSFORMER, n, m))])
