"""How much data a task needs, in words and numbers: what the picture shows, the table behind it (HTML)."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.figures.recipe import rate_text
from demos.lessons.finetune.learning_curve.figure import NAMES, scores_of
from demos.templates import templates
from demos.training.learning_curve import (
    LSTM,
    PRETRAINED,
    SCRATCH,
    SCRATCH_RATE,
    SCRATCH_SEEDS,
    SCRATCH_STEPS,
    WORDS,
    Measured,
)

TEXT = templates(__file__)
OF = {
    SCRATCH: "of the same architecture from random weights",
    LSTM: "of a small LSTM trained from scratch",
    WORDS: "with words only",
}
LEARNED = 0.9  # of its own training examples: below that a training ended too early to judge its start by


def proof_html(measured: Measured) -> str:
    """With how few examples the trained model does as well as the other lines at their best; what that leaves open."""
    own = {size: fmean(scores) for size, scores in scores_of(measured, PRETRAINED).items()}
    comparisons: list[dict[str, Any]] = []
    limits = None
    for series in (SCRATCH, LSTM, WORDS):
        others = scores_of(measured, series)
        if not others or not own:
            continue
        examples = max(others, key=lambda size: fmean(others[size]))  # the fewest with which it is at its best
        reached = fmean(others[examples])
        line = {
            "what": OF[series],
            "reached": reached,
            "examples": examples,
            "scores": others[examples],
            "enough": next((size for size, score in own.items() if score >= reached), None),
            "own": max(own.values()),
        }
        comparisons.append(line)
        if series == SCRATCH:
            limits = _limits(measured, examples)
    all_fewer = all(line["enough"] is not None and line["enough"] < line["examples"] for line in comparisons)
    return TEXT.proof(comparisons, all_fewer, measured.model == CATALOGUE[BUNDLED].title, limits)


def _limits(measured: Measured, examples: int) -> dict[str, Any]:
    """How random weights are trained, and which share of so many examples of their own they learned."""
    points = [point for point in measured.points if (point.series, point.examples) == (SCRATCH, examples)]
    known = [point.learned for point in points if point.learned is not None]
    return {
        "rate": rate_text(SCRATCH_RATE),
        "steps": SCRATCH_STEPS,
        "seeds": SCRATCH_SEEDS,
        "learned": fmean(known) if known else None,
        "enough": LEARNED,
    }


def numbers_html(measured: Measured, how: str = "") -> str:
    """Every line's mean and range, size by size; `how` is the command that measured it, where a reader did not."""
    lines = [scores_of(measured, series) for series in NAMES]
    rows = [(size, [scores.get(size, []) for scores in lines]) for size in measured.sizes]
    return TEXT.numbers(measured, list(NAMES.values()), rows, how)


def made_html(measured: Measured, own: bool) -> str:
    """Whose picture this is: the reader's own, or one measured before."""
    return TEXT.made(measured, own, SCRATCH_SEEDS)
