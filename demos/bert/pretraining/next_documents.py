"""Our little documents for next sentences: read, drawn from, made into trials, and a model's answers counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from demos.bert.pretraining.next_sentence import IS_NEXT, NOT_NEXT, Answers
from demos.files import DATA

FILE = DATA / "next.tsv"
TRUE, OTHER, SWAPPED, LATER = KINDS = ("next", "other", "swapped", "later")


@dataclass(frozen=True)
class Document:
    """A few consecutive sentences; `kind` is the kind of text, such as news or recipe."""

    kind: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Trial:
    """One pair to examine a model with, of one of the KINDS."""

    first: str
    second: str
    kind: str

    @property
    def label(self) -> int:
        """The right answer: only the kind TRUE has its second sentence right behind the first."""
        return IS_NEXT if self.kind == TRUE else NOT_NEXT


@dataclass(frozen=True)
class Score:
    """A model's answers to the trials of one kind."""

    kind: str
    count: int
    said_next: int  # how many of them it called IsNext
    mean: float  # of its probabilities of IsNext

    @property
    def right(self) -> int:
        return self.said_next if self.kind == TRUE else self.count - self.said_next


@cache
def our_documents() -> tuple[Document, ...]:
    """The documents that come with the project (assets/data/next.md), in the file's order."""
    kinds: dict[str, str] = {}
    documents: dict[str, list[str]] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines()[1:]:
        number, kind, sentence = line.split("\t")
        kinds[number] = kind
        documents.setdefault(number, []).append(sentence)
    return tuple(Document(kinds[number], tuple(sentences)) for number, sentences in documents.items())


def random_sentence(documents: Sequence[Sequence[str]], apart: Sequence[str], rng: np.random.Generator) -> str:
    """Any sentence of a document that holds none of the sentences `apart`."""
    others = [sentences for sentences in documents if not set(sentences) & set(apart)]
    sentences = others[int(rng.integers(len(others)))]
    return sentences[int(rng.integers(len(sentences)))]


def draw_trials(documents: Sequence[Sequence[str]], rng: np.random.Generator) -> list[Trial]:
    """Four pairs a document, one of each kind, about one and the same sentence of it; they lie together.

    That sentence has at least two behind it: its next one, and a later one, which is drawn. So it takes two documents
    or more, of three sentences or more.
    """
    trials: list[Trial] = []
    for number, sentences in enumerate(documents):
        place = int(rng.integers(len(sentences) - 2))
        first, second = sentences[place], sentences[place + 1]
        later = sentences[int(rng.integers(place + 2, len(sentences)))]
        other = documents[(number + int(rng.integers(1, len(documents)))) % len(documents)]
        trials += [
            Trial(first, second, TRUE),
            Trial(first, other[int(rng.integers(len(other)))], OTHER),
            Trial(second, first, SWAPPED),
            Trial(first, later, LATER),
        ]
    return trials


def score_trials(trials: Sequence[Trial], answers: Answers) -> tuple[Score, ...]:
    """One Score a kind, in the order of KINDS; `answers` has a row a trial."""
    kinds = np.array([trial.kind for trial in trials])
    return tuple(
        Score(
            kind,
            int((kinds == kind).sum()),
            int(answers.is_next[kinds == kind].sum()),
            float(answers.probabilities[kinds == kind, IS_NEXT].mean()),
        )
        for kind in KINDS
        if (kinds == kind).any()
    )
