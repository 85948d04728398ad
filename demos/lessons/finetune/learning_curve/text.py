"""How much data a task needs, in words and numbers: what the picture shows, the table behind it (HTML, escaped)."""

from __future__ import annotations

import html

from demos.bert.model.catalogue import BUNDLED, CATALOGUE
from demos.figures.tables import column_heads, scrolling_table
from demos.lessons.finetune.learning_curve.figure import NAMES, mean, scores_of
from demos.training.learning_curve import (
    PRETRAINED,
    SCRATCH,
    SCRATCH_RATE,
    SCRATCH_SEEDS,
    SCRATCH_STEPS,
    WORDS,
    Measured,
)

LEARNED = 0.9  # of its own training examples: below that a training ended too early to judge its start by
RECIPE = (
    f"The random weights have a recipe of their own (rate {SCRATCH_RATE:.0e}, about {SCRATCH_STEPS} steps, "
    f"{SCRATCH_SEEDS} seeds)"
).replace("e-0", "e-")
BUNDLED_TOO = (
    " For the bundled model that is more than pre-training: it was also tuned on about a billion sentence pairs."
)


def proof_html(measured: Measured) -> str:
    """With how few examples the trained model does as well as the other lines at their best; what that leaves open."""
    own = {size: mean(values) for size, values in scores_of(measured, PRETRAINED).items()}
    parts, fewer, limits = [], [], ""
    for series, name in ((SCRATCH, "From random weights the same architecture gets"), (WORDS, "The words alone get")):
        other = {size: mean(values) for size, values in scores_of(measured, series).items()}
        if not other or not own:
            continue
        reached = max(other.values())
        at = min(size for size, score in other.items() if score == reached)
        best = f"{name} to {reached:.0%} at best (with {at:,} examples{_spread(scores_of(measured, series)[at])})"
        enough = [size for size, score in own.items() if score >= reached]
        fewer.append(bool(enough) and enough[0] < at)
        if not enough:
            parts.append(f"{best}; so far the trained model is below that, at {max(own.values()):.0%}.")
        else:
            there = f"<b>{enough[0]:,}</b>" if enough[0] < at else f"{enough[0]:,}"
            parts.append(f"{best}; the trained model is there with {there}.")
        if series == SCRATCH:
            limits = _limits(measured, at)
    if not parts:
        return "<p>The first points are under way.</p>"
    shown = " Here its earlier training is worth many labelled examples." if all(fewer) else ""
    if shown and measured.model == CATALOGUE[BUNDLED].title:
        shown += BUNDLED_TOO
    told = f'<p class="proof">{" ".join(parts)}{shown}</p>'
    return told + (f'<p class="aside">{limits}</p>' if limits else "")


def _spread(scores: list[float]) -> str:
    """The seeds' range, where they differ."""
    low, high = f"{min(scores):.0%}", f"{max(scores):.0%}"
    return f", {low} to {high} over {len(scores)} seeds" if low != high else ""


def _limits(measured: Measured, examples: int) -> str:
    """How well the random weights learned their own examples at their best size, and what their line leaves open."""
    found = [one.learned for one in measured.points if (one.series, one.examples) == (SCRATCH, examples)]
    known = [share for share in found if share is not None]
    if not known:
        return f"{RECIPE}; a better recipe may get further."
    share = mean(known)
    ended = (
        f"in their last epoch they got {share:.0%} of these training examples right, so they did learn them; a better "
        "recipe, or far more data, may get further"
        if share >= LEARNED
        else f"in their last epoch they got only {share:.0%} of these training examples right: they were stopped "
        "before they had learned them, so their line shows less than they could reach"
    )
    return f"{RECIPE}; {ended}."


def numbers_html(measured: Measured, how: str = "") -> str:
    """Every line's mean and range, size by size; `how` is the command that measured it, where a reader did not."""
    lines = {series: scores_of(measured, series) for series in NAMES}
    rows = []
    for size in measured.sizes:
        cells = "".join(f"<td>{_cell(scores.get(size, []))}</td>" for scores in lines.values())
        rows.append(f'<tr><th scope="row">{size:,}</th>{cells}<td>{measured.majority:.1%}</td></tr>')
    caption = (
        f"{html.escape(measured.data)}, {html.escape(measured.model)}: accuracy on {measured.test:,} test examples, "
        "the seeds’ mean (and from the worst to the best)."
    )
    heads = column_heads(("examples", *NAMES.values(), "most frequent class"))
    made = f'<p class="aside">Measured once with <code>{html.escape(how)}</code>.</p>' if how else ""
    return made + scrolling_table(
        caption, heads, "".join(rows), name="Accuracy by number of examples", kind="lesson-table"
    )


def _cell(scores: list[float]) -> str:
    if not scores:
        return "–"
    spread = f" ({min(scores):.1%} to {max(scores):.1%})" if len(scores) > 1 else ""
    return f"{mean(scores):.1%}{spread}"


def made_html(measured: Measured, own: bool) -> str:
    """Whose picture this is: the reader's own, or one measured before."""
    seeds = f"{measured.seeds} seed{'s' if measured.seeds > 1 else ''}"
    if measured.seeds != SCRATCH_SEEDS:
        seeds += f" ({SCRATCH_SEEDS} from random weights)"
    of = f"{html.escape(measured.data)}, {html.escape(measured.model)}, {seeds}"
    return f"<p>Yours: {of}.</p>" if own else f"<p><b>A sample</b>, measured once: {of}. Press Run for your own.</p>"
