"""Live pre-training on the page: the effect of a press, and the part before the first one."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import gradio as gr

from demos.bert.encoder.size import shape_of
from demos.lessons.pretraining.learn.curve import Feed
from demos.lessons.pretraining.learn.figure import gradient_figure, learn_code, moved_figure
from demos.lessons.pretraining.learn.text import (
    TEXT,
    batch_html,
    cut_html,
    guesses_html,
    loss_summary,
    original_html,
    rows_html,
    top_rows_html,
)
from demos.page.services import Services
from demos.training.events import Failed, Waiting
from demos.training.pretraining.batches import Instance
from demos.training.pretraining.copies import Keeper, Point, Situation
from demos.training.pretraining.learner import CLIP
from demos.training.pretraining.live import MAX_SECONDS, Event, FirstLook, Learned, Made, Presses, first_look
from demos.training.service.background import BEAT_SECONDS, Changes
from demos.widgets.live_curve.text import duration, waiting_text
from demos.widgets.run_controller.run_controller import guarded

OPENING = 100  # steps on the empty axes
MAX_CACHED_VIEWS = 8  # openings remembered: a lecture's readers open the same one
CHANGED = ("run", "ran", "curve", "trained_on", "one", "many", "fresh", "stop")  # by a press


@dataclass(frozen=True, eq=False)
class Ran:
    """The state after the page's last press."""

    copy: str  # the id of the reader's copy
    situation: Situation
    shown: Mapping[str, Any]  # what the page shows of it
    keeper: Keeper | None = None  # the copy is let go when the last state that has its keeper is gone


