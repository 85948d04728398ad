"""The data of the part "What was learned": the reader's run, its test examples, its model before and after."""

import hashlib
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from demos.bert.embeddings.maps import PCA_MAP, Layout, Recipe, lay_out
from demos.bert.embeddings.vector_cache import Encoded
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import OnceCache
from demos.errors import UserError
from demos.page.services import Sentence, Services
from demos.training.learning.model import Trained
from demos.training.results.answers import StoredAnswers, read_answers
from demos.training.results.evidence import Error, Evidence, evidence_of, pooled_vectors, surest_errors
from demos.training.service.runs import GONE
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Example, load_emotion
from demos.training.tasks.classification.task import Classification, example_of
from demos.widgets.comparison.figure import most_different
from demos.widgets.comparison.sides import TUNED, ComparisonForm, Pair, pair_of

MAPPED = 400  # test examples on a map
ERRORS = 12
OWN = "own"  # the sentence at the top of the page, in the menu of sentences and in links
MAX_MAPS = 32  # some kilobytes each
MAX_EVIDENCE = 64  # some kilobytes each


@dataclass(frozen=True)
class After:
    """One reader's finished run."""

    run: str
    base: str  # catalogue key
    trained: Trained
    answers: StoredAnswers

    @property
    def task(self) -> Any:
        return self.trained.task

    @property
    def classes(self) -> bool:
        """Whether it gives a class to a sentence, or a pair."""
        return isinstance(self.task, Classification)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(self.task.labels)

    @property
    def errors(self) -> Sequence[Error]:
        return surest_errors(self.answers, ERRORS)


@dataclass(frozen=True)
class Mapped:
    """The points of a map."""

    task: Classification
    examples: tuple[Example, ...]
    total: int  # of which these are the first
    max_length: int

    @property
    def classes(self) -> np.ndarray:
        return np.array([example.label for example in self.examples], dtype=np.int64)

    @property
    def noun(self) -> str:
        return "pairs" if self.task.pairs else "sentences"

    @property
    def key(self) -> tuple[object, ...]:
        """One name for the input and the way it is encoded."""
        digest = hashlib.sha256()
        for example in self.examples:
            for text in (example.text, example.pair):
                digest.update(f"{len(text)}:{text}".encode())
        return digest.hexdigest(), self.task.pooling, self.max_length


class Afterwards:
    """The computations, for all readers. Each reader's page remembers which run is theirs."""

    def __init__(self, services: Services) -> None:
        self.services = services
        self._maps: OnceCache[Encoded, Layout] = OnceCache(MAX_MAPS)
        self._evidence: OnceCache[int, Evidence] = OnceCache(MAX_EVIDENCE)

    def of(self, run: str) -> After:
        """The reader's run. Raises UserError if it is no longer kept."""
        runs = self.services.trainings.runs
        try:
            return After(run, runs.base(run), runs.trained(run), read_answers(runs.folder(run)))
        except OSError as error:
            raise UserError(GONE) from error

    def sample(self) -> Mapped:
        """The examples on the map before there is any run."""
        dataset, settings = load_emotion(), Settings()
        task = Classification.of(dataset, settings)
        return Mapped(task, dataset.test, len(dataset.test), settings.max_length)

    def mapped(self, after: After) -> Mapped:
        """The first of the run's test examples, which need not be of all classes."""
        return Mapped(after.task, after.answers.examples[:MAPPED], after.answers.total, after.trained.max_length)

    def layout(self, loaded: LoadedModel, mapped: Mapped) -> Generator[Encoded, None, Layout]:
        """PCA's map of the vectors that the layers on top read (or would read) of `loaded`, with progress."""

        def made() -> Generator[Encoded, None, Layout]:
            vectors = yield from pooled_vectors(
                loaded.model, loaded.tokenizer, mapped.task, mapped.examples, mapped.max_length
            )
            return lay_out(vectors, Recipe(PCA_MAP))

        key = (loaded.spec.key, *mapped.key)  # a fine-tuned one has its run's id in its key
        result = yield from self._maps.steps(key, made, Encoded(0, len(mapped.examples)))
        return result

    def attention(self, sentence: Sentence, after: After) -> tuple[Pair, int, int]:
        """(the bar's sentence before and after in the head that moved most, that layer, that head)."""
        first = pair_of(self.services, sentence, ComparisonForm(after.run, TUNED, "", "", "0", "0"))
        best: Sequence[tuple[int, int, float]] = most_different(first.comparison.heads, 1)
        layer, head = best[0][:2] if best else (0, 0)
        return (
            pair_of(self.services, sentence, ComparisonForm(after.run, TUNED, "", "", str(layer), str(head))),
            layer,
            head,
        )

    def classifier(self, after: After | None, pair: bool) -> tuple[Trained, LoadedModel]:
        """(the model that gives a class, its encoder): the reader's, or before any run the bundled adapter."""
        if after:
            return after.trained, self.services.tuned(after.run)
        kind = "pair" if pair else "sentence"
        trained = self.services.ready.get(kind)
        spec = replace(self.services.loaded(BUNDLED).spec, key=f"ready {kind}")
        return trained, LoadedModel(spec, trained.model.tokenizer, trained.model.encoder)

    def own(self, after: After | None, sentence: Sentence) -> Example:
        """The bar's sentence, or both where the model classifies pairs. Raises UserError for an empty one."""
        pair = after.task.pairs if after else bool(sentence.text_pair.strip())
        return example_of([sentence.text, sentence.text_pair][: 1 + pair])

    def evidence(
        self, after: After | None, example: Example, other: int | None = None
    ) -> Generator[int, None, Evidence]:
        """The words that decided; yields each step of STEPS. Raises UserError as `evidence_of` does."""
        trained, loaded = self.classifier(after, bool(example.pair))
        key = (loaded.spec.key, example.text, example.pair, other)
        return (yield from self._evidence.steps(key, partial(evidence_of, trained, loaded, example, other), 0))
