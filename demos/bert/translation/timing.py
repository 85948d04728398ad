"""The time of the GRU and the Transformer on this machine as sentences grow: a pass in training, and writing."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from demos.bert.translation.decoding import Trained
from demos.bert.translation.gru import BEGIN, SPECIAL
from demos.bert.translation.transformer import LONGEST

LENGTHS = (8, 16, 32, LONGEST)  # words that are read, and as many that are written
SENTENCES, TRIES = 4, 5
BUDGET = 3.0  # seconds for all


@dataclass(frozen=True)
class Times:
    """Medians in seconds, each for SENTENCES sentences at once, by their length in words."""

    trained: dict[int, float]  # one forward pass in which the decoder is given all words
    written: dict[int, float]  # the decoder writes one word after the other


@dataclass(frozen=True)
class Measured:
    """The measured times of each translator, by its name."""

    times: dict[str, Times]
    threads: int  # processor cores that one pass may use


def measure(
    trained: dict[str, Trained], *, budget: float = BUDGET, clock: Callable[[], float] = time.perf_counter
) -> Measured:
    """Time each translator on random words, ever longer sentences; there are fewer tries where time is short.

    On a slow machine it ends before the longest sentences, where `budget` seconds would not be enough for them.
    """
    end = clock() + budget
    results: dict[str, Times] = {name: Times({}, {}) for name in trained}
    for translator in trained.values():  # the first passes in a process are slower
        writing(translator, *_words(translator, 1))
    elapsed = 0.0
    for number, n in enumerate(LENGTHS):
        at = clock()
        if number >= 2 and at + 2 * elapsed > end:  # two lengths at least, to see the times grow
            break
        for name, translator in trained.items():
            source, words = _words(translator, n)
            for times, work in ((results[name].trained, passing), (results[name].written, writing)):
                tries: list[float] = []
                while not tries or (len(tries) < TRIES and clock() < end):
                    began = clock()
                    work(translator, source, words)
                    tries.append(clock() - began)
                times[n] = statistics.median(tries)
        elapsed = clock() - at
    return Measured(results, torch.get_num_threads())


@torch.inference_mode()
def passing(trained: Trained, source: torch.Tensor, words: torch.Tensor) -> None:
    """One forward pass, all words given: both are ids [b, n]."""
    trained.model(source, words)


@torch.inference_mode()
def writing(trained: Trained, source: torch.Tensor, words: torch.Tensor) -> None:
    """As many words as `words` has, each the likeliest after those before it; no sentence ends earlier."""
    memory: Any = trained.model.read(source)
    last, state = torch.full((len(words), 1), BEGIN), None
    for _ in range(words.shape[1]):
        decoded: Any = trained.model.write(memory, last, state)
        last, state = decoded.logits[:, -1:].argmax(-1), decoded.state


def _words(trained: Trained, n: int) -> tuple[torch.Tensor, torch.Tensor]:
    """SENTENCES random sentences of n words in both languages."""
    draw = torch.Generator().manual_seed(n)
    sizes = (len(trained.source), len(trained.target))
    source, target = (torch.randint(len(SPECIAL), size, (SENTENCES, n), generator=draw) for size in sizes)
    return source, target
