"""The bundled decoder's scores on texts that it was not trained on, measured by demos/training/causal/scores.py."""

import json
import math
from dataclasses import dataclass
from functools import cache

from demos.files import ASSETS, read_text

FILE = ASSETS / "causal" / "measured.json"


@dataclass(frozen=True)
class Measured:
    """The score of one text. Word pieces that replace an unknown word are not scored."""

    title: str
    nats: float  # -ln of the probability of all scored pieces together
    pieces: int  # predicted
    words: int  # of them those that begin a word or are a punctuation mark
    right: int  # pieces that were the likeliest

    @property
    def perplexity(self) -> float:
        """The perplexity of a word piece: exp of the mean loss."""
        return math.exp(self.nats / self.pieces)

    @property
    def word_perplexity(self) -> float:
        """The perplexity of a word or punctuation mark: the same sum over fewer units, so a larger number."""
        return math.exp(self.nats / self.words)


@cache
def measured() -> tuple[Measured, ...]:
    """The measurements that are stored beside the weights."""
    return tuple(Measured(**entry) for entry in json.loads(read_text(FILE)))
