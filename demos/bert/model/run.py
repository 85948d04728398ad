"""One forward pass, frozen: the `Run` that every lesson reads, and the bounded cache that shares it."""

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.model.batches.padding import model_inputs
from demos.bert.model.batches.token_lists import padded_batches
from demos.bert.model.encoding import Encoding, encode_lately
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel
from demos.bert.model.once_cache import Recent

MAX_CACHE_BYTES = 448 * 2**20  # 512 tokens of BERT large are 434: a run that is not kept costs a pass at each redraw
SHORT = 4 * 2**20  # bytes of a short input's run: a hundred tokens of MiniLM
MAX_SHORT_BYTES = 32 * 2**20  # of all short ones, a hundred and sixty sentences in MiniLM: one costs some milliseconds
BATCH_TOKENS = 2_048
MOST_TOGETHER = 16  # readers' inputs in one pass


@dataclass(frozen=True)
class Run:
    """The results of one model for one input. The arrays are read-only; n tokens, L layers, A heads, width d."""

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


@dataclass(frozen=True, eq=False)
class _Waiting:
    """An input that waits for a forward pass, and its run to come."""

    loaded: LoadedModel
    encoding: Encoding
    run: Future[Run]


class Rush:
    """Readers' inputs that wait at one moment go through the model together: sixteen take as long as six alone.

    A reader who finds a core free takes what waits through the model; the others wait for one who does. Safe for many
    threads.
    """

    def __init__(self, at_once: int = 2) -> None:
        self.at_once = at_once  # forward passes; each takes one core
        self._waiting: list[_Waiting] = []
        self._running = 0
        self._turn = threading.Condition()

    def run(self, loaded: LoadedModel, encoding: Encoding) -> Run:
        """The run of this input, as if it were alone, to float32's rounding. Raises what the model raises."""
        mine = _Waiting(loaded, encoding, Future())
        with self._turn:
            self._waiting.append(mine)
            while not mine.run.done():
                if self._running >= self.at_once or not self._waiting:
                    self._turn.wait()
                    continue
                together = self._next()
                self._running += 1
                self._turn.release()
                try:
                    _pass_of(together)
                finally:
                    self._turn.acquire()
                    self._running -= 1
                    self._turn.notify_all()
        return mine.run.result()

    def _next(self) -> list[_Waiting]:
        """The input that has waited longest, and those for the same model that need little padding beside it."""
        first, n = self._waiting[0], len(self._waiting[0].encoding)
        most = min(MOST_TOGETHER, max(1, BATCH_TOKENS // (2 * n)))
        together: list[_Waiting] = []
        others: list[_Waiting] = []
        for waiting in self._waiting:
            fits = waiting.loaded is first.loaded and n <= 2 * len(waiting.encoding) and len(waiting.encoding) <= 2 * n
            (together if fits and len(together) < most else others).append(waiting)
        self._waiting = others
        return together


def _pass_of(together: Sequence[_Waiting]) -> None:
    """One forward pass; all who wait for it get their run of it, or its error."""
    try:
        runs = run_model(together[0].loaded, [waiting.encoding for waiting in together])
    except BaseException as error:
        for waiting in together:
            waiting.run.set_exception(error)
        return
    for waiting, run in zip(together, runs, strict=True):
        waiting.run.set_result(run)


class RunCache:
    """Runs by (model, text, text_pair), least recently used out first, bounded by bytes; safe for many threads.

    Long inputs' runs have a separate bound, in which the longest of the largest model has room; a hall of short
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
        self._rush = Rush()

    @property
    def nbytes(self) -> int:
        return int(self._short.total + self._long.total)

    def get(self, loaded: LoadedModel, text: str | None, text_pair: str | None = None) -> Run:
        """The run of one sentence or pair, from the cache or by one forward pass. Raises UserError as `encode`."""
        return self.get_many(loaded, [(text, text_pair)])[0]

    def known(self, loaded: LoadedModel, encoding: Encoding) -> Run | None:
        """The run of this input, if a pass was made: one that reads it beside others `keep`s its run."""
        return self._known(_key(loaded.spec.key, encoding))

    def keep(self, run: Run) -> Run:
        """The same run, which others get from now on."""
        (self._short if run.nbytes <= SHORT else self._long).put(_key(run.model, run.encoding), run)
        return run

    def _known(self, key: tuple[str, str, str]) -> Run | None:
        return self._short.get(key) or self._long.get(key)

    def get_many(self, loaded: LoadedModel, inputs: Sequence[tuple[str | None, str | None]]) -> list[Run]:
        """The runs of several inputs, in order; the missing ones in batches sorted by length, little padding."""
        encodings = [encode_lately(loaded.tokenizer, text, pair) for text, pair in inputs]
        keys = [_key(loaded.spec.key, encoding) for encoding in encodings]
        runs: dict[tuple[str, str, str], Run] = {}
        awaited: dict[tuple[str, str, str], Future[Run]] = {}  # another thread runs it: one pass serves all callers
        mine: dict[tuple[str, str, str], Future[Run]] = {}
        with self._lock:
            for key in keys:
                if (run := self._known(key)) is not None:
                    runs[key] = run
                elif key in self._pending and key not in mine:
                    awaited[key] = self._pending[key]
                else:
                    mine[key] = self._pending.setdefault(key, Future())
        try:
            encoded = dict(zip(keys, encodings, strict=True))
            missing = [encoded[key] for key in mine]
            for made in self._passes(loaded, missing):
                key = _key(made.model, made.encoding)
                runs[key] = made
                self.keep(made)
                mine[key].set_result(made)
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

    def _passes(self, loaded: LoadedModel, encodings: Sequence[Encoding]) -> Iterator[Run]:
        """The runs: of one input together with other readers' that wait, of several in batches of about one length."""
        if len(encodings) == 1:
            yield self._rush.run(loaded, encodings[0])
            return
        for rows in padded_batches(list(map(len, encodings)), BATCH_TOKENS):
            yield from run_model(loaded, [encodings[row] for row in rows])


def _key(model: str, encoding: Encoding) -> tuple[str, str, str]:
    return model, encoding.text, encoding.text_pair
