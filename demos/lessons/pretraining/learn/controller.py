"""Live pre-training on the page: what a press does, and what the part shows before the first one."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import astuple
from functools import lru_cache
from typing import Any

import gradio as gr

from demos.errors import UserError
from demos.lessons.pretraining.learn.curve import Feed
from demos.lessons.pretraining.learn.figure import gradient_figure, moved_figure
from demos.lessons.pretraining.learn.text import asked_told, batch_told, code_told, cut_told, random_told, said_told
from demos.lessons.pretraining.learn.text_tables import (
    far_first,
    numbers_html,
    rows_html,
    step_html,
    top_rows_html,
)
from demos.page.lesson import OUR_FAULT
from demos.page.services import Services
from demos.training.events import Failed, Waiting
from demos.training.pretraining.copies import Point, Recipe, Situation
from demos.training.pretraining.learner import CLIP
from demos.training.pretraining.live import MAX_SECONDS, Event, FirstLook, Learned, Made, Presses, first_look
from demos.training.pretraining.passage import read_passage
from demos.widgets.live_curve.text import duration

BEAT_SECONDS = 6.0  # between two messages of a press: at each one it is noticed that a page is gone
AGAIN_SECONDS = 1.0  # and after the first one: a busy browser may swallow one of two that come at once
OPENING = 100  # steps on the empty axes
KEPT_VIEWS = 8  # openings remembered: a lecture's readers open the same one
CONTROLS = ("text", "rate", "size", "seed", "untrained")  # what makes a situation, beside the model
# What a press changes, in the order of its event's outputs. `run` is the press under way, `held` the reader's copy.
CHANGED = (
    "run", "held", "situation", "one", "many", "stop", "fresh", "curve", "step", "asked", "after", "gradient", "moved",
    "told", "top", "batch", "numbers", "cost", *CONTROLS,
)  # fmt: skip


class Learning:
    """The part's handlers, for all its readers; whose copy is whose, their own page remembers."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.presses = Presses(services.workshop)
        self._feeds: dict[str, Feed] = {}
        self._seen = lru_cache(maxsize=KEPT_VIEWS)(self._look)

    def situation(self, model: str, text: str, rate: Any, batch_size: Any, seed: Any, untrained: Any) -> Situation:
        """What the controls say. Raises UserError where one is out of bounds, or the text has no word."""
        key = self.services.key(model)
        try:
            recipe = Recipe(float(rate), int(batch_size), int(seed), bool(untrained)).check()
        except (TypeError, ValueError, OverflowError) as error:
            raise error if isinstance(error, UserError) else UserError("A number is missing.") from error
        return Situation(key, read_passage(self.services.pretrained(key).tokenizer, text), recipe)

    def opening(self, situation: Situation) -> dict[str, Any]:
        """The part before the first step: the first batch and its loss, what is guessed, the program."""
        found, look = self.services.pretrained(situation.model), self._seen(situation)
        feed = Feed("", len(found.tokenizer), OPENING)
        feed.points = [Point(1, look.masked, math.nan, math.nan, math.nan, math.nan)]
        status = "Nothing is trained yet: the dot is the first batch’s loss before any step."
        return {
            "curve": feed.message(done=True, status=status, fresh=True, said=""),
            "step": "",
            "asked": asked_told(found, situation.passage, look.asked, look.before, None, []),
            "after": gr.update(visible=False),
            "batch": batch_told(found, look.instances, 1, None),
            "numbers": '<p class="aside">There are none before the first step.</p>',
            "code": code_told(found, look.instances, situation.recipe),
            "cost": self.cost(situation, look.seconds_a_step),
            "cut": cut_told(found, situation.passage),
        }

    def _look(self, situation: Situation) -> FirstLook:
        return first_look(self.services.pretrained(situation.model), situation)

    def cost(self, situation: Situation, guess: float = math.nan) -> str:
        """How long a hundred steps take: by the last ones like it, else by a guess of seconds a step."""
        seconds = self.presses.expected(situation, 100)
        measured = not math.isnan(seconds)
        seconds = seconds if measured else 100 * guess
        if math.isnan(seconds):
            return ""
        most = f" It ends by itself after {MAX_SECONDS / 60:.0f} minutes." if seconds > MAX_SECONDS else ""
        how = "" if measured else ", a guess until the first step"
        return f'<p class="aside">A hundred steps: about <b>{duration(seconds)}</b> on this machine{how}.{most}</p>'

    def press(self, situation: Situation, held: str, before: Situation | None, steps: int) -> Iterator[dict[str, Any]]:
        """One press, as changes to the page by their names in CHANGED."""
        run = self.services.workshop.runs.new()
        found = self.services.pretrained(situation.model)
        if held and before != situation:
            self.presses.copies.discard(held)
            held = ""
        feed = Feed(run, len(found.tokenizer), max(steps, 10))
        self._feeds[run] = feed
        events = self.presses.press(run, held, situation, found, steps)
        ready = {"run": "", **_buttons(running=False)}
        begun: dict[str, Any] = {"run": run, **_buttons(running=True), "curve": feed.message()}
        try:
            yield begun
            due = time.monotonic() + AGAIN_SECONDS
            for event in events:
                self._take(feed, event, steps)
                if isinstance(event, Learned):
                    yield {
                        **ready,
                        "held": held or run,
                        "situation": situation,
                        **self._learned(feed, event, situation),
                    }
                elif isinstance(event, Failed):
                    yield {**ready, **self._left(held), "curve": feed.message(done=True)}
                elif time.monotonic() >= due:
                    yield {**begun, "curve": feed.message()}
                    due = time.monotonic() + BEAT_SECONDS
        except UserError as error:
            yield {**ready, **self._left(held), "curve": _broken(str(error))}
        finally:
            self._feeds.pop(run, None)
            events.close()  # type: ignore[attr-defined]

    def _left(self, held: str) -> dict[str, Any]:
        """What becomes of the reader's copy where a press came to nothing: it stays if it is still there."""
        return {} if self.presses.copies.has(held) else {"held": "", "situation": None}

    def _take(self, feed: Feed, event: Event, steps: int) -> None:
        """Note an event; the curve asks for it by itself."""
        if isinstance(event, Waiting):
            feed.state["status"] = f"Another training runs on this machine; you are number {event.place} in the queue."
        elif isinstance(event, Made):
            feed.points = list(event.points)
            feed.state["total"] = max(len(event.points) + steps, 10)
            feed.state["status"] = "Your copy is there; the first step …"
        elif isinstance(event, Point):
            feed.points = [*feed.points, event]
            feed.state["status"] = f"Step {event.step:,} of {feed.state['total']:,}" if steps > 1 else ""
        elif isinstance(event, Failed):
            feed.state["status"] = event.message

    def _learned(self, feed: Feed, event: Learned, situation: Situation) -> dict[str, Any]:
        found = self.services.pretrained(situation.model)
        rows, last, step = event.rows, event.last, event.points[-1].step
        far = far_first(rows.moved)
        names = found.tokenizer.convert_ids_to_tokens(far.tolist())
        split = None
        if rows.gradient is not None and rows.by_input is not None and rows.by_decoder is not None:
            split = (rows.gradient, rows.by_input, rows.by_decoder)
        early = {"asked": "Stopped. ", "time": "Out of time. "}.get(event.reason, "")
        status = f"{early}Your copy has taken {step:,} step{'s' * (step != 1)}, {event.seconds_a_step:.2f} s each."
        feed.points = list(event.points)
        limit = situation.recipe.rate * math.sqrt(found.decoder.in_features)
        arrays = rows.moved, rows.in_input, rows.asked
        steps = f"In these {event.steps:,} steps" if event.steps > 1 else f"In step {step:,}"
        return {
            "curve": feed.message(done=True, status=status, said=said_told(event)),
            "step": step_html(step, last.masked, last.following, last.right, last.norm, CLIP),
            "asked": asked_told(found, situation.passage, event.asked, event.before, event.after, random_told(event)),
            "after": gr.update(visible=True),
            "gradient": gradient_figure(last.norms),
            "moved": moved_figure(*arrays),
            "told": f"<h3>{steps}: how far did each word’s embedding move?</h3>"
            + rows_html(*arrays, event.steps, step == 1, limit),
            "top": top_rows_html(names, far, *arrays, rows.wrongly, split),
            "batch": batch_told(found, event.instances, step, event),
            "numbers": numbers_html([astuple(one) for one in event.points], "Every step of your copy"),
            "cost": self.cost(situation),
        }

    def news(self, asked: Any) -> str:
        """The curve's question: [run, the last step it has]; "" for no such run."""
        try:
            run, after = asked
            feed = self._feeds.get(str(run))
            return feed.message(min(max(0, int(after)), 10**6)) if feed else ""
        except (TypeError, ValueError, OverflowError):
            return ""

    def stop(self, run: str) -> Any:
        """Ask this reader's press to end at its next step; the button goes grey until then."""
        if run:
            self.services.workshop.runs.stop(run)
        return gr.update(interactive=False)


def guarded(changed: Iterator[dict[str, Any]]) -> Iterator[list[Any]]:
    """A press's changes in the order of CHANGED; what breaks it leaves working buttons and the copy."""
    over: dict[str, Any] = {"run": "", **_buttons(running=False)}
    try:
        for one in changed:
            yield changes(**one)
    except UserError as error:
        yield changes(**over, curve=_broken(str(error)))
    except Exception:
        yield changes(**over, curve=_broken(OUR_FAULT))
        raise
    finally:
        changed.close()  # type: ignore[attr-defined]


def changes(**named: Any) -> list[Any]:
    """One value an output of CHANGED; what is not named stays as it is."""
    return [named.get(name, gr.skip()) for name in CHANGED]


def _buttons(running: bool) -> dict[str, Any]:
    """Stop, or what begins a press and what it is made of."""
    usable = dict.fromkeys(("one", "many", "fresh", *CONTROLS), not running)
    usable["stop"] = running
    return {name: gr.update(interactive=is_usable) for name, is_usable in usable.items()}


def _broken(told: str) -> str:
    feed = Feed("", 30_522, OPENING)
    return feed.message(done=True, status=told)
