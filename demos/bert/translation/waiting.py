"""Sequential steps, and the distance between two words (Vaswani et al. 2017, table 1)."""

from dataclasses import dataclass

from demos.bert.translation.transformer import LAYERS
from demos.bert.translation.translators import TRANSFORMER


@dataclass(frozen=True)
class Waiting:
    """The sequential steps for one sentence of n source words and m target words (its end included)."""

    trained: int  # steps in sequence of one pass in training, where the decoder is given the right words
    path: int  # steps between the first and the last source word
    written: int  # steps in sequence when the decoder must write the words itself


def waiting(kind: str, n: int, m: int) -> Waiting:
    """A GRU's step is one word in one layer; the Transformer's is one layer, all words at once."""
    if kind == TRANSFORMER:
        return Waiting(2 * LAYERS, 1, LAYERS + m * LAYERS)
    return Waiting(n + m, n - 1, n + m)
