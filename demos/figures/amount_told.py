"""How much data a task needs, in words and numbers: what the picture proves, the table behind it (HTML, escaped)."""

from __future__ import annotations

import html

from demos.figures.amount import NAMES, mean, scores_of
from demos.figures.tables import column_heads, scrolling_table
from demos.training.amount import PRETRAINED, SCRATCH, WORDS, Measured


def proof_html(measured: Measured) -> str:
    """With how few examples the pre-trained model does as well as each other one does at its best."""
    own = {size: mean(values) for size, values in scores_of(measured, PRETRAINED).items()}
    parts, fewer = [], []
    for series, name in ((SCRATCH, "In as many steps BERT from random weights gets"), (WORDS, "The words alone get")):
        other = {size: mean(values) for size, values in scores_of(measured, series).items()}
        if not other or not own:
            continue
        reached = max(other.values())
        at = min(size for size, score in other.items() if score == reached)
        best = f"{name} to {reached:.0%} at best (with {at:,} examples)"
        enough = [size for size, score in own.items() if score >= reached]
        fewer.append(bool(enough) and enough[0] < at)
        if not enough:
            parts.append(f"{best}; so far BERT pre-trained is below that, at {max(own.values()):.0%}.")
        else:
            there = f"<b>{enough[0]:,}</b>" if enough[0] < at else f"{enough[0]:,}"
            parts.append(f"{best}; BERT pre-trained is there with {there}.")
    if not parts:
        return "<p>The first points are under way.</p>"
    told = " ".join(parts)
    proven = " What pre-training taught need not be learned again." if all(fewer) else ""
    return f'<p class="proof">{told}{proven}</p>'


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
    of = f"{html.escape(measured.data)}, {html.escape(measured.model)}, {seeds}"
    return f"<p>Yours: {of}.</p>" if own else f"<p><b>A sample</b>, measured once: {of}. Press Run for your own.</p>"
