"""The services of every lesson: the models, the shared runs, and the settings that the app was started with."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

from demos.bert.causal.decoder import our_decoder
from demos.bert.embeddings.token_index import TokenIndexes
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.family.family_store import FamilyStore
from demos.bert.model.catalogue import BUNDLED, check_bert
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.run import Run, RunCache
from demos.bert.pretraining.heads import Pretrained, PretrainedModels
from demos.errors import UserError
from demos.page.drawing.drawing_cache import Drawings
from demos.training.learning.model import Trained
from demos.training.service.training_service import TrainingService
from demos.training.tasks.classification.task import Classification


@dataclass(frozen=True)
class Sentence:
    """The contents of the sentence bar: one sentence, perhaps a second one, and a catalogue key."""

    text: str
    text_pair: str
    model: str


class Services:
    """Handed to each lesson when it is built, so that no "current model" lives in a module.

    All that they hold is within the store's memory budget.
    """

    def __init__(
        self,
        store: ModelStore,
        default_model: str,
        heads: PretrainedModels | None = None,
        trainings: TrainingService | None = None,
    ) -> None:
        self.store = store
        self.default_model = default_model
        self.memory = memory = store.memory
        self.runs = RunCache(memory=memory)
        self.vectors = VectorCache(memory=memory)
        self.token_vectors = TokenIndexes(memory)
        self.heads = heads or PretrainedModels(memory)
        self.trainings = trainings or TrainingService(memory=memory)
        self.drawings = Drawings(memory=memory)
        self.family = FamilyStore(memory)
        self.only_bert = False

    def for_bert(self) -> Services:
        """The same for a lesson or a part that shows BERT's own arithmetic: other architectures are refused."""
        services = copy(self)
        services.only_bert = True
        return services

    def key(self, model: str | None) -> str:
        """The catalogue key that `model` means: empty is the default.

        Raises UserError for an unknown one, and for what the lesson does not take.
        """
        spec = self.store.spec(model or self.default_model)
        if self.only_bert:
            check_bert(spec)
        return spec.key

    def loaded(self, model: str | None) -> LoadedModel:
        """The model in memory; waits for it. Raises UserError where it can't be had."""
        return self.store.get(self.key(model))

    def pretrained(self, model: str | None) -> Pretrained:
        """The model with its pre-training heads: its own, or ours on the bundled encoder.

        Raises UserError where it has none, or can't be had.
        """
        return self.heads.get(self.loaded(model), self.store.folder)

    def decoder(self) -> Pretrained:
        """The bundled decoder, whichever model the bar holds."""
        return self.heads.make("decoder", self.loaded(BUNDLED), our_decoder)

    def run(self, sentence: Sentence) -> Run:
        """The forward pass of what the bar holds, shared by all lessons and users."""
        return self.runs.get(self.loaded(sentence.model), sentence.text, sentence.text_pair)

    def classifier(self, run: str) -> Trained | None:
        """A run's model where it gives a class to one sentence; None where it is gone, or learned another task."""
        try:
            trained = self.trainings.runs.trained(run)
        except (UserError, OSError):
            return None
        task = trained.task
        return trained if isinstance(task, Classification) and not task.pairs else None

    def tuned(self, run: str) -> LoadedModel:
        """The encoder of a model fine-tuned in this page, by its run's id, as `loaded` gives the one it began as.

        Raises UserError where that model is no longer kept.
        """
        trained = self.trainings.runs.trained(run)
        spec = self.store.spec(self.trainings.runs.base(run))
        spec = replace(spec, key=f"{spec.key} {run}", title=f"{spec.title}, fine-tuned here", mlm=False, nsp=False)
        return LoadedModel(spec, trained.model.tokenizer, trained.model.encoder)
