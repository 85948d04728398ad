"""The services of every lesson: the models, the shared runs, and the settings that the app was started with."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from threading import RLock
from typing import Any, TypeVar

from demos.bert.causal.decoder import our_decoder
from demos.bert.embeddings.similar_tokens import LayerIndexes
from demos.bert.embeddings.token_index import TokenIndexes
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.family.family_store import FamilyStore
from demos.bert.model.catalogue import BUNDLED, OwnSpec, check_bert
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.run import Run, RunCache
from demos.bert.pretraining.heads import Pretrained, PretrainedModels
from demos.errors import UserError
from demos.page.drawing.drawing_cache import Drawings
from demos.training.learning.model import Trained
from demos.training.ready.models import ReadyModels
from demos.training.service.own_models import ReadersModels
from demos.training.service.stored_runs import OWN
from demos.training.service.training_service import TrainingService
from demos.training.tasks.classification.task import Classification

Made = TypeVar("Made")


@dataclass(frozen=True)
class Sentence:
    """The contents of the sentence bar: one sentence, perhaps a second one, and a model's key."""

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
        self.layer_tokens = LayerIndexes(memory)
        self.heads = heads or PretrainedModels(memory)
        self.ready = ReadyModels(lambda: self.loaded(BUNDLED), memory)
        self.trainings = trainings or TrainingService(memory=memory)
        self.own_models = store.own = ReadersModels(self.trainings.readers, store.spec)
        self.drawings = Drawings(memory=memory, alike=self._alike)
        self.family = FamilyStore(memory)
        self.only_bert = False
        self._shared: dict[Any, Any] = {}
        self._sharing = RLock()  # a shared value may be made of other shared values

    def shared(self, make: Callable[[Services], Made]) -> Made:
        """A part's store for all readers, such as its latest results: `make` makes it when it is first needed."""
        with self._sharing:
            if make not in self._shared:
                self._shared[make] = make(self)
            return self._shared[make]

    def for_bert(self) -> Services:
        """The same for a lesson or a part that shows BERT's own arithmetic: other architectures are refused."""
        services = copy(self)
        services.only_bert = True
        return services

    def key(self, model: str | None) -> str:
        """The key that `model` means, the catalogue's or a reader's run's: empty is the default.

        Raises UserError for an unknown one, for another reader's, and for what the lesson does not take.
        """
        key = model or self.default_model
        spec = self.store.spec(key)
        if self.only_bert:
            check_bert(spec)
        return key

    def own_run(self, model: str | None) -> str:
        """The id of the reader's run that `model` is; "" of a pre-trained model. Raises UserError as `key`."""
        spec = self.store.spec(self.key(model))
        return spec.run if isinstance(spec, OwnSpec) else ""

    def pretrained_key(self, model: str | None) -> str:
        """As `key`, where something is to be trained: of a reader's run, the model that it began as."""
        run = self.own_run(model)
        return self.trainings.runs.base(run) if run else self.key(model)

    def _alike(self, sentence: Sentence) -> Any:
        """The sentence, and of a run what its key opens: the members of a room have different keys of one run."""
        if not str(sentence.model).startswith(OWN):
            return sentence
        try:
            return sentence.text, sentence.text_pair, self.store.spec(sentence.model)
        except UserError:  # which its drawing will show
            return sentence

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
        base = self.store.spec(self.trainings.runs.base(run))
        spec = OwnSpec.of(base, run, f"{base.key} {run}", f"{base.title}, fine-tuned here", base.note)
        return LoadedModel(spec, trained.model.tokenizer, trained.model.encoder, kept_with=trained)
