"""The readers' own copies: on what and how far each is trained; within a bound, the least recently used out."""

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self
from weakref import finalize

from demos.bert.model.memory_budget import Budget
from demos.bert.model.once_cache import Recent
from demos.bert.pretraining.heads import Pretrained
from demos.errors import UserError
from demos.training.pretraining.batches import Instance, draw
from demos.training.pretraining.learner import Learner
from demos.training.pretraining.passage import Passage
from demos.training.pretraining.probes import ProbeResult, Question, ask, questions
from demos.training.settings import Settings

SHARE = 0.5  # of the memory budget, for all copies; one that alone needs more is refused
MAX_STEPS = 1_000  # of one copy
BATCHES = (2, 32)  # the least and the most sequences in a batch
GONE = "Your copy of the model was removed to free memory for other users; the next step starts from the beginning."
BUSY = "Your copy of the model is already being trained; wait until it finishes, or stop it."
LONG = f"Your copy of the model has reached the limit of {MAX_STEPS:,} steps; start over."
BYTES, GRADIENT = 12, 4  # a parameter: its weight and AdamW's two averages; its gradient, while it is trained
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)


@dataclass(frozen=True)
class Recipe:
    """The reader's choices. The rate is constant: 1e-4 is the peak of BERT's own (Devlin et al. 2019, A.2)."""

    rate: float = 1e-4
    batch_size: int = 8
    seed: int = 0
    untrained: bool = True  # the same from random weights beside it

    def check(self) -> Self:
        """This recipe. Raises UserError, naming the first choice that is out of bounds."""
        Settings(learning_rate=self.rate, seed=self.seed).check()
        least, most = BATCHES
        if not isinstance(self.batch_size, int) or not least <= self.batch_size <= most:
            raise UserError(f"The batch size must be a whole number from {least} to {most}.")
        return self


@dataclass(frozen=True)
class Situation:
    """The text, the model and the settings of a copy's training; if they change, training starts from the beginning."""

    model: str  # catalogue key
    passage: Passage
    recipe: Recipe


@dataclass(frozen=True)
class Point:
    """One step on both curves; losses of the batch, before the move. NaN where there is none."""

    step: int
    masked: float
    following: float
    norm: float
    right: float  # share of the chosen tokens guessed right
    untrained: float  # masked words' loss of the model from random weights, on the same batch


@dataclass
class Copy:
    """One reader's copy under way. Only the run that holds `lock` touches it."""

    situation: Situation
    tokenizer: Any
    trained: Learner  # began as the pre-trained model
    untrained: Learner | None  # began at random
    probes: tuple[Question, ...]
    before: ProbeResult
    before_untrained: ProbeResult | None
    steps: int = 0
    points: list[Point] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def make(cls, situation: Situation, pretrained: Pretrained) -> Self:
        """A fresh one, with what it says before the first step."""
        recipe, tokenizer = situation.recipe, pretrained.tokenizer
        probes = questions(tokenizer, situation.passage)
        trained = Learner(pretrained)
        untrained = Learner(pretrained, recipe.seed) if recipe.untrained else None
        before = ask(trained.parts, tokenizer, situation.passage, probes)
        before_untrained = ask(untrained.parts, tokenizer, situation.passage, probes) if untrained else None
        return cls(situation, tokenizer, trained, untrained, probes, before, before_untrained)

    @property
    def learners(self) -> list[Learner]:
        """What is trained: the model that began as the pre-trained one, and perhaps the one that began at random."""
        return [learner for learner in (self.trained, self.untrained) if learner is not None]

    @property
    def nbytes(self) -> int:
        """Weights and AdamW's two averages, in float32."""
        return sum(BYTES * learner.parameters for learner in self.learners)

    @property
    def gradient_nbytes(self) -> int:
        """The gradient, which is there from the first step of a press to its end."""
        return sum(GRADIENT * learner.parameters for learner in self.learners)


def batch_of(situation: Situation, tokenizer: Any, step: int, has_relation: bool) -> tuple[Instance, ...]:
    """The instances of step number `step`; next sentences are predicted if text and model allow it."""
    recipe, pairs = situation.recipe, has_relation and situation.passage.has_pairs
    return draw(situation.passage, tokenizer, recipe.seed, step, recipe.batch_size, pairs)


def size_of(situation: Situation, pretrained: Pretrained) -> int:
    """The bytes that a copy would take in training, before it is made."""
    parts = (pretrained.encoder.model, pretrained.transform, pretrained.decoder, pretrained.pooler, pretrained.relation)
    own = {id(parameter): parameter.numel() for part in parts if part is not None for parameter in part.parameters()}
    return (BYTES + GRADIENT) * sum(own.values()) * (1 + situation.recipe.untrained)


class Keeper:
    """A mark that every state has from which a press can go on; when the last one is gone, the copy is let go."""


class Copies:
    """Copies by an id that can't be guessed, within their part of the memory budget; safe for many threads.

    The least recently used is let go for another one, or for a model that a reader needs; never while it is trained.
    """

    def __init__(self, memory: Budget | None = None, share: float = SHARE) -> None:
        memory = Budget() if memory is None else memory
        self._copies: Recent[Copy] = Recent(
            share * memory.most, lambda copy: copy.nbytes, memory, "copies", True, lambda copy: copy.lock.locked()
        )

    def get(self, name: str) -> Copy:
        """Raises UserError where it was let go, or never was."""
        copy = self._copies.get(name) if _ID.fullmatch(name) else None
        if copy is None:
            raise UserError(GONE)
        return copy

    def make(self, name: str, situation: Situation, pretrained: Pretrained) -> Copy:
        """A fresh one; others are let go before it is made. Raises UserError where there is no room for it."""
        nbytes, most = size_of(situation, pretrained), self._copies.most
        if nbytes > most:
            raise UserError(
                f"Training this copy needs {nbytes / 1e9:.1f} GB of memory; the limit is {most / 1e9:.1f} GB. "
                "Turn off the model from random weights, or choose a smaller model."
            )

        def made(take: Callable[[float], None]) -> Copy:
            take(nbytes)
            return Copy.make(situation, pretrained)

        return self._copies.make(name, made)

    def has(self, name: str) -> bool:
        """Whether it is still there."""
        return name in self._copies

    def put(self, name: str, copy: Copy) -> None:
        """Keep it, as the one that was used last."""
        self._copies.put(name, copy, needed=True)

    def keeper(self, name: str) -> Keeper:
        """A keeper of this copy: the copy is let go together with it."""
        keeper = Keeper()
        finalize(keeper, self.discard, name).atexit = False
        return keeper

    def discard(self, name: str | None) -> None:
        """Let it go. Unknown ids are fine."""
        self._copies.pop(name or "")

    def __len__(self) -> int:
        return len(self._copies)
