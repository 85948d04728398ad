"""Heads for grammar: how often a head's strongest weight leads from a word to the word that it depends on, or back.

Clark et al. 2019, What Does BERT Look At?, sections 4.2 and 4.3: a head is a classifier that needs no training, judged
by its accuracy on one relation, beside the best fixed offset. Word by word: what goes to a split word is summed over
its pieces, what comes from it is averaged (their section 4.1). Special tokens and the word itself are no candidates.
"""

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.attention.matrix_labels import word_starts
from demos.bert.attention.rollout import to_words
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.errors import UserError

RELATIONS = ("subject", "object", "determiner", "possessive", "coreference")
WORD = re.compile(r"\w+|[^\w\s]")  # as BERT's basic tokenizer splits plain English
BATCH = 8


@dataclass(frozen=True)
class Sentence:
    """A sentence with its pairs: (relation, dependent, head), both as places among its words and marks."""

    text: str
    words: tuple[str, ...]
    pairs: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Best:
    """The head that is best at a relation."""

    direction: int  # 0: the dependent attends to its head; 1: the head attends to the dependent
    layer: int
    head: int
    accuracy: float


@dataclass(frozen=True)
class Relation:
    """The accuracy of all heads at one relation, over P pairs."""

    name: str
    places: tuple[tuple[int, int, int], ...]  # of each pair: its sentence, dependent, head
    predicted: np.ndarray  # <int>[2, L, A, P]: the word that each head leads to, by direction
    hits: np.ndarray  # <bool>[2, L, A, P]: whether that is the right one
    offset: int  # of the baseline: the head is so many words after its dependent
    baseline: float
    held_out: float  # the accuracy of heads chosen on the other half of the sentences

    @property
    def accuracy(self) -> np.ndarray:
        """<float>[2, L, A]."""
        return self.hits.mean(axis=-1)

    @property
    def best(self) -> Best:
        """The first of the best ones."""
        direction, layer, head = best_place(self.hits)
        return Best(direction, layer, head, float(self.accuracy[direction, layer, head]))


def read_sentences(text: str) -> tuple[Sentence, ...]:
    """Blocks of two lines, a sentence and its pairs; lines with # before them are left out.

    Raises ValueError for a relation or a word that is not known.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return tuple(map(_read, lines[::2], lines[1::2]))


def _read(text: str, pairs: str) -> Sentence:
    words = tuple(WORD.findall(text))
    lower = [word.lower() for word in words]

    def place(name: str) -> int:
        word, _, count = name.lower().partition("#")
        at = [place for place, candidate in enumerate(lower) if candidate == word]
        if len(at) < int(count or 1):
            raise ValueError(f"{name!r} is not in {text!r}")
        return at[int(count or 1) - 1]

    read = []
    for pair in pairs.split("|"):
        relation, dependent, head = pair.split()
        if relation not in RELATIONS:
            raise ValueError(f"{relation!r} is no relation")
        read.append((relation, place(dependent), place(head)))
    return Sentence(text, words, tuple(read))


def word_weights(attentions: np.ndarray, encoding: Encoding) -> np.ndarray:
    """Weights [L, A, n, n] between tokens -> [L, A, w, w] between words; special tokens are left out."""
    starts = word_starts(encoding)
    words = [at for at, start in enumerate(starts) if not encoding.special_tokens_mask[start]]
    return to_words(attentions, starts)[..., words, :][..., words]


def measure_grammar(loaded: LoadedModel, sentences: Sequence[Sentence]) -> Generator[int, None, dict[str, Relation]]:
    """Every head at every relation; yields how many sentences are read."""
    encodings = [encode(loaded.tokenizer, sentence.text) for sentence in sentences]
    strongest: list[np.ndarray] = []  # of each sentence <int>[L, A, w]: the word with most weight of each word's row
    for start in range(0, len(encodings), BATCH):
        yield start
        for run in run_model(loaded, encodings[start : start + BATCH]):
            weights = word_weights(run.attentions, run.encoding)
            if weights.shape[-1] != len(sentences[len(strongest)].words):
                raise UserError(
                    "This model's tokenizer splits these sentences into words differently from the annotation, so the "
                    "heads can't be scored on them."
                )
            at = np.arange(weights.shape[-1])
            weights[..., at, at] = -1
            strongest.append(weights.argmax(axis=-1))
    return {name: relation_of(name, sentences, strongest) for name in RELATIONS}


def relation_of(name: str, sentences: Sequence[Sentence], strongest: Sequence[np.ndarray]) -> Relation:
    """One relation's scores, from the word that each word gives most weight to, <int>[L, A, w] a sentence."""
    places = tuple(
        (number, dependent, head)
        for number, sentence in enumerate(sentences)
        for relation, dependent, head in sentence.pairs
        if relation == name
    )
    directions = [[(number, a, b) for number, a, b in places], [(number, b, a) for number, a, b in places]]
    predicted = np.stack(
        [np.stack([strongest[number][..., at] for number, at, _ in pairs], axis=-1) for pairs in directions]
    )
    right = np.array([[to for *_, to in pairs] for pairs in directions])  # [2, P]
    hits = predicted == right[:, None, None, :]
    distances = [head - dependent for _, dependent, head in places]
    offset = max(sorted(set(distances), key=abs), key=distances.count)
    odd = np.array([number % 2 for number, *_ in places], dtype=bool)
    held_out = sum(float(hits[(*best_place(hits[..., chosen]), ...)][~chosen].sum()) for chosen in (odd, ~odd)) / len(
        places
    )
    return Relation(name, places, predicted, hits, offset, distances.count(offset) / len(places), held_out)


def best_place(hits: np.ndarray) -> tuple[int, int, int]:
    """(direction, layer, head) with most hits [2, L, A, P]; the first of equal ones."""
    direction, layer, head = np.unravel_index(int(hits.sum(axis=-1).argmax()), hits.shape[:-1])
    return int(direction), int(layer), int(head)
