"""The Hub's well-known models for the three tasks, pinned; each as an encoder with layers on top, as a run of ours is.

A `Trained` of ours computes what transformers' own class does: DistilBertForSequenceClassification is the [CLS] vector,
a dense layer with ReLU and a linear one; the classes for tokens and for answers are one linear layer on each token.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    AutoModelForTokenClassification,
)

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import Recent
from demos.bert.model.pinned_store import PinnedStore
from demos.bert.model.weights import read_weights
from demos.training.export.transformers_folder import SHAPES, STOCK
from demos.training.learning.model import Model, Trained, load_tokenizer
from demos.training.tasks.classification.task import Classification
from demos.training.tasks.entities.task import Entities
from demos.training.tasks.heads import ACTIVATIONS
from demos.training.tasks.question_answering.task import QuestionAnswering
from demos.training.tasks.task import Task

MOST_WEIGHTS = 1_100_000_000  # bytes: all three
LONGEST = 512  # tokens: the rows of their position embeddings
CLASSES: Mapping[str, Any] = {
    "sentence": AutoModelForSequenceClassification,
    "entities": AutoModelForTokenClassification,
    "question": AutoModelForQuestionAnswering,
}


@dataclass(frozen=True)
class HubModel(ModelSpec):
    """One of them, for the task that is its key; each is in English."""

    data: str = ""  # its training data
    licence: str = ""  # as its card says


_MODELS = (
    HubModel(
        "sentence", "DistilBERT for sentiment", "distilbert/distilbert-base-uncased-finetuned-sst-2-english",
        "714eb0fa89d2f80546fda750413ed43d93601a13", 6, 12, 768, cased=False, segments=False, size_mb=268,
        data="67,349 phrases of film reviews (SST-2)", licence="Apache 2.0",
    ),
    HubModel(
        "entities", "BERT base for names", "dslim/bert-base-NER", "d1a3e8f13f8c3566299d95fcfc9a8d2382a9affc",
        12, 12, 768, cased=True, size_mb=433, data="14,987 sentences of news (CoNLL-2003)", licence="MIT",
    ),
    HubModel(
        "question", "DistilBERT for questions", "distilbert/distilbert-base-cased-distilled-squad",
        "564e9b582944a57a3e586bbb98fd6f0a4118db7f", 6, 12, 768, cased=True, segments=False, size_mb=261,
        data="87,599 questions on Wikipedia (SQuAD 1.1)", licence="Apache 2.0",
    ),
)  # fmt: skip
HUB_MODELS: Mapping[str, HubModel] = {model.key: model for model in _MODELS}


class HubModels(PinnedStore):
    """`ModelStore` for them: with their layers on top, and within the memory budget."""

    def __init__(self, memory: Budget | None = None, models: Mapping[str, HubModel] = HUB_MODELS) -> None:
        super().__init__(models, memory)
        self.models = models
        self._models = Recent(MOST_WEIGHTS, lambda loaded: loaded.nbytes, self.memory, "models of the Hub with a task")

    def trained(self, kind: str) -> Trained:
        """The model for a kind of task, with the interface of our own runs. Raises UserError where it can't be had."""
        return trained_of(kind, self.get(kind))

    def _opened(self, key: str, folder: Path) -> LoadedModel:
        model = read_weights(CLASSES[key], folder, "sdpa")
        return LoadedModel(self.spec(key), load_tokenizer(folder), model.eval().requires_grad_(False))


def trained_of(kind: str, loaded: LoadedModel) -> Trained:
    """One of transformers' models with a task as encoder and layers on top; the weights are its own, not copied."""
    model, config = loaded.model, loaded.model.config
    stock = STOCK[config.model_type]
    labels = tuple(config.id2label[number] for number in range(config.num_labels))
    task: Task
    if kind == "sentence":
        dense = model.get_submodule(stock.dense)
        layers: list[nn.Module] = [dense, ACTIVATIONS[stock.activation]()]
        width = (dense.out_features,)
        task = Classification(labels=labels, pooling="cls", hidden=width, activation=stock.activation, dropout=0.0)
    else:
        layers = []
        task = Entities(labels=labels, dropout=0.0) if kind == "entities" else QuestionAnswering(dropout=0.0)
    head = nn.Sequential(*layers, model.get_submodule(SHAPES[task.kind].last))
    return Trained(Model(model.base_model, head.eval(), loaded.tokenizer), task, LONGEST)
