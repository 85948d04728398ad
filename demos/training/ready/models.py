"""The ready models in memory, each read once; and what was measured of each when it was trained."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import Recent
from demos.training.learning.model import Trained
from demos.training.ready.adapter import FOLDER, changed_layers, with_adapter

TASKS = {"sentence": "Sentiment", "entities": "Names", "question": "Questions", "pair": "Paraphrases"}
DATA_NAMES = {  # of the files that the bundled adapters were trained with
    "imdb": "IMDb reviews",
    "amazon_cells": "Amazon reviews",
    "yelp": "Yelp reviews",
    "train": "WNUT-17",
    "btc_g": "Broad Twitter Corpus",
    "xquad.en": "XQuAD",
}

# The training data of each adapter, and the licences, as in assets/ready/README.md; the encoder's is Apache 2.0.
TRAINED_ON = {
    "sentence": "our sentences and 2,700 reviews (Sentiment Labelled Sentences)",
    "entities": "our sentences, WNUT-17 and the Broad Twitter Corpus",
    "question": "our questions and 1,071 questions of XQuAD",
    "pair": "308 of our pairs of sentences",
}
LICENCES = {
    "sentence": "CC BY 4.0 (the reviews)",
    "entities": "CC BY 4.0 (both corpora)",
    "question": "CC BY-SA 4.0 (XQuAD and this adapter)",
    "pair": "Apache 2.0",
}


class ReadyModels:
    """One encoder with an adapter a task; `base` gives the bundled model."""

    def __init__(self, base: Callable[[], LoadedModel], memory: Budget | None = None) -> None:
        self.base = base
        self._models: Recent[Trained] = Recent(size=_own_bytes, budget=memory, kind="ready models")

    def get(self, kind: str) -> Trained:
        """The model for one of TASKS. Raises UserError where the base can't be had."""

        def make(take: Callable[[float], None]) -> Trained:
            loaded = self.base()
            take(sum(layer.weight.nbytes for _, layer in changed_layers(loaded.model)))
            return with_adapter(loaded.model, loaded.tokenizer, FOLDER / kind)

        return self._models.make(kind, make)


def _own_bytes(trained: Trained) -> float:
    """The number of weights in the matrices that are not the base's own."""
    return float(sum(layer.weight.nbytes for _, layer in changed_layers(trained.model.encoder)))


@dataclass(frozen=True)
class Score:
    """The scores of one adapter on the test examples of one data set."""

    task: str  # a title of TASKS
    data: str
    test: int  # examples
    metrics: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Card:
    """The contents of log.json beside an adapter."""

    title: str
    train: int  # examples
    rank: int
    bytes: int
    steps: int  # that its training made
    planned: int  # and would have made without a time limit
    scores: tuple[Score, ...]


def card(kind: str) -> Card:
    """The training of the adapter for one of TASKS, and its scores as its training wrote them."""
    log = json.loads((FOLDER / kind / "log.json").read_text(encoding="utf-8"))
    scores = []
    for measured in log["measured"]:
        metrics = tuple((name, value) for name, value in measured.items() if name not in ("data", "test"))
        scores.append(Score(TASKS[kind], DATA_NAMES.get(measured["data"], measured["data"]), measured["test"], metrics))
    settings = log["settings"]
    planned = settings["epochs"] * ceil(log["train"] / settings["batch_size"])
    return Card(TASKS[kind], log["train"], settings["lora_rank"], log["bytes"], log["steps"], planned, tuple(scores))
