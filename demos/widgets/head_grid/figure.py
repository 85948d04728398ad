"""All heads at a glance: what the grid of small pictures is sent, and its twins, tables to copy and to read aloud."""

import base64
import hashlib
import json
import math

import numpy as np

from demos.bert.attention.contributions import WEIGHT, Measured
from demos.bert.attention.head_profiles import Habit
from demos.bert.attention.patterns import PATTERNS, even_scores, mean_entropy
from demos.bert.model.run import Run
from demos.figures.palette import HEADS
from demos.files import Json
from demos.templates import templates

TEXT = templates(__file__)
SIDE = 32  # rows and columns of a small picture at most; on the page a head has no more pixels
DIGITS = 4


def grid_message(run: Run, by: Measured | None = None) -> Json:
    """The data of the grid for a run: a small picture of each head, its scores, its strongest weight.

    A picture has one byte per weight, 255 times the weight over the head's strongest; see `shrink` for long inputs.
    `by` contribution, norms replace the weights, and scores are of the shares of their rows.
    """
    by = by or Measured(run)
    n, layers = len(run.encoding), range(run.num_layers)
    pictures, strongest = [], []
    for layer in layers:
        amounts = by.amounts(layer)  # [A, n, n]
        flat = amounts.reshape(run.num_heads, n * n)
        where = flat.argmax(axis=1)
        largest = np.take_along_axis(flat, where[:, None], axis=1)  # [A, 1], above 0: rows of weights sum to 1
        small = shrink(amounts)  # [A, side, side]
        pictures.append(np.rint(small / largest[:, :, None] * 255).astype(np.uint8))
        strongest += [
            [_short(amount), *map(int, divmod(place, n))] for amount, place in zip(largest[:, 0], where, strict=True)
        ]
    return {
        "key": run_key(run, by.measure),
        "measure": by.measure,
        "model": run.model,
        "num_layers": run.num_layers,
        "num_heads": run.num_heads,
        "tokens": list(run.encoding.tokens),
        "side": pictures[0].shape[-1],
        "pictures": base64.b64encode(np.stack(pictures).tobytes()).decode(),
        "strongest": strongest,
        "scores": _listed(by.scores()),
        "entropy": _list(np.concatenate([mean_entropy(by.shares(layer)[None]) for layer in layers])),
        "even": {name: _short(score) for name, score in even_scores(run.encoding).items()},
        "patterns": [[p.name, p.title, p.definition, p.missing] for p in PATTERNS.values()],
        "colours": HEADS,
    }


def run_key(run: Run, measure: str = WEIGHT) -> str:
    """A short name for what the grid draws, "model.digest": it changes with the input, the model and the measure."""
    what = json.dumps([run.model, run.encoding.text, run.encoding.text_pair, measure])
    return f"{run.model}.{hashlib.blake2b(what.encode(), digest_size=8).hexdigest()}"


def habit_message(habit: Habit) -> str:
    """The data of the grid for this model's habit, as JSON text: means, the even head's, how many sentences count."""
    return json.dumps(
        {
            "model": habit.model,
            "measure": habit.measure,
            "scores": _listed(habit.scores),
            "even": {name: _short(score) for name, score in habit.even.items()},
            "counted": habit.counted,
            "sentences": habit.sentences,
        }
    )


def shrink(weights: np.ndarray, side: int = SIDE) -> np.ndarray:
    """Weights [heads, n, n] as they are up to `side` tokens, else [heads, side, side]: the largest of each block.

    The largest and not the mean: a single strong weight, such as a look at the token before, stays to be seen.
    """
    n = weights.shape[-1]
    if n <= side:
        return weights
    edges = np.arange(side) * n // side
    return np.maximum.reduceat(np.maximum.reduceat(weights, edges, axis=1), edges, axis=2)


def pattern_table(scores: np.ndarray, name: str, of: str) -> str:
    """One pattern's scores [L, A] as an HTML table, one row per layer; `of` says over what ("this sentence")."""
    return TEXT.pattern(PATTERNS[name], of, scores.tolist())


def heads_table(scores: dict[str, np.ndarray], of: str) -> str:
    """Every pattern's score of every head as an HTML table, one row per head: the grid's numbers as a table."""
    stacked = np.stack(list(scores.values()), axis=-1)  # [L, A, patterns]
    rows = [(layer, head, stacked[layer, head].tolist()) for layer, head in np.ndindex(stacked.shape[:2])]
    return TEXT.heads([PATTERNS[name].title for name in scores], of, rows)


def _listed(scores: dict[str, np.ndarray]) -> dict[str, list[float | None]]:
    return {name: _list(values) for name, values in scores.items()}


def _list(values: np.ndarray) -> list[float | None]:
    """[L, A] -> a list, head by head; null where there is no score."""
    return [None if math.isnan(value) else round(value, DIGITS) for value in values.ravel().tolist()]


def _short(value: float) -> float | None:
    return None if math.isnan(value) else round(float(value), DIGITS)
