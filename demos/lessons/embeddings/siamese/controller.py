"""A siamese training on the page: the pairs before it, the effect of Start, and one pair through both towers."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr
import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.agreement import correlation, scores_of
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import Recent
from demos.errors import UserError
from demos.lessons.embeddings.siamese.figure import scatter_figure, spread_figure
from demos.lessons.embeddings.siamese.text import (
    SHOWN_NUMBERS,
    Towers,
    moved_html,
    numbers_html,
    scores_html,
    towers_html,
)
from demos.page.services import Services
from demos.training.data.rated_pairs import our_pairs
from demos.training.events import Event, Failed, Finished, PairResult, Stopped
from demos.training.form_values import NO_NUMBER
from demos.training.learning.model import load_encoder, redraw_layers
from demos.training.service.background import BEAT_SECONDS
from demos.training.settings import Settings
from demos.training.tasks.siamese.data import PairDataset
from demos.widgets.live_curve.feeds import Feeds
from demos.widgets.live_curve.live_curve import CurveFeed, failure_message, shown_now
from demos.widgets.live_curve.text import recipe_text
from demos.widgets.run_controller.run_controller import buttons, cpu_offer, lacks_gpu

MAX_LENGTH = 128  # tokens in one sentence of a training
AXES: Mapping[str, Any] = {
    "titles": [["Loss", "(cosine − target)², lower is better"], ["Agreement ρ", "held-out pairs, 95% interval"]],
    "shares": False,
    "stacked": True,
    "most": 0.1,
    "legend": {"train": "training, each batch and smoothed", "validation": "held-out pairs", "guess": ""},
}
# What a run changes. `run` is the id of the one under way, `kept` of the one done.
CHANGED = (
    "run", "kept", "situation", "cosines", "start", "stop", "curve", "scores", "scatter", "after", "spread", "moved",
    "numbers", "towers", "pair", "on_cpu",
)  # fmt: skip


@dataclass(frozen=True)
class Situation:
    """The model, the data and the settings of a training. As long as they stay, so do their results on the page."""

    key: str  # catalogue key
    dataset: PairDataset
    settings: Settings

    @property
    def name(self) -> str:
        """Equal for equal beginnings: what has no part in the untrained cosines is left out."""
        begin = (self.key, self.settings.pooling, self.settings.start, self.settings.seed)
        return repr((*begin, self.dataset.name, hash(self.dataset)))


def read_pair_settings(pooling: str, start: str, rate: Any, epochs: Any, batch_size: Any, seed: Any) -> Settings:
    """The controls' values. Raises UserError where one is out of bounds."""
    try:
        return Settings(
            pooling=pooling,
            start=start,
            learning_rate=float(rate),
            epochs=int(epochs),
            batch_size=int(batch_size),
            seed=int(seed),
            max_length=MAX_LENGTH,
        ).check()
    except (TypeError, ValueError, OverflowError) as error:
        raise error if isinstance(error, UserError) else UserError(NO_NUMBER) from error


