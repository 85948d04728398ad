"""One forward pass, frozen: the `Run` that every lesson reads, and the bounded cache that shares it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.batches.token_lists import padded_batches
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import Recent

MAX_CACHE_BYTES = 448 * 2**20  # 512 tokens of BERT large are 434: a run that is not kept costs a pass at each redraw
SHORT = 4 * 2**20  # bytes of a short input's run: a hundred tokens of MiniLM
MAX_SHORT_BYTES = 32 * 2**20  # of all short ones, a hundred and sixty sentences in MiniLM: one costs some milliseconds
BATCH_TOKENS = 2_048


@dataclass(frozen=True)
class Run:
    """What one model made of one input. The arrays are read-only; n tokens, L layers, A heads, width d."""

    model: str  # catalogue key
    encoding: Encoding
    hidden_states: np.ndarray  # <float32>[L + 1, n, d]: the embedding output, then each layer's
    attentions: np.ndarray  # <float32>[L, A, n, n]: rows (queries) sum to 1

    @property
    def nbytes(self) -> int:
        return self.hidden_states.nbytes + self.attentions.nbytes

    @property
    def num_layers(self) -> int:
        return self.attentions.shape[0]

    @property
    def num_heads(self) -> int:
        return self.attentions.shape[1]


def run_model(loaded: LoadedModel, encodings: Sequence[Encoding]) -> list[Run]:
    """One padded forward pass over `encodings`; each Run holds its own tokens' rows only, without the padding.

    Equal to transformers' own `hidden_states` and `attentions` for the sentence alone to 1e-5: padded batches add up
    float32 in another order.
    """
    inputs = model_inputs(loaded, encodings)
    with torch.inference_mode():
        output = loaded.model(**inputs, output_hidden_states=True, output_attentions=True)
    runs = []
    for row, encoding in enumerate(encodings):
        n = len(encoding)
        run = Run(
            model=loaded.spec.key,
            encoding=encoding,
            hidden_states=np.stack([layer[row, :n].numpy() for layer in output.hidden_states]),
            attentions=np.stack([layer[row, :, :n, :n].numpy() for layer in output.attentions]),
        )
        run.hidden_states.flags.writeable = False
        run.attentions.flags.writeable = False
        runs.append(run)
    return runs


class RunCache:
    """Runs by (model, text, text_pair), least recently used out first, bounded by bytes; safe for many threads.

    Long inputs' runs have a bound of their own, in which the longest of the largest model has room; a hall of short
    ones does not fill that.

    Shared by all lessons and all users: a sentence typed in one lesson costs one forward pass, not one a lesson.
    """

    def __init__(self, max_bytes: int = MAX_CACHE_BYTES, memory: Budget | None = None) -> None:
        self.max_bytes = max_bytes
        self._short, self._long = (
            Recent[Run](most, lambda run: run.nbytes, memory, "forward passes")
            for most in (min(max_bytes, MAX_SHORT_BYTES), max_bytes)
        )
        self._pending: dict[tuple[str, str, str], Future[Run]] = {}
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return int(self._short.total + self._long.total)

    def get(self, loaded: LoadedModel, text: str | None, text_pair: str | None = None) -> Run:
        """The run of one sentence or pair, from the cache or by one forward pass. Raises UserError as `encode`."""
        return self.get_many(loaded, [(text, text_pair)])[0]

    def get_many(self, loaded: LoadedModel, inputs: Sequence[tuple[str | None, str | None]]) -> list[Run]:
        """The runs of several inputs, in order; the missing ones in batches sorted by length, little padding."""
        encodings = [encode(loaded.tokenizer, text, pair) for text, pair in inputs]
        keys = [(loaded.spec.key, encoding.text, encoding.text_pair) for encoding in encodings]
        runs: dict[tuple[str, str, str], Run] = {}
        awaited: dict[tuple[str, str, str], Future[Run]] = {}  # another thread is at it: one pass serves all who ask
        mine: dict[tuple[str, str, str], Future[Run]] = {}
        with self._lock:
            for key in keys:
                run = self._short.get(key) or self._long.get(key)
                if run is not None:
                    runs[key] = run
                elif key in self._pending and key not in mine:
                    awaited[key] = self._pending[key]
                else:
                    mine[key] = self._pending.setdefault(key, Future())
        try:
            encoded = dict(zip(keys, encodings, strict=True))
            missing = [encoded[key] for key in mine]
            for rows in padded_batches(list(map(len, missing)), BATCH_TOKENS):
                for run in run_model(loaded, [missing[row] for row in rows]):
                    key = (run.model, run.encoding.text, run.encoding.text_pair)
                    runs[key] = run
                    (self._short if run.nbytes <= SHORT else self._long).put(key, run)
                    mine[key].set_result(run)
        except BaseException as error:
            for future in mine.values():
                if not future.done():
                    future.set_exception(error)
            raise
        finally:
            with self._lock:
                for key in mine:
                    self._pending.pop(key, None)
        runs |= {key: future.result() for key, future in awaited.items()}
        return [runs[key] for key in keys]
