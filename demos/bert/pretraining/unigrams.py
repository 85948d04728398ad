"""The frequency of each entry of the vocabulary in the texts of this project: one way to draw a random word."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np

from demos.files import DATA

UNIFORM, UNIGRAM = "uniform", "unigram"  # how the random words are drawn
FILES: Mapping[str, tuple[str, ...]] = {  # of assets/data: the columns that hold sentences
    "emotion.tsv": ("text",),
    "library.tsv": ("sentence",),
    "next.tsv": ("sentence",),
    "paraphrase.tsv": ("first", "second"),
    "senses.tsv": ("sentence",),
    "sentiment.tsv": ("text",),
    "similarity.tsv": ("sentence1", "sentence2"),
}
CACHED_TOKENIZERS = 8  # tokenizers whose counts are kept; a count is 8 bytes an entry


@dataclass(frozen=True)
class Unigrams:
    """Counts over a vocabulary of V entries."""

    counts: np.ndarray  # <int64>[V]

    @cached_property
    def shares(self) -> np.ndarray:
        """The probability of each entry: its count over all counts, <float64>[V]; 0 where it does not occur."""
        return self.counts / self.counts.sum()

    @cached_property
    def _cumulative(self) -> np.ndarray:
        sums = self.shares.cumsum()
        return sums / sums[-1]

    @property
    def total(self) -> int:
        """The number of tokens that were counted."""
        return int(self.counts.sum())

    @property
    def missing(self) -> float:
        """The share of the vocabulary that does not occur: how often a uniform draw gives such an entry."""
        return float((self.counts == 0).mean())

    @property
    def half(self) -> int:
        """The fewest entries that make up half of all draws."""
        return int((np.sort(self.shares)[::-1].cumsum() < 0.5).sum()) + 1

    def draw(self, rng: np.random.Generator, size: int) -> np.ndarray:
        """`size` entries <int64>[size], as by `rng.choice(V, size, p=shares)`, with the V shares added up only once."""
        return self._cumulative.searchsorted(rng.random(size), side="right")


@cache
def project_texts() -> tuple[str, ...]:
    """The sentences of `FILES`, written for this project."""
    sentences: list[str] = []
    for name, columns in FILES.items():
        with (DATA / name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                sentences += [row[column] for column in columns]
    return tuple(sentences)


def count_unigrams(tokenizer: Any, texts: Iterable[str]) -> Unigrams:
    """The tokens of `texts`, without [CLS] and [SEP], counted by their id."""
    ids = tokenizer(list(texts), add_special_tokens=False)["input_ids"]
    return Unigrams(np.bincount(np.concatenate(ids).astype(np.int64), minlength=tokenizer.vocab_size))


@lru_cache(maxsize=CACHED_TOKENIZERS)
def project_unigrams(tokenizer: Any) -> Unigrams:
    """The project's texts counted with this tokenizer."""
    return count_unigrams(tokenizer, project_texts())
