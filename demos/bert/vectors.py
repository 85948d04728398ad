"""Many sentences to vectors: sorted by length, in bounded memory, with progress; and the cache that shares them."""

from __future__ import annotations

import copy
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.encoding import MAX_TOKENS, encode
from demos.bert.models import LoadedModel
from demos.bert.pooling import Choice, dimension, has_pooler, pool_batch

BATCH_TOKENS = 2_048
MAX_CACHE_BYTES = 256 * 2**20
LOOK_SECONDS = 0.2  # between two looks at whether another reader's pass is over


@dataclass(frozen=True)
class Encoded:
    """How far an encoding is."""

    done: int  # sentences
    total: int


def encode_sentences(
    loaded: LoadedModel, sentences: Sequence[str], choices: Sequence[Choice]
) -> Generator[Encoded, None, list[np.ndarray]]:
    """For each choice one vector a sentence, in the sentences' order: float32 [m, D]; tells after each batch.

    `vectors = yield from encode_sentences(...)` passes the progress on; `drained` throws it away. A sentence beyond 512
    tokens is cut, as `encode` does. Raises UserError as `encode` and `pool_batch` do.
    """
    encodings = [encode(loaded.tokenizer, sentence) for sentence in sentences]
    config = loaded.model.config
    found = [
        np.empty((len(sentences), dimension(one, config.num_hidden_layers, config.hidden_size)), dtype=np.float32)
        for one in choices
    ]
    model = fast_twin(loaded)
    pooler = loaded.model.pooler if has_pooler(loaded) else None
    done = 0
    order = sorted(range(len(encodings)), key=lambda index: -len(encodings[index]))
    while done < len(order):
        longest = min(MAX_TOKENS, len(encodings[order[done]]))
        rows = order[done : done + max(1, BATCH_TOKENS // longest)]
        ids = torch.zeros(len(rows), longest, dtype=torch.long)
        mask, special = torch.zeros_like(ids), torch.ones_like(ids)
        for at, row in enumerate(rows):
            one = encodings[row]
            ids[at, : len(one)] = torch.tensor(one.input_ids)
            mask[at, : len(one)] = 1
            special[at, : len(one)] = torch.tensor(one.special_tokens_mask)
        with torch.inference_mode():
            hidden = model(input_ids=ids, attention_mask=mask, output_hidden_states=True).hidden_states
            for choice, into in zip(choices, found, strict=True):
                into[rows] = pool_batch(hidden, mask, special, choice, pooler).numpy()
        done += len(rows)
        yield Encoded(done, len(order))
    return found


def drained(steps: Generator[Encoded, None, list[np.ndarray]]) -> list[np.ndarray]:
    """What an encoding ends with, without its progress."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: list[np.ndarray] = end.value
            return result


def fast_twin(loaded: LoadedModel) -> Any:
    """The model with PyTorch's fused attention, sharing its weights: the shared one is eager, to show its attention."""
    memo = {id(tensor): tensor for tensor in [*loaded.model.parameters(), *loaded.model.buffers()]}
    twin = copy.deepcopy(loaded.model, memo)
    twin.set_attn_implementation("sdpa")
    return twin


class VectorCache:
    """Vectors by (model, sentences, choice), least recently used out first, bounded by bytes; safe for many threads.

    Who asks for what another thread is computing waits for it and computes nothing.
    """

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES) -> None:
        self.max_bytes = max_bytes
        self._vectors: OrderedDict[tuple[str, Choice], np.ndarray] = OrderedDict()
        self._busy: dict[str, threading.Lock] = {}
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return sum(vectors.nbytes for vectors in self._vectors.values())

    def steps(
        self, loaded: LoadedModel, sentences: Sequence[str], choices: Sequence[Choice]
    ) -> Generator[Encoded, None, list[np.ndarray]]:
        """As `encode_sentences`, from the cache where it is there; the arrays are read-only and shared."""
        key = hashlib.sha256("\n".join([loaded.spec.key, *sentences]).encode()).hexdigest()
        with self._lock:
            turn = self._busy.setdefault(key, threading.Lock())
        while not turn.acquire(timeout=LOOK_SECONDS):
            yield Encoded(0, len(sentences))
        try:
            missing = [one for one in dict.fromkeys(choices) if (key, one) not in self._vectors]
            computed: dict[Choice, np.ndarray] = {}
            if missing:
                arrays = yield from encode_sentences(loaded, sentences, missing)
                computed = dict(zip(missing, arrays, strict=True))
            return [self._kept(key, one, computed) for one in choices]
        finally:
            turn.release()
            with self._lock:
                self._busy.pop(key, None)

    def get(self, loaded: LoadedModel, sentences: Sequence[str], choices: Sequence[Choice]) -> list[np.ndarray]:
        """`steps` without its progress."""
        return drained(self.steps(loaded, sentences, choices))

    def _kept(self, key: str, choice: Choice, computed: dict[Choice, np.ndarray]) -> np.ndarray:
        with self._lock:
            vectors = computed[choice] if choice in computed else self._vectors[key, choice]
            vectors.flags.writeable = False
            self._vectors[key, choice] = vectors
            self._vectors.move_to_end((key, choice))
            while len(self._vectors) > 1 and self.nbytes > self.max_bytes:
                self._vectors.popitem(last=False)
            return vectors
