"""A data set as tensors: lists of ids, the padded matrix and its mask, the last hidden state and its [CLS] slice."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.vector_cache import Encoded, VectorCache
from demos.bert.model.batches.token_lists import TokenLists, tokenized
from demos.bert.model.models import LoadedModel

SENTENCES, LEAST_SENTENCES, DIMENSIONS = 40, 8, 96  # of the tensor that are kept to be drawn
TOKENS = 2_640  # in the sentences that are kept, padding included: about a second for the bundled model
BATCH = 8  # sentences that the model reads between two tellings


@dataclass(frozen=True, eq=False)
class Tensors:
    """m sentences, the longest of n tokens, read by a model of width d.

    The whole last hidden state [m, n, d] is not kept, 200 MB for 2,000 sentences: what is drawn of it is.
    """

    ids: TokenLists  # m lists of different lengths
    padded: np.ndarray  # <int32>[m, n]
    mask: np.ndarray  # <int8>[m, n]: 1 for a token, 0 for padding
    features: np.ndarray  # <float32>[m, d] = last_hidden_state[:, 0, :]
    rows: np.ndarray  # <int>[s]: the sentences drawn, evenly spread over all m
    columns: np.ndarray  # <int>[c]: the dimensions drawn, evenly spread over all d
    states: np.ndarray  # <float32>[s, n, c]: the last hidden state of these, padding included

    @property
    def shape(self) -> tuple[int, int, int]:
        """(m, n, d) of the last hidden state."""
        return (*self.padded.shape, self.features.shape[1])

    @property
    def nbytes(self) -> int:
        """The bytes that keeping it takes."""
        arrays = (self.ids.ids, self.padded, self.mask, self.features, self.states)
        return sum(array.nbytes for array in arrays)


def padded_matrix(ids: TokenLists, pad: int) -> np.ndarray:
    """Each list as a row, filled up with `pad` to the longest: <int32>[m, n]."""
    lengths = ids.lengths
    padded = np.full((len(lengths), int(lengths.max(initial=0))), pad, dtype=np.int32)
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = ids.ids
    return padded


def spread(count: int, most: int) -> np.ndarray:
    """At most `most` of the numbers 0 ... count - 1, the first and the last among them, evenly spread."""
    return np.linspace(0, count - 1, min(count, most)).round().astype(int)


def tensor_steps(cache: VectorCache, loaded: LoadedModel, texts: Sequence[str]) -> Generator[Encoded, None, Tensors]:
    """The tensors of these texts; yields how many sentences are encoded so far. Raises UserError as `encode` does."""
    model = loaded.model
    ids = tokenized(loaded.tokenizer, texts)
    padded = padded_matrix(ids, loaded.tokenizer.pad_token_id)
    mask = (np.arange(padded.shape[1]) < ids.lengths[:, None]).astype(np.int8)
    (features,) = yield from cache.steps(loaded, texts, [Choice("cls", model.config.num_hidden_layers)])
    rows = spread(len(texts), min(SENTENCES, max(LEAST_SENTENCES, TOKENS // padded.shape[1])))
    columns = spread(features.shape[1], DIMENSIONS)
    states = np.empty((len(rows), padded.shape[1], len(columns)), np.float32)
    for first in range(0, len(rows), BATCH):
        lot = rows[first : first + BATCH]
        input_ids, attention_mask = (torch.from_numpy(part[lot].astype(np.int64)) for part in (padded, mask))
        with torch.inference_mode():
            last = model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        states[first : first + BATCH] = last[:, :, torch.from_numpy(columns)].numpy()
        yield Encoded(len(texts), len(texts))
    return Tensors(ids, padded, mask, features, rows, columns, states)
