"""The frozen vectors that a classifier may use: pooling x layer, and several layers side by side."""

from collections.abc import Mapping
from functools import reduce

import numpy as np

from demos.bert.embeddings.pooling import (
    CONCAT_LAST_FOUR,
    SUM_ALL,
    SUM_LAST_FOUR,
    Choice,
    choices_of,
    dimension,
    layers_used,
)
from demos.bert.model.models import LoadedModel

CONCAT_ALL = "concat_all"  # a Choice's layer here: every hidden state, 0..L, side by side
LAYERS_TOGETHER = (SUM_LAST_FOUR, SUM_ALL, CONCAT_LAST_FOUR, CONCAT_ALL)
DIGITS = 5
MAX_DIMENSION = 10_000  # a wider vector is not offered: fitting it would take minutes


def features_of(loaded: LoadedModel) -> list[Choice]:
    """Every vector on offer for this model: each pooling on each layer and combination, and a trained pooler."""
    layers, width = loaded.model.config.num_hidden_layers, loaded.model.config.hidden_size
    offered = choices_of(loaded, LAYERS_TOGETHER)
    return [choice for choice in offered if width_of(choice, layers, width) <= MAX_DIMENSION]


def width_of(choice: Choice, num_layers: int, width: int) -> int:
    """The number of components of the vector."""
    return width * (num_layers + 1) if choice.layer == CONCAT_ALL else dimension(choice, num_layers, width)


def parts_of(choice: Choice, num_layers: int) -> list[Choice]:
    """The choices of pooling.py whose vectors, joined, are this one's: single layers wherever they do.

    The mean of a sum is the sum of the means; only the largest of a sum is not to be had from the layers' largest.
    """
    if choice.layer == CONCAT_ALL:
        return [Choice(choice.pooling, layer) for layer in range(num_layers + 1)]
    if isinstance(choice.layer, int) or (choice.pooling == "max" and choice.layer != CONCAT_LAST_FOUR):
        return [choice]
    return [Choice(choice.pooling, layer) for layer in layers_used(choice.layer, num_layers)]


def joined(choice: Choice, num_layers: int, vectors: Mapping[Choice, np.ndarray]) -> np.ndarray:
    """This choice's vectors from its parts' (each float32 [m, d]): their sum, or all of them side by side.

    Rounded to DIGITS digits behind the point: some numbers are the same for every sentence but for float32's noise,
    which must not be stretched to a feature by standardising.
    """
    parts = [vectors[part] for part in parts_of(choice, num_layers)]
    if choice.layer in (CONCAT_LAST_FOUR, CONCAT_ALL):
        return np.concatenate(parts, axis=1).round(DIGITS)
    total: np.ndarray = reduce(np.add, parts)
    return total.round(DIGITS)
