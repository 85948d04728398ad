"""A siamese training on the page: what it begins with, the run, and one pair through both towers."""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from markupsafe import Markup

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.similarity import cosine
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import Recent
from demos.lessons.embeddings.siamese.text import SHOWN_NUMBERS, Towers, towers_html
from demos.page.services import Services
from demos.training.data.rated_pairs import our_pairs
from demos.training.events import Failed, Finished, PairResult, Stopped
from demos.training.learning.model import load_encoder, redraw_layers
from demos.training.service.background import BEAT_SECONDS, Changes
from demos.training.settings import Settings
from demos.training.tasks.siamese.data import PairDataset
from demos.widgets.live_curve.feeds import Feeds
from demos.widgets.live_curve.live_curve import CurveFeed, failure_message, shown_now
from demos.widgets.live_curve.text import recipe_text
from demos.widgets.run_controller.run_controller import buttons, cpu_offer, lacks_gpu

AXES: Mapping[str, Any] = {
    "titles": [["Loss", "(cosine − target)², lower is better"], ["Agreement ρ", "held-out pairs, 95% interval"]],
    "shares": False,
    "stacked": True,
    "most": 0.1,
    "legend": {"train": "training, each batch and smoothed", "validation": "held-out pairs", "guess": ""},
}
CHANGED = ("run", "ran", "start", "stop", "curve", "on_cpu")  # by a run


@dataclass(frozen=True)
class Situation:
    """The model, the data and the settings of a training."""

    key: str  # catalogue key
    dataset: PairDataset
    settings: Settings

    @property
    def name(self) -> str:
        """Equal for equal beginnings: what has no part in the untrained cosines is left out."""
        begin = (self.key, self.settings.pooling, self.settings.start, self.settings.seed)
        return repr((*begin, self.dataset.name, hash(self.dataset)))


@dataclass(frozen=True)
class Ran:
    """A run that trained, the last one of its page; hashable, as Gradio's State has to be."""

    run: str  # its id
    situation: str  # the name of the encoder that it began with
    result: PairResult
    looks: tuple[tuple[float | None, ...], ...]
    curve: str  # the message of its end


class PairTrainer:
    """The part's runs, for all its readers. Each reader's page remembers which run is theirs."""

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

    def towers(self, situation: Situation, ran: Ran | None, texts: tuple[str, str], rating: float | None) -> Markup:
        """One pair through both towers, before, and after where a trained encoder is kept: of what that began as."""
        trained = ran.run if ran and self.trainings.runs.has(ran.run) else ""
        key = self.trainings.runs.base(trained) if trained else situation.key
        loaded = self.beginning(replace(situation, key=key))
        seen: list[tuple[list[float], list[float], float]] = []
        for model in (loaded, self.services.tuned(trained)) if trained else (loaded,):
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

    def train(self, run: str, situation: Situation, ran: Ran | None, on_cpu: bool = False) -> Iterator[Changes]:
        """One run, as changes to the page by their names in CHANGED: few, since the curve requests its points.

        A run that fails leaves `ran`, the one before it; one that trained takes its place. `on_cpu` takes the bundled
        model, which trains there in a minute.
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
                    changes: Changes = {"curve": feed.message()}
                    if isinstance(event, Finished | Stopped | Failed):
                        changes |= {"run": "", **buttons(False), **cpu_offer(lacks_gpu(event))}
                    if isinstance(event, Finished | Stopped) and isinstance(event.result, PairResult):
                        if ran:
                            self.trainings.runs.discard(ran.run)
                        looks = tuple(map(tuple, feed.looks))
                        changes["ran"] = Ran(run, situation.name, event.result, looks, feed.message())
                    yield changes
        finally:
            shown.close()  # type: ignore[attr-defined]


def last_layer(loaded: LoadedModel, pooling: str) -> Choice:
    """The layer that a training pools: the last one."""
    return Choice(pooling, loaded.model.config.num_hidden_layers)


def failed(message: str) -> Changes:
    """The reason why a run ended or never began, in the place of its curve; Start is enabled again."""
    return {"curve": failure_message(message), "run": "", **buttons(running=False)}
