"""How much data a task needs, in words and numbers: what the picture proves, the table behind it (HTML, escaped)."""

from __future__ import annotations

import html

from demos.figures.amount import NAMES, mean, scores_of
from demos.figures.tables import column_heads, scrolling_table
from demos.training.amount import PRETRAINED, SCRATCH, WORDS, Measured


def proof_html(measured: Measured) -> str:
    """With how few examples the pre-trained model does as well as each other one does at its best."""
    own = {size: mean(values) for size, values in scores_of(measured, PRETRAINED).items()}
    parts = []
    for series, name in ((SCRATCH, "the same BERT from random weights"), (WORDS, "the words alone, without BERT,")):
        other = {size: mean(values) for size, values in scores_of(measured, series).items()}
        if not other or not own:
            continue
        reached = max(other.values())
        at = min(size for size, score in other.items() if score == reached)
        best = f"{reached:.0%} (with {at:,} examples)"
        enough = [size for size, score in own.items() if score >= reached]
        if not enough:
            parts.append(f"so far {name} reaches {best}, more than the pre-trained one ({max(own.values()):.0%})")
        elif enough[0] < at:
            parts.append(f"{name} gets no further than {best}, where the pre-trained one is with <b>{enough[0]:,}</b>")
        else:
            parts.append(f"{name} reaches {best}, the pre-trained one {own[enough[0]]:.0%} (with {enough[0]:,})")
    if not parts:
        return "<p>The first points are under way.</p>"
    told = "; ".join(parts)
    proven = "" if "so far" in told else " What pre-training taught need not be learned again."
    return f'<p class="proof">{told[:1].upper()}{told[1:]}.{proven}</p>'


def numbers_html(measured: Measured) -> str:
    """Every line's mean and range, size by size."""
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
    return scrolling_table(caption, heads, "".join(rows), name="Accuracy by number of examples", kind="lesson-table")


def _cell(scores: list[float]) -> str:
    if not scores:
        return "–"
    spread = f" ({min(scores):.1%} to {max(scores):.1%})" if len(scores) > 1 else ""
    return f"{mean(scores):.1%}{spread}"


def made_html(measured: Measured, how: str, own: bool) -> str:
    """Whose picture this is: the reader's own, or one measured before; `how` is the command that measured it."""
    seeds = f"{measured.seeds} seed{'s' if measured.seeds > 1 else ''}"
    of = f"{html.escape(measured.data)}, {html.escape(measured.model)}, {seeds}"
    if own:
        return f"<p>Yours: {of}.</p>"
    return f"<p><b>A sample</b>, measured once: {of} (<code>{html.escape(how)}</code>). Press Run for your own.</p>"
