"""A head's habit: its pattern scores averaged over a bundled set of sentences, instead of a single one."""

import csv
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from demos.bert.attention.contributions import WEIGHT, measured
from demos.bert.attention.patterns import PATTERNS, even_scores
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.files import DATA

SENTENCES = DATA / "habits.tsv"
BATCH = 8  # sentences a pass: readers' own passes come between


@dataclass(frozen=True)
class Habit:
    """Means over the set: `scores` and `even` as demos.bert.attention.patterns gives them, `counted` sentences each."""

    model: str  # catalogue key
    scores: dict[str, np.ndarray]  # <float64>[L, A] by pattern
    even: dict[str, float]
    counted: dict[str, int]  # how many sentences have what the pattern looks for
    sentences: int
    measure: str = WEIGHT  # or "contribution": scores are of the shares of each row's norms


@cache
def habit_sentences() -> tuple[tuple[str, str], ...]:
    """The bundled set, (text, text_pair) each; assets/data/habits.md describes it."""
    with SENTENCES.open(encoding="utf-8", newline="") as file:
        return tuple((row["text"], row["pair"]) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def measure_habit(
    loaded: LoadedModel, inputs: Sequence[tuple[str, str]], measure: str = WEIGHT
) -> Generator[int, None, Habit]:
    """Run the inputs in small batches, keeping only their scores by `measure`; yields how many are done.

    Each pattern's mean is over the inputs that have it: one without punctuation says nothing of a taste for it.
    """
    encodings = sorted((encode(loaded.tokenizer, text, pair) for text, pair in inputs), key=len)
    shape = (loaded.spec.num_layers, loaded.spec.num_heads)
    sums = {name: np.zeros(shape) for name in PATTERNS}
    even = dict.fromkeys(PATTERNS, 0.0)
    counted = dict.fromkeys(PATTERNS, 0)
    for start in range(0, len(encodings), BATCH):
        yield start
        for run in run_model(loaded, encodings[start : start + BATCH]):
            yardstick = even_scores(run.encoding)
            for name, scores in measured(loaded, run, measure).scores().items():
                if not np.isnan(yardstick[name]):
                    sums[name] += scores
                    even[name] += yardstick[name]
                    counted[name] += 1
    return Habit(
        loaded.spec.key,
        {name: sums[name] / count if count else np.full(shape, np.nan) for name, count in counted.items()},
        {name: even[name] / count if count else float("nan") for name, count in counted.items()},
        counted,
        len(encodings),
        measure,
    )
