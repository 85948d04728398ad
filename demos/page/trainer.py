"""A training on the page: what Start and Ask do, and what each event of a run changes on the screen."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any

import gradio as gr

from demos.errors import UserError
from demos.figures.training import confusion_figure
from demos.figures.training_told import chances_html, cost_html, mistakes_html, numbers_html, scores_html
from demos.page.curve import CurveFeed, duration, failure_message, shown_now
from demos.page.lesson import OUR_FAULT
from demos.page.services import Services
from demos.training.asked import read_dataset, read_settings
from demos.training.cost import cost_of
from demos.training.data import Dataset
from demos.training.events import Event, Failed, Finished, Result, Started, Stopped
from demos.training.line import MAX_WAITING
from demos.training.settings import Settings
from demos.training.workshop import Workshop

# What a run changes, in the order of its event's outputs. `run` is the id of the one under way, `kept` of the one done.
CHANGED = (
    "run", "kept", "start", "stop", "curve", "results", "scores", "confusion", "mistakes", "numbers", "chances", "cost",
)  # fmt: skip


QUEUE: dict[str, Any] = {"concurrency_id": "train", "concurrency_limit": 2 * (1 + MAX_WAITING)}


class Trainer:
    """The Fine-tune lesson's runs, for all its learners; whose run is whose, their own page remembers."""

    def __init__(self, services: Services, workshop: Workshop) -> None:
        self.services = services
        self.workshop = workshop

    def cost(self, model: str, dataset: Dataset, settings: Settings) -> str:
        """What Start would do, counted on the model; its seconds once a run has been timed here."""
        loaded = self.services.loaded(model)
        cost = cost_of(dataset, loaded.tokenizer, loaded.model, settings)
        speed = self.workshop.speed(loaded.spec.key)
        return cost_html(cost, dataset.name, speed, duration(cost.examples / speed) if speed else "")

    def train(
        self, text: str, pair: str, model: str, kept: str, words: str,
        source: str, file: str, test_file: str, most: Any, *recipe: Any,
    ) -> Iterator[list[Any]]:  # fmt: skip
        """One run, as changes to the page; what keeps it from starting is told where its curve would have been."""
        try:
            settings = read_settings(*recipe)
            dataset = read_dataset(source, file, test_file, most, settings.seed)
            yield from self._run(model, kept, words, dataset, settings)
        except UserError as error:
            yield _failed(str(error))
        except gr.Error as error:  # ZeroGPU's own: a quota, a worker that died; its text is meant for the reader
            yield _failed(str(error.message))
        except Exception:
            yield _failed(OUR_FAULT)
            raise

    def _run(self, model: str, kept: str, words: str, dataset: Dataset, settings: Settings) -> Iterator[list[Any]]:
        """The curve grows by what is new; at the end everything else is filled."""
        key = self.services.key(model)
        run = self.workshop.runs.new()
        feed = CurveFeed(run, dataset.name)
        events = self.workshop.fine_tune(run, dataset, key, self.services.store.folder(key), settings)
        per_epoch, begun = 1, {"run": run, **buttons(running=True)}
        shown = shown_now(events, feed)
        try:
            for event in shown:
                per_epoch = event.steps_per_epoch if isinstance(event, Started) else per_epoch
                if isinstance(event, Finished | Stopped | Failed):
                    # The cost is told anew, now with the speed of this run.
                    ended = self._ended(event, feed, per_epoch, run, kept, words)
                    yield _changes(**ended, cost=self.cost(model, dataset, settings))
                else:
                    yield _changes(curve=feed.message(), **begun)
                    begun = {}  # told once: from now on the Stop button knows whose run to stop
        finally:
            shown.close()  # type: ignore[attr-defined]

    def _ended(self, event: Event, feed: CurveFeed, per_epoch: int, run: str, kept: str, words: str) -> dict[str, Any]:
        """A run that failed leaves the one before it; one that trained takes its place."""
        ended = {"run": "", "kept": kept, "curve": feed.message(), **buttons(running=False)}
        result = event.result if isinstance(event, Finished | Stopped) else None
        if not isinstance(result, Result):
            return ended
        self.workshop.runs.discard(kept)
        return ended | {
            "kept": run,
            "results": gr.update(visible=True),
            "scores": scores_html(result, isinstance(event, Stopped)),
            "confusion": confusion_figure(result),
            "mistakes": mistakes_html(result),
            "numbers": numbers_html(result, feed.looks, per_epoch),
            "chances": self._first_answer(run, words),
        }

    def _first_answer(self, run: str, words: str) -> str:
        try:
            return self.answer(run, words)
        except UserError as error:  # the run is worth showing all the same
            return f"<p>{html.escape(str(error))}</p>"

    def answer(self, run: str, words: str) -> str:
        """The trained model's probabilities for a sentence. Raises UserError without one, or without the model."""
        if not words or not words.strip():
            raise UserError("Write a sentence for the trained model first.")
        (found,) = self.workshop.runs.predict(run, [words])
        return chances_html(found, list(found), words)

    def stop(self, run: str) -> Any:
        """Ask this learner's run to stop at its next step; the button goes grey until then."""
        if run:
            self.workshop.runs.stop(run)
        return gr.update(interactive=False)


def _changes(**named: Any) -> list[Any]:
    """One value an output of CHANGED; what is not named stays as it is."""
    return [named.get(name, gr.skip()) for name in CHANGED]


def _failed(told: str) -> list[Any]:
    """The run is over, or never began: why, where its curve would be, and Start is there again."""
    return _changes(curve=failure_message(told), run="", **buttons(running=False))


def buttons(running: bool) -> dict[str, Any]:
    """Start or Stop, whichever can be pressed."""
    return {"start": gr.update(interactive=not running), "stop": gr.update(interactive=running)}
