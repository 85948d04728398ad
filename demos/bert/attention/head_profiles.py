"""A head's habit: its pattern scores averaged over a bundled set of sentences, so that it can be told from its mood.

Made once a model, in the background, and kept without the sentences' attentions.
"""

from __future__ import annotations

import csv
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np

from demos.bert.attention.patterns import PATTERNS, even_scores, pattern_scores
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.files import DATA

SENTENCES = DATA / "habits.tsv"
BATCH = 8  # sentences a pass: readers' own passes come between
KEPT = 8  # models; 24 layers of 16 heads are 25 kB


@dataclass(frozen=True)
class Habit:
    """Means over the set: `scores` and `even` as demos.bert.attention.patterns gives them, `counted` sentences each."""

    model: str  # catalogue key
    scores: dict[str, np.ndarray]  # <float64>[L, H] by pattern
    even: dict[str, float]
    counted: dict[str, int]  # how many sentences have what the pattern looks for
    sentences: int


@cache
def habit_sentences() -> tuple[tuple[str, str], ...]:
    """The bundled set, (text, text_pair) each; assets/data/habits.md describes it."""
    with SENTENCES.open(encoding="utf-8", newline="") as file:
        return tuple((row["text"], row["pair"]) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def measure_habit(
    loaded: LoadedModel, inputs: Sequence[tuple[str, str]], progress: Callable[[int], None] = lambda done: None
) -> Habit:
    """Run the inputs in small batches, keeping only their scores; `progress` is told how many are done.

    Each pattern's mean is over the inputs that have it: one without punctuation says nothing of a taste for it.
    """
    encodings = sorted((encode(loaded.tokenizer, text, pair) for text, pair in inputs), key=len)
    shape = (loaded.spec.num_layers, loaded.spec.num_heads)
    sums = {name: np.zeros(shape) for name in PATTERNS}
    even = dict.fromkeys(PATTERNS, 0.0)
    counted = dict.fromkeys(PATTERNS, 0)
    for start in range(0, len(encodings), BATCH):
        for run in run_model(loaded, encodings[start : start + BATCH]):
            yardstick = even_scores(run.encoding)
            for name, scores in pattern_scores(run.attentions, run.encoding).items():
                if not np.isnan(yardstick[name]):
                    sums[name] += scores
                    even[name] += yardstick[name]
                    counted[name] += 1
        progress(min(start + BATCH, len(encodings)))
    return Habit(
        loaded.spec.key,
        {name: sums[name] / count if count else np.full(shape, np.nan) for name, count in counted.items()},
        {name: even[name] / count if count else float("nan") for name, count in counted.items()},
        counted,
        len(encodings),
    )


class Habits:
    """Habits by model: each measured once however many ask, the least recently asked for out first."""

    def __init__(self, kept: int = KEPT, inputs: Sequence[tuple[str, str]] | None = None) -> None:
        self._inputs = inputs
        self._kept = kept
        self._found: OrderedDict[tuple[str, str], Future[Habit]] = OrderedDict()
        self._done: dict[tuple[str, str], int] = {}
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="habit")

    @property
    def sentences(self) -> int:
        return len(self._all())

    def begin(self, loaded: LoadedModel) -> Future[Habit]:
        """The model's habit, begun in the background where nobody has asked yet. A failed one is begun anew."""
        key = (loaded.spec.key, loaded.spec.revision)
        with self._lock:
            known = self._found.get(key)
            if known is None or (known.done() and known.exception() is not None):
                self._done[key] = 0
                self._found[key] = known = self._worker.submit(self._measure, key, loaded)
            self._found.move_to_end(key)
            while len(self._found) > self._kept:
                self._done.pop(self._found.popitem(last=False)[0], None)
            return known

    def progress(self, loaded: LoadedModel) -> int:
        """How many sentences are read so far."""
        return self._done.get((loaded.spec.key, loaded.spec.revision), 0)

    def _measure(self, key: tuple[str, str], loaded: LoadedModel) -> Habit:
        return measure_habit(loaded, self._all(), lambda done: self._note(key, done))

    def _note(self, key: tuple[str, str], done: int) -> None:
        with self._lock:
            if key in self._found:
                self._done[key] = done

    def _all(self) -> Sequence[tuple[str, str]]:
        return habit_sentences() if self._inputs is None else self._inputs
