"""The tokens of a list that are nearest to one token in its sentence, by the hidden states of one layer (exBERT)."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.embeddings.search import ranking, ranks
from demos.bert.embeddings.vector_cache import Encoded, digest_of
from demos.bert.model.batches.packing import grouped, hidden_states
from demos.bert.model.batches.token_lists import TokenLists, tokenized
from demos.bert.model.encoding import Encoding, special_ids
from demos.bert.model.generators import drained
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import ObjectNumbers, OnceCache

MOST_TOKENS = 64  # of a sentence of the list, and of the one with the chosen token; longer ones are cut
KIND = "tokens of a layer"  # as the memory budget calls them
MAX_CACHE_BYTES = 256 * 2**20  # of all layers and lists: 2,000 sentences of 64 tokens are 98 MB in MiniLM
CHUNK = 4_096  # rows that are float32 at a time


@dataclass(frozen=True)
class LayerIndex:
    """The N tokens of m sentences, without [CLS] and [SEP], at one layer: each one's direction in half precision."""

    lists: TokenLists
    places: np.ndarray  # <int64>[N]: of each token in `lists.ids`
    units: np.ndarray  # <float16>[N, d]: hidden states, each divided by its length

    def __len__(self) -> int:
        return len(self.places)

    @property
    def nbytes(self) -> int:
        return self.units.nbytes + self.places.nbytes + self.lists.ids.nbytes

    @property
    def sentences(self) -> np.ndarray:
        """The number of each token's sentence, <int64>[N]."""
        return np.searchsorted(self.lists.starts, self.places, side="right") - 1

    @property
    def positions(self) -> np.ndarray:
        """Each token's position in its sentence, [CLS] being 0: <int64>[N]."""
        return self.places - self.lists.starts[self.sentences]

    def cosines(self, vector: np.ndarray) -> np.ndarray:
        """The cosine of a hidden state [d] with each token's, <float32>[N]; half precision costs up to 1e-4."""
        unit = (vector / np.linalg.norm(vector)).astype(np.float32)
        parts = [self.units[at : at + CHUNK].astype(np.float32) @ unit for at in range(0, len(self), CHUNK)]
        return np.concatenate(parts)


@dataclass(frozen=True)
class Common:
    """The properties that each of n tokens shares with the chosen one: <bool>[n] each."""

    token: np.ndarray
    position: np.ndarray
    left: np.ndarray  # the token before it; [CLS] where it is a sentence's first
    right: np.ndarray


def common(index: LayerIndex, encoding: Encoding, place: int) -> Common:
    """The properties that every token of the index shares with the one at `place` of another input."""
    ids, chosen = index.lists.ids, encoding.input_ids
    return Common(
        token=ids[index.places] == chosen[place],
        position=index.positions == place,
        left=ids[index.places - 1] == chosen[place - 1],
        right=ids[index.places + 1] == chosen[place + 1],
    )


def others(index: LayerIndex, encoding: Encoding, place: int) -> np.ndarray:
    """True for each token of the index that is not the chosen one, in the same sentence: <bool>[N]."""
    lists = index.lists
    same = np.flatnonzero(lists.lengths == len(encoding))
    equal = [row for row in same if np.array_equal(lists.of(np.array([row])), encoding.input_ids)]
    return ~(np.isin(index.sentences, equal) & (index.positions == place))


@dataclass(frozen=True)
class Nearest:
    """The nearest tokens at one layer, best first, and what they have in common with the chosen one."""

    cosines: np.ndarray  # <float32>[N] of all tokens; -inf of the chosen one
    rows: np.ndarray  # <int64>[k] into the index
    ranks: np.ndarray  # <int64>[N], from 1


def nearest(index: LayerIndex, vector: np.ndarray, allowed: np.ndarray, most: int) -> Nearest:
    """The first `most` of the `allowed` tokens by their cosine with `vector` [d]; equal ones in the list's order."""
    cosines = np.where(allowed, index.cosines(vector), -np.inf)
    return Nearest(cosines, ranking(cosines)[: min(most, int(allowed.sum()))], ranks(cosines))


class LayerIndexes:
    """Indices by (model, list, layer), least recently used out first, within MAX_CACHE_BYTES; safe for many threads."""

    def __init__(self, memory: Budget | None = None) -> None:
        self._memory = Budget() if memory is None else memory
        self._models = ObjectNumbers()
        self._indexes: OnceCache[Encoded, LayerIndex] = OnceCache(
            MAX_CACHE_BYTES, lambda result: result[0].nbytes, self._memory, KIND
        )

    def steps(self, loaded: LoadedModel, texts: Sequence[str], layer: int) -> Generator[Encoded, None, LayerIndex]:
        """The index of these texts at a layer, 0..L, each cut to MOST_TOKENS tokens; yields after each batch.

        The layers above are not computed. Closed early, the work ends with the batch. Raises UserError without memory.
        """

        def read() -> Generator[Encoded, None, LayerIndex]:
            lists = tokenized(loaded.tokenizer, texts, most_tokens=MOST_TOKENS)
            is_word = ~np.isin(lists.ids, sorted(special_ids(loaded.tokenizer)))
            places = np.flatnonzero(is_word)
            width = loaded.model.config.hidden_size
            with self._memory.claim(KIND, 2.0 * width * len(places), throw_away=True):
                units = np.empty((len(places), width), np.float16)
                needed, done = frozenset({layer}), 0
                for rows in lists.batches(1):
                    with torch.inference_mode():
                        ids, groups = torch.from_numpy(lists.of(rows)), grouped(lists.lengths[rows].tolist())
                        states = hidden_states(loaded.model, ids, groups, needed)[layer]
                        batch = torch.nn.functional.normalize(states.float(), dim=-1).half().numpy()
                    at = np.concatenate([np.arange(lists.starts[row], lists.starts[row + 1]) for row in rows])
                    units[np.searchsorted(places, at[is_word[at]])] = batch[is_word[at]]
                    done += len(rows)
                    yield Encoded(done, len(texts))
            return LayerIndex(lists, places, units)

        key = (self._models.of(loaded.model), digest_of(texts), layer)
        return (yield from self._indexes.steps(key, read, Encoded(0, len(texts))))

    def get(self, loaded: LoadedModel, texts: Sequence[str], layer: int) -> LayerIndex:
        """`steps` without its progress."""
        return drained(self.steps(loaded, texts, layer))
