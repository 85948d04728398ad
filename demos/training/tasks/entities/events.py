"""The result of a training on named entities: frozen, plain and picklable, as training/events.py has it."""

from dataclasses import dataclass

from demos.training.events import Outcome
from demos.training.tasks.entities.scores import EntityScore, EntityScores, Span, Ways


@dataclass(frozen=True)
class FoundEntity:
    """An entity that the model found: the mean of its words' probabilities beside it."""

    start: int  # first word
    end: int  # one past the last
    kind: str
    probability: float


@dataclass(frozen=True)
class TagMistake:
    """A test sentence in which an entity was missed, invented, cut wrongly or given a wrong type."""

    words: tuple[str, ...]
    true: tuple[Span, ...]
    found: tuple[FoundEntity, ...]
    read: int  # words that the model read; the others fell off at the sentence's end


@dataclass(frozen=True)
class TagResult(Outcome):
    """The trained model's results on the entities of unseen test sentences, and the place of its weights."""

    labels: tuple[str, ...]  # "O", then B- and I- of each type
    scores: EntityScores  # an I- without a B- begins an entity: seqeval's default
    strict: EntityScore  # all types together, where only B- begins one: seqeval's strict IOB2
    word_accuracy: float  # words with the right label, "O" included
    outside: float  # words whose true label is "O": the word accuracy of always answering that
    ways: tuple[Ways, ...]
    sentences: int  # tested
    cut: int  # of them, those that lost words at the end; a lost word's answer is "O"
    baseline: str  # in words
    baseline_scores: EntityScores
    mistakes: tuple[TagMistake, ...]  # the surest first
    wrong: int  # sentences with a mistake, of which `mistakes` may be the first ones only

    @property
    def metrics(self) -> dict[str, float]:
        """The headline first."""
        total = self.scores.total
        return {"entity F1": total.f1, "precision": total.precision, "recall": total.recall}
