"""One encoding under way: sentences to vectors in threads of its own, watched by any number of readers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch

from demos.bert.cores import cores, own_cpu_threads
from demos.bert.encoding import MAX_TOKENS
from demos.bert.models import LoadedModel
from demos.bert.packed import Group, StoppedError, grouped, hidden_states
from demos.bert.pooling import Choice, check_choice, dimension, has_pooler, layers_used, pool_batch
from demos.bert.text import clean_text

BATCH_TOKENS = 512  # a pass of MiniLM takes 50 ms and its activations stay in the cache; twice as many are no quicker
SMALLEST_BATCH = 128  # tokens; below, the cores wait for Python
CHUNK_CHARACTERS = 100_000  # tokenized at a time: the tokenizer's own records weigh a hundred times the token ids
SENTENCE_CHARACTERS = 50  # what a sentence counts for besides its own characters, be it empty


class VectorJob:
    """The vectors of `sentences` for `choices`; begins at `start` and ends early once its last reader has left.

    Two threads with one core each encode sooner than one thread whose every product is split between two cores.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        sentences: Sequence[str],
        choices: Sequence[Choice],
        ended: Callable[[VectorJob], None] = lambda job: None,
    ) -> None:
        """`ended` is called once, in a thread of the job, before the readers hear of its end.

        Raises UserError for a choice that this model does not offer.
        """
        for choice in choices:
            check_choice(loaded, choice)
        self.loaded = loaded
        self.choices = list(dict.fromkeys(choices))
        self.total = len(sentences)
        self.done = 0  # sentences
        self.over = False
        self.error: BaseException | None = None
        self.vectors: dict[Choice, np.ndarray] = {}
        self._sentences = sentences
        self._ended = ended
        self._readers = 0
        self._changed = threading.Condition()

    def start(self) -> None:
        """Begin; its first reader has entered."""
        try:
            threading.Thread(target=self._run, name="encode").start()
        except BaseException as error:  # no thread to be had: nobody may wait for one
            self._end(error)
            raise

    def enter(self) -> None:
        """One more reader."""
        with self._changed:
            self._readers += 1

    def leave(self) -> None:
        """One reader fewer; without any, the work ends at the next layer."""
        with self._changed:
            self._readers -= 1

    def wanted(self) -> bool:
        """Whether anyone still reads it, nothing has failed, and the program has not come to its end."""
        return self._readers > 0 and self.error is None and threading.main_thread().is_alive()

    def wait(self, seen: int, seconds: float) -> None:
        """Until more than `seen` sentences are done, or it is over, but for `seconds` at most."""
        with self._changed:
            self._changed.wait_for(lambda: self.over or self.done > seen, seconds)

    def _run(self) -> None:
        try:
            own_cpu_threads(1)
            ids, starts = self._tokenized()
            self._sentences = ()
            config = self.loaded.model.config
            width, num_layers = config.hidden_size, config.num_hidden_layers
            found = {one: np.empty((self.total, dimension(one, num_layers, width)), np.float32) for one in self.choices}
            batches = list(_batches(np.diff(starts), cores()))
            left = iter(batches)
            helpers = [
                threading.Thread(target=self._work, args=(left, ids, starts, found), name="encode")
                for _ in range(min(cores(), len(batches)) - 1)
            ]
            for helper in helpers:
                helper.start()
            self._work(left, ids, starts, found)
            for helper in helpers:
                helper.join()
            if self.done < self.total:
                raise StoppedError
            for vectors in found.values():
                vectors.flags.writeable = False  # shared by every reader
            self.vectors = found
            self._end(None)
        except BaseException as error:
            self._end(error)

    def _end(self, error: BaseException | None) -> None:
        self.error = self.error or error
        self._ended(self)
        with self._changed:
            self.over = True
            self._changed.notify_all()

    def _tokenized(self) -> tuple[np.ndarray, np.ndarray]:
        """All token ids end to end <int32>[T], and where each sentence starts, and the end <int64>[m + 1].

        What `encode` gives each: the text cleaned, cut to 512 tokens with [SEP] kept.
        """
        parts: list[np.ndarray] = []
        lengths: list[int] = []
        for texts in _chunks(self._sentences):
            if not self.wanted():
                raise StoppedError
            # Never with truncation=... or padding=...: these change the tokenizer, which all threads share.
            rows = self.loaded.tokenizer(
                texts, return_attention_mask=False, return_token_type_ids=False, verbose=False
            )["input_ids"]
            cut = [row if len(row) <= MAX_TOKENS else [*row[: MAX_TOKENS - 1], row[-1]] for row in rows]
            lengths += [len(row) for row in cut]
            parts.append(np.fromiter((token for row in cut for token in row), np.int32))
        ids = np.concatenate(parts) if parts else np.empty(0, np.int32)
        return ids, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])

    def _work(
        self, left: Iterator[np.ndarray], ids: np.ndarray, starts: np.ndarray, found: dict[Choice, np.ndarray]
    ) -> None:
        """Take one batch after another until none is left."""
        try:
            own_cpu_threads(1)
            while self.wanted():
                with self._changed:
                    rows = next(left, None)
                if rows is None:
                    return
                self._encode(rows, ids, starts, found)
                with self._changed:
                    self.done += len(rows)
                    self._changed.notify_all()
        except BaseException as error:
            self.error = self.error or error

    def _encode(self, rows: np.ndarray, ids: np.ndarray, starts: np.ndarray, found: dict[Choice, np.ndarray]) -> None:
        """One batch: the sentences `rows`, the longest first, into `found`."""
        model = self.loaded.model
        num_layers = model.config.num_hidden_layers
        pooler = model.pooler if has_pooler(self.loaded) else None
        groups = grouped([int(starts[row + 1] - starts[row]) for row in rows])
        packed = torch.from_numpy(np.concatenate([ids[starts[row] : starts[row + 1]] for row in rows]).astype(np.int64))
        needed = frozenset(layer for one in self.choices for layer in layers_used(one.layer, num_layers))
        with torch.inference_mode():
            states = hidden_states(model, packed, groups, needed, self.wanted)
            at = 0
            for group in groups:
                into = rows[at : at + group.sentences]
                at += group.sentences
                self._pool(states, group, num_layers, into, pooler, found)

    def _pool(
        self,
        states: dict[int, torch.Tensor],
        group: Group,
        num_layers: int,
        rows: np.ndarray,
        pooler: object,
        found: dict[Choice, np.ndarray],
    ) -> None:
        hidden = [group.of(states[layer]) if layer in states else None for layer in range(num_layers + 1)]
        special = torch.zeros(1, group.length, dtype=torch.bool)
        special[:, [0, -1]] = True  # [CLS] and [SEP]
        for choice, into in found.items():
            into[rows] = pool_batch(hidden, None, special, choice, pooler).numpy()


def _chunks(sentences: Sequence[str]) -> Iterator[list[str]]:
    """The sentences in order, cleaned, in lists of about CHUNK_CHARACTERS. Raises UserError as `clean_text` does."""
    chunk: list[str] = []
    characters = 0
    for number, sentence in enumerate(sentences, start=1):
        text = clean_text(sentence, f"Sentence {number:,}")
        if chunk and characters + len(text) > CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
        chunk.append(text)
        characters += len(text) + SENTENCE_CHARACTERS
    if chunk:
        yield chunk


def _batches(lengths: np.ndarray, threads: int) -> Iterator[np.ndarray]:
    """The sentences' numbers, the longest first, in lots of at most BATCH_TOKENS tokens, and work for all threads."""
    most = min(BATCH_TOKENS, max(SMALLEST_BATCH, -(-int(lengths.sum()) // threads)))
    order = np.argsort(-lengths, kind="stable")
    first = tokens = 0
    for at, row in enumerate(order):
        if at > first and tokens + lengths[row] > most:
            yield order[first:at]
            first, tokens = at, 0
        tokens += lengths[row]
    if first < len(order):
        yield order[first:]
