"""Sentences of books for a language model: words counted, the commonest kept, sentences in groups of one length."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from demos.bert.elmo.words import BEGIN, END, SPECIAL, split_words
from demos.training.pretraining.offline.corpus import read_documents

SHORTEST, LONGEST = 4, 40  # words of a sentence that is read
HELD_OUT_BOOKS = 12  # the last ones, as for the pre-training heads


@dataclass(frozen=True)
class Sentences:
    """Sentences as ids of `types`, both ends of the sentence included, those of one length in one matrix."""

    types: tuple[str, ...]  # every word that occurs, SPECIAL first, the commonest of the rest next
    of_length: dict[int, np.ndarray]  # length: <int32>[sentences, length]

    def batches(self, words: int, seed: int) -> Iterator[np.ndarray]:
        """All sentences once, in an order drawn by `seed`, some `words` words at a time."""
        rng = np.random.default_rng(seed)
        groups = []
        for length, rows in self.of_length.items():
            drawn, size = rows[rng.permutation(len(rows))], max(1, words // length)
            groups += [drawn[start : start + size] for start in range(0, len(drawn), size)]
        yield from (groups[at] for at in rng.permutation(len(groups)))


def read_books(path: Path, every: int) -> tuple[list[list[str]], list[list[str]]]:
    """(sentences to train on, held-out sentences), as words: each `every`-th sentence of each book."""
    books = [[split_words(sentence) for sentence in book[::every]] for book in read_documents(path)]
    whole = [[words for words in book if SHORTEST <= len(words) <= LONGEST] for book in books]
    train, held_out = whole[:-HELD_OUT_BOOKS], whole[-HELD_OUT_BOOKS:]
    return [words for book in train for words in book], [words for book in held_out for words in book]


def common_words(sentences: Sequence[Sequence[str]], count: int) -> tuple[str, ...]:
    """SPECIAL and the commonest words, `count` in all."""
    counts = Counter(word for words in sentences for word in words)
    return (*SPECIAL, *(word for word, _ in counts.most_common(count - len(SPECIAL))))


def grouped(sentences: Sequence[Sequence[str]], known: Sequence[str]) -> Sentences:
    """The sentences as ids; the words of `known` have the first ids."""
    ids = {word: place for place, word in enumerate(known)}
    rows: defaultdict[int, list[list[int]]] = defaultdict(list)
    for words in sentences:
        rows[len(words) + 2].append([BEGIN, *(ids.setdefault(word, len(ids)) for word in words), END])
    return Sentences(tuple(ids), {length: np.array(some, dtype=np.int32) for length, some in rows.items()})