class Learning:
    """The part's handlers, for all its readers. Each reader's page remembers which copy is theirs."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.presses = Presses(services.trainings)
        self._feeds: dict[str, Feed] = {}
        self._seen = lru_cache(maxsize=MAX_CACHED_VIEWS)(self._look)

    def opening(self, situation: Situation, status: str) -> Changes:
        """The part before the first step: the first batch and its loss, and the guesses."""
        pretrained, look = self.services.pretrained(situation.model), self._seen(situation)
        feed = Feed("", len(pretrained.tokenizer), OPENING)
        feed.points = [Point(1, look.masked, math.nan, math.nan, math.nan, math.nan)]
        return {
            "curve": feed.message(done=True, status=status, fresh=True, said=""),
            "step": "",
            "guesses": guesses_html(pretrained, situation.passage, look.probes, look.before),
            "after": gr.update(visible=False),
            "batch": batch_html(pretrained, look.instances, 1),
            "numbers": TEXT.no_numbers(),
            "cost": self.cost(situation, look.seconds_a_step),
            "original": self.original(situation, look.instances, look.seconds_a_step),
        }

    def cut(self, situation: Situation) -> str:
        """The text as cut into sentences, and which of them are held out."""
        return cut_html(self.services.pretrained(situation.model), situation.passage)

    def program(self, situation: Situation) -> str:
        """The first step as a program."""
        spec = self.services.pretrained(situation.model).encoder.spec
        return learn_code(spec, self._seen(situation).instances, situation.recipe.rate)

    def _look(self, situation: Situation) -> FirstLook:
        return first_look(self.services.pretrained(situation.model), situation)

    def cost(self, situation: Situation, guess: float = math.nan) -> str:
        """The time of a hundred steps: by the last similar ones, else by an estimate of the seconds for a step."""
        seconds = self.presses.expected(situation, 100)
        measured = not math.isnan(seconds)
        seconds = seconds if measured else 100 * guess
        if math.isnan(seconds):
            return ""
        return TEXT.cost(duration(seconds), measured, MAX_SECONDS / 60 if seconds > MAX_SECONDS else None)

    def original(self, situation: Situation, instances: Sequence[Instance], seconds: float) -> str:
        """BERT's own pre-training, and how long it would take here; `seconds` is a step's, measured or guessed."""
        loaded = self.services.pretrained(situation.model).encoder
        measured = not math.isnan(self.presses.expected(situation, 1))
        tokens = sum(len(instance.segments) for instance in instances) * (1 + situation.recipe.untrained)
        return original_html(loaded.spec.title, shape_of(loaded.spec.title, loaded.model), tokens, seconds, measured)

    def press(self, run: str, situation_of: Callable[[], Situation], ran: Ran | None, steps: int) -> Iterator[Changes]:
        """One press, as changes to the page by their names; what breaks it leaves working buttons and the copy.

        `ran` is what the page's last press left: its copy goes on if the situation is still the same.
        """
        over: Changes = {"run": "", **press_buttons(running=False)}

        def failed(message: str) -> Changes:
            return {**self._left(ran), "curve": _broken(message), "run": ""}

        try:
            for changes in guarded(lambda: self._changes(run, situation_of, ran, steps), failed):
                yield {**over, **changes} if changes.get("run") == "" else changes
        finally:
            self._feeds.pop(run, None)

    def _changes(
        self, run: str, situation_of: Callable[[], Situation], ran: Ran | None, steps: int
    ) -> Iterator[Changes]:
        yield press_buttons(running=True)
        situation = situation_of()
        pretrained = self.services.pretrained(situation.model)
        copy_id, keeper = (ran.copy, ran.keeper) if ran else ("", None)
        if ran and ran.situation != situation:
            self.presses.copies.discard(copy_id)
            copy_id, keeper = "", None
        feed = self._feeds[run] = Feed(run, len(pretrained.tokenizer), max(steps, 10))
        with closing(self.presses.press(run, copy_id, situation, pretrained, steps)) as events:  # type: ignore[type-var]
            yield {"curve": feed.message()}
            due = time.monotonic() + BEAT_SECONDS
            for event in events:
                self._take(feed, event, steps)
                if isinstance(event, Learned):
                    keeper = keeper or self.presses.copies.keeper(run)
                    learned = Ran(copy_id or run, situation, self._learned(feed, event, situation), keeper)
                    yield {"run": "", "ran": learned, "curve": learned.shown["curve"]}
                elif isinstance(event, Failed):
                    yield {"run": "", **self._left(ran), "curve": feed.message(done=True)}
                elif time.monotonic() >= due:
                    yield {"curve": feed.message()}
                    due = time.monotonic() + BEAT_SECONDS

    def _left(self, ran: Ran | None) -> Changes:
        """The reader's copy after a press that failed: it stays if it is still there."""
        return {} if ran is None or self.presses.copies.has(ran.copy) else {"ran": None}

    def _take(self, feed: Feed, event: Event, steps: int) -> None:
        """Note an event, which the curve fetches by itself."""
        if isinstance(event, Waiting):
            feed.state["status"] = waiting_text(event.place, event.seconds)
        elif isinstance(event, Made):
            feed.points = list(event.points)
            feed.state["total"] = max(len(event.points) + steps, 10)
            feed.state["status"] = "Your copy of the model is ready; the first step is running …"
        elif isinstance(event, Point):
            feed.points = [*feed.points, event]
            feed.state["status"] = f"Step {event.step:,} of {feed.state['total']:,}" if steps > 1 else ""
        elif isinstance(event, Failed):
            feed.state["status"] = event.message

    def _learned(self, feed: Feed, event: Learned, situation: Situation) -> Changes:
        pretrained = self.services.pretrained(situation.model)
        step = event.points[-1].step
        early = {"asked": "Stopped. ", "time": "The time limit was reached. "}.get(event.reason, "")
        status = (
            f"{early}Your copy of the model has been trained for {step:,} step{'s' * (step != 1)}, "
            f"{event.seconds_a_step:.2f} s per step."
        )
        feed.points = list(event.points)
        limit = situation.recipe.rate * math.sqrt(pretrained.decoder.in_features)
        return {
            "curve": feed.message(done=True, status=status, said=loss_summary(event)),
            "step": TEXT.step(step, event.last, CLIP),
            "guesses": guesses_html(pretrained, situation.passage, event.probes, event.before, event),
            "after": gr.update(visible=True),
            "gradient": gradient_figure(event.last.norms),
            "moved": moved_figure(event.rows),
            "rows": rows_html(event.rows, event.steps, step, limit),
            "top": top_rows_html(pretrained.tokenizer, event.rows),
            "batch": batch_html(pretrained, event.instances, step, event),
            "numbers": TEXT.numbers(event.points),
            "cost": self.cost(situation),
            "original": self.original(situation, event.instances, event.seconds_a_step),
        }

    def news(self, question: Any) -> str:
        """The answer to the curve's request [run, the last step it has]; "" if there is no such run."""
        try:
            run, after = question
            feed = self._feeds.get(str(run))
            return feed.message(min(max(0, int(after)), 10**6)) if feed else ""
        except (TypeError, ValueError, OverflowError):
            return ""


def press_buttons(running: bool) -> Changes:
    """Stop, or the buttons that begin a press."""
    usable = {name: gr.update(interactive=not running) for name in ("one", "many", "fresh")}
    return usable | {"stop": gr.update(interactive=running)}


def _broken(message: str) -> str:
    feed = Feed("", 30_522, OPENING)
    return feed.message(done=True, status=message)
