"""The data that a task needs, in words and numbers: the picture's conclusion, and the table behind it (HTML)."""

from statistics import fmean

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
LEARNED = 0.9  # accuracy on its own training examples; below that, a training ended too early to judge the start


def proof_html(measured: Measured) -> str:
    """The smallest number of examples with which the pre-trained model matches the other lines' best; a caveat."""
    own = {size: fmean(scores) for size, scores in scores_of(measured, PRETRAINED).items()}
    comparisons, are_fewer, limits = [], [], None
    for series in (SCRATCH, LSTM, WORDS):
        others = scores_of(measured, series)
        if not others or not own:
            continue
        examples = max(others, key=lambda size: fmean(others[size]))  # the fewest with which it is at its best
        reached = fmean(others[examples])
        enough = next((size for size, score in own.items() if score >= reached), None)
        are_fewer.append(enough is not None and enough < examples)
        line = {
            "what": OF[series],
            "reached": reached,
            "examples": examples,
            "scores": others[examples],
            "enough": enough,
            "own": max(own.values()),
        }
        comparisons.append(line)
        if series == SCRATCH:
            limits = _limits(measured, examples)
    return TEXT.proof(comparisons, all(are_fewer), measured.model == CATALOGUE[BUNDLED].title, limits)


def _limits(measured: Measured, examples: int) -> dict[str, str | float | None]:
    """The training from random weights, and its accuracy on its own training examples."""
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
    """The origin of the picture: the reader's own measurement, or one made in advance."""
    return TEXT.made(measured, own, SCRATCH_SEEDS)