class PairTrainer:
    """The siamese part's runs, for all its readers. Each reader's page remembers which run is theirs."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self.trainings = services.trainings
        self.feeds = Feeds()
        # Kept, since readers of a lecture choose the same.
        self._untrained: Recent[LoadedModel] = Recent(
            size=lambda loaded: loaded.nbytes, budget=services.memory, kind="untrained models"
        )

    def beginning(self, situation: Situation) -> LoadedModel:
        """The encoder that a run of this would begin with; the shared one is not touched."""
        if situation.settings.start == "trained":
            return self.services.loaded(situation.key)
        shared, seed = self.services.loaded(situation.key), situation.settings.seed

        def draw(take: Callable[[float], None]) -> LoadedModel:
            take(shared.nbytes)
            encoder = load_encoder(self.services.store.folder(situation.key), "eager")
            redraw_layers(encoder, seed)
            spec = replace(shared.spec, key=f"{shared.spec.key} untrained {seed}", mlm=False, nsp=False)
            return LoadedModel(spec, shared.tokenizer, encoder.eval().requires_grad_(False))

        return self._untrained.make((situation.key, seed), draw)

    def before(self, situation: Situation) -> Generator[Encoded, None, np.ndarray]:
        """The held-out pairs' cosines before any training, [pairs]; from the shared vectors where they are there."""
        loaded = self.beginning(situation)
        pairs = situation.dataset.held_out
        texts = list(dict.fromkeys(text for pair in pairs for text in (pair.first, pair.second)))
        choice = last_layer(loaded, situation.settings.pooling)
        (vectors,) = yield from self.services.vectors.steps(loaded, texts, [choice])
        at = {text: row for row, text in enumerate(texts)}
        first, second = ([at[getattr(pair, side)] for pair in pairs] for side in ("first", "second"))
        return cosine(vectors[first], vectors[second])

    def towers(self, situation: Situation, finished_run: str, texts: tuple[str, str], rating: float | None) -> Markup:
        """One pair through both towers, before, and after where a trained encoder is kept: of what that began as."""
        is_available = bool(finished_run) and self.trainings.runs.has(finished_run)
        key = self.trainings.runs.base(finished_run) if is_available else situation.key
        loaded = self.beginning(replace(situation, key=key))
        models = [loaded]
        if is_available:
            models.append(self.services.tuned(finished_run))
        seen: list[tuple[Any, Any, float]] = []
        for model in models:
            choice = last_layer(model, situation.settings.pooling)
            (vectors,) = self.services.vectors.get(model, list(texts), [choice])
            numbers = vectors[:, :SHOWN_NUMBERS].tolist()
            seen.append((numbers[0], numbers[1], float(cosine(vectors[0], vectors[1]))))
        lengths = [len(encode(loaded.tokenizer, text)) for text in texts]
        return towers_html(
            Towers(
                texts=texts,
                tokens=(lengths[0], lengths[1]),
                width=loaded.model.config.hidden_size,
                pooling=situation.settings.pooling,
                before=seen[0],
                after=seen[1] if len(seen) > 1 else None,
                rating=rating,
                top=situation.dataset.top,
            )
        )

    def rated_towers(self, situation: Situation, finished_run: str, row: int) -> Markup:
        """The same for one of the held-out pairs."""
        pair = situation.dataset.held_out[row]
        return self.towers(situation, finished_run, (pair.first, pair.second), pair.score)

    def train(
        self, run: str, situation: Situation, finished_run: str, chosen: int, on_cpu: bool = False
    ) -> Iterator[dict[str, Any]]:
        """One run, as changes to the page by their names in CHANGED: few, since the curve asks for its points.

        `on_cpu` takes the bundled model, which trains there in a minute.
        """
        dataset, settings, key = situation.dataset, situation.settings, BUNDLED if on_cpu else situation.key
        data = "this app's pairs" if dataset.name == our_pairs().name else dataset.name
        recipe = recipe_text(self.services.store.spec(key).title, "train on pairs", settings)
        feed = CurveFeed(run, data, "pairs", AXES, recipe=recipe)
        what = run, dataset, key, self.services.store.folder(key), settings
        shown = shown_now(self.trainings.fine_tune(*what, on_cpu=on_cpu), feed, BEAT_SECONDS)
        try:
            with self.feeds.showing(run, feed):
                for event in shown:
                    if isinstance(event, Finished | Stopped | Failed):
                        yield self._ended(event, feed, situation, run, finished_run, chosen)
                    else:
                        yield {"curve": feed.message()}
        finally:
            shown.close()  # type: ignore[attr-defined]

    def _ended(
        self, event: Event, feed: CurveFeed, situation: Situation, run: str, finished_run: str, chosen: int
    ) -> dict[str, Any]:
        """A run that failed leaves the one before it; one that trained takes its place."""
        ended: dict[str, Any] = {"run": "", "curve": feed.message(), **buttons(False), **cpu_offer(lacks_gpu(event))}
        result = event.result if isinstance(event, Finished | Stopped) else None
        if not isinstance(result, PairResult):
            return ended
        self.trainings.runs.discard(finished_run)
        dataset = situation.dataset
        chosen = most_wrong(dataset, np.array(result.before)) if chosen < 0 else chosen
        chosen = min(chosen, len(dataset.held_out) - 1)
        return ended | {
            "kept": run,
            "situation": situation.name,
            "cosines": (result.before, result.after),
            "scores": scores_html(dataset, result.agreement_before, result.loss_before, result),
            "scatter": scatter_figure(dataset.held_out, dataset.top, result.before, result.after, chosen),
            "after": gr.update(visible=True),
            "spread": spread_figure(result.before, result.after),
            "moved": moved_html(dataset, result),
            "numbers": numbers_html(dataset, result, feed.looks, result.steps),
            "towers": self.rated_towers(situation, run, chosen),
            "pair": gr.update(value=chosen),
        }


def last_layer(loaded: LoadedModel, pooling: str) -> Choice:
    """The layer that a training pools: the last one."""
    return Choice(pooling, loaded.model.config.num_hidden_layers)


def most_wrong(dataset: PairDataset, cosines: np.ndarray) -> int:
    """The held-out pair whose cosine is farthest from its aim."""
    return int(np.abs(cosines - scores_of(dataset.held_out) / dataset.top).argmax())


def before_scores(dataset: PairDataset, cosines: np.ndarray) -> Markup:
    """Agreement and loss before any training."""
    ratings = scores_of(dataset.held_out)
    loss = float(np.mean((cosines - ratings / dataset.top) ** 2))
    return scores_html(dataset, correlation(cosines, ratings), loss, None)


def failed(message: str) -> dict[str, Any]:
    """The reason why a run ended or never began, in the place of its curve; Start is enabled again."""
    return {"curve": failure_message(message), "run": "", **buttons(running=False)}
