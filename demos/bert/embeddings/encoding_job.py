"""One encoding under way: sentences to vectors in separate threads, watched by any number of readers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import torch

from demos.bert.embeddings.pooling import Choice, check_choice, dimension, has_pooler, layers_used, pool_batch
from demos.bert.model.batches.packing import StoppedError, grouped, hidden_states
from demos.bert.model.batches.token_lists import TokenLists, tokenized
from demos.bert.model.cores import cores, own_cpu_threads
from demos.bert.model.encoding import MAX_TOKENS, special_ids
from demos.bert.model.models import LoadedModel


class EncodingJob:
    """The vectors of `sentences` for `choices`; begins at `start` and ends early once its last reader has left.

    Two threads with one core each encode sooner than one thread whose every product is split between two cores.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        sentences: Sequence[str],
        choices: Sequence[Choice],
        ended: Callable[[EncodingJob], None] = lambda job: None,
        most_tokens: int = MAX_TOKENS,
    ) -> None:
        """`ended` is called once, in a thread of the job, before the readers get its end.

        Sentences are cut to `most_tokens`.

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
        self._most_tokens = most_tokens
        self._readers = 0
        self._changed = threading.Condition()

    def start(self) -> None:
        """Begin; its first reader has entered."""
        try:
            threading.Thread(target=self._run, name="encode").start()
        except BaseException as error:  # no thread is available: no reader may wait for one
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
            lists = tokenized(self.loaded.tokenizer, self._sentences, self._look, self._most_tokens)
            self._sentences = ()
            config = self.loaded.model.config
            width, num_layers = config.hidden_size, config.num_hidden_layers
            widths = {choice: dimension(choice, num_layers, width) for choice in self.choices}
            results = {choice: np.empty((self.total, wide), np.float32) for choice, wide in widths.items()}
            batches = list(lists.batches(cores()))
            left = iter(batches)
            helpers = [
                threading.Thread(target=self._work, args=(left, lists, results), name="encode")
                for _ in range(min(cores(), len(batches)) - 1)
            ]
            for helper in helpers:
                helper.start()
            self._work(left, lists, results)
            for helper in helpers:
                helper.join()
            if self.done < self.total:
                raise StoppedError
            for vectors in results.values():
                vectors.flags.writeable = False  # shared by every reader
            self.vectors = results
            self._end(None)
        except BaseException as error:
            self._end(error)

    def _end(self, error: BaseException | None) -> None:
        self.error = self.error or error
        self._ended(self)
        with self._changed:
            self.over = True
            self._changed.notify_all()

    def _work(self, left: Iterator[np.ndarray], lists: TokenLists, results: dict[Choice, np.ndarray]) -> None:
        """Take one batch after another until none is left."""
        try:
            own_cpu_threads(1)
            while self.wanted():
                with self._changed:
                    rows = next(left, None)
                if rows is None:
                    return
                self._encode(rows, lists, results)
                with self._changed:
                    self.done += len(rows)
                    self._changed.notify_all()
        except BaseException as error:
            self.error = self.error or error

    def _encode(self, rows: np.ndarray, lists: TokenLists, results: dict[Choice, np.ndarray]) -> None:
        """One batch: the vectors of the sentences `rows`, equal lengths side by side, into `results`."""
        model = self.loaded.model
        num_layers = model.config.num_hidden_layers
        pooler = model.pooler if has_pooler(self.loaded) else None
        groups = grouped(lists.lengths[rows].tolist())
        needed = frozenset(layer for choice in self.choices for layer in layers_used(choice.layer, num_layers))
        with torch.inference_mode():
            ids = torch.from_numpy(lists.of(rows))
            words = torch.isin(ids, torch.tensor(sorted(special_ids(self.loaded.tokenizer))), invert=True)
            states = hidden_states(model, ids, groups, needed, self.wanted)
            at = 0
            for group in groups:
                hidden = [group.of(states[layer]) if layer in states else None for layer in range(num_layers + 1)]
                into = rows[at : at + group.sentences]
                for choice, vectors in results.items():
                    vectors[into] = pool_batch(hidden, choice, group.of(words), pooler).numpy()
                at += group.sentences

    def _look(self) -> None:
        if not self.wanted():
            raise StoppedError
