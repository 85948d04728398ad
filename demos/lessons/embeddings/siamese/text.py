"""A siamese training in words: the two towers with one pair's numbers, the scores, who moved most (HTML, escaped)."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

from demos.bert.embeddings.agreement import Correlation
from demos.figures.cosines import rounded, short
from demos.figures.cosines_text import OVERLAP, POOLING_NAMES
from demos.figures.tables import column_heads, scrolling_table
from demos.training.events import PairResult
from demos.training.tasks.siamese.data import PairDataset

SHOWN_NUMBERS = 3
SHOWN_MOVED = 8
SHOWN_PAIRS = 200
ENOUGH = 500
FEW = " So few pairs are soon known by heart: try the thousands of STS-B, under “Data and more settings”."
STARTS = {
    "trained": "",
    "random": "Its layers are drawn at random and untrained; only the embeddings are the model’s own.",
}


@dataclass(frozen=True)
class Towers:
    """One pair on its way through both towers: what is drawn of it."""

    texts: tuple[str, str]
    tokens: tuple[int, int]
    width: int
    pooling: str
    before: tuple[Sequence[float], Sequence[float], float]  # how each vector begins, and their cosine
    after: tuple[Sequence[float], Sequence[float], float] | None
    rating: float | None  # None for a pair that nobody rated
    top: float


def _minus(told: str) -> str:
    return told.replace("-", "−")


def _vector(numbers: Sequence[float]) -> str:
    return "(" + _minus(", ".join(rounded(one) for one in numbers[:SHOWN_NUMBERS])) + ", …)"


def towers_html(seen: Towers) -> str:
    """Sentence, encoder, token vectors, pooling, one vector: twice, with the same weights; then cosine and loss."""
    columns = []
    now = seen.before if seen.after is None else seen.after
    for side, letter in enumerate("uv"):
        columns.append(
            f'<ol class="tower" aria-label="sentence {side + 1}">'
            f'<li class="said-text">“{html.escape(short(seen.texts[side], 90))}”</li>'
            '<li class="net">BERT</li>'
            f"<li>{seen.tokens[side]:,} tokens × {seen.width:,}</li>"
            f'<li class="pool">{POOLING_NAMES[seen.pooling]}</li>'
            f"<li><i>{letter}</i> = {_vector(now[0] if side == 0 else now[1])}</li></ol>"
        )
    cosine = f'<b class="was">{_minus(rounded(seen.before[2]))}</b>'
    if seen.after is not None:
        cosine += f' → <b class="now">{_minus(rounded(seen.after[2]))}</b>'
    told = f"<p>cos(<i>u</i>, <i>v</i>) = {cosine}</p>"
    if seen.rating is not None:
        target = seen.rating / seen.top
        losses = [(one[2] - target) ** 2 for one in (seen.before, seen.after) if one is not None]
        told += (
            f"<p>rating {seen.rating:g} of {seen.top:g}, so the aim is <b>{rounded(target)}</b></p>"
            f"<p>loss = (cosine − {rounded(target)})² = {' → '.join(f'<b>{loss:.3f}</b>' for loss in losses)}</p>"
        )
    else:
        told += "<p>Nobody rated this pair.</p>"
    return (
        f'<div class="towers">{columns[0]}<p class="shared" aria-label="the same weights">=<span>the same '
        f'weights</span></p>{columns[1]}<div class="joined">{told}</div></div>'
    )


def rho(found: Correlation) -> str:
    """Spearman's rho with its interval, or that there is none."""
    if math.isnan(found.spearman):
        return "none: all cosines are equal"
    value, low, high = (_minus(rounded(one)) for one in (found.spearman, found.low, found.high))
    return f"{value} <small>({low} to {high})</small>"


def scores_html(dataset: PairDataset, before: Correlation, loss_before: float, result: PairResult | None) -> str:
    """Agreement and loss on the held-out pairs, before and, where there is a result, after."""
    n = len(dataset.held_out)
    cells = f'<li class="baseline"><b>{rho(before)}</b>agreement ρ before</li>'
    if result is not None:
        cells += f"<li><b>{rho(result.agreement)}</b>agreement ρ after</li>"
    cells += f'<li class="baseline"><b>{loss_before:.3f}</b>loss before</li>'
    if result is not None:
        cells += f"<li><b>{result.loss:.3f}</b>loss after</li>"
    told = (
        f"All on <b>{n:,} held-out pairs</b>, none of whose sentences is among the {len(dataset.train):,} trained on."
    )
    if result is not None:
        few = FEW if len(dataset.train) < ENOUGH and not result.gap.clear else ""
        told += f"</p><p>{verdict(result, n)}{few}"
    return f'<ul class="scores">{cells}</ul><p>{told}</p>'


def verdict(result: PairResult, n: int) -> str:
    """Whether the order of the held-out pairs became better, in one sentence that lets nobody read noise."""
    gap = result.gap
    if math.isnan(gap.difference):
        return "All cosines are equal before or after training, so there is no order to compare."
    moved = f"{gap.difference:+.2f} ({gap.low:+.2f} to {gap.high:+.2f})".replace("-", "−")
    if gap.clear:
        better = "better" if gap.difference > 0 else "worse"
        return f"ρ changed by <b>{moved}</b>: the <b>order</b> of the pairs became {better}, by more than chance."
    scale = ""
    if result.loss < 0.8 * result.loss_before:
        scale = ", but the <b>scale</b> did: the loss fell, since cosines now use the range that the ratings use"
    return (
        f"ρ changed by <b>{moved}</b>, which chance could do: with {n:,} pairs one cannot say that their "
        f"<b>order</b> changed{scale}."
    )


def moved_html(dataset: PairDataset, result: PairResult) -> str:
    """The held-out pairs whose cosine moved most."""
    order = sorted(range(len(result.before)), key=lambda row: -abs(result.after[row] - result.before[row]))
    rows = "".join(_row(dataset, result, row) for row in order[:SHOWN_MOVED])
    head = column_heads(["held-out pair", "aim", "before", "after"])
    return (
        f'<div class="moved"><table class="plain"><caption>The held-out pairs that moved most</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _row(dataset: PairDataset, result: PairResult, row: int) -> str:
    pair, aim = dataset.held_out[row], dataset.held_out[row].score / dataset.top
    nearer = abs(result.after[row] - aim) < abs(result.before[row] - aim)
    told = "nearer" if nearer else "farther"
    return (
        f'<tr><td class="sentence">{html.escape(short(pair.first, 90))}<br>{html.escape(short(pair.second, 90))}</td>'
        f"<td>{rounded(aim)}</td><td>{_minus(rounded(result.before[row]))}</td>"
        f'<td class="{told}">{_minus(rounded(result.after[row]))}<br><small>{told}</small></td></tr>'
    )


def data_html(dataset: PairDataset, start: str, ours: bool, overlap: bool = False) -> str:
    """Which pairs, how split, and where the weights begin.

    `overlap`: this model's training data may hold sentences of STS-B, which matters where the pairs are not ours.
    """
    owner = f" {OVERLAP}" if overlap else ""
    if ours:
        owner = " They are ours: written and rated for this project, not by a crowd."
    told = (
        f"{len(dataset.train):,} pairs to train on, {len(dataset.held_out):,} held out; a rating of {dataset.top:g} "
        f"aims at cosine 1.{owner}"
    )
    return f'<p class="aside">{told} {STARTS[start]}</p>'


def numbers_html(dataset: PairDataset, result: PairResult, looks: Sequence[Sequence[float | None]], steps: int) -> str:
    """Every look at the held-out pairs, and each pair's cosine before and after."""

    def number(value: float | None) -> str:
        return "–" if value is None else _minus(f"{value:.3f}")

    seen = "".join(
        f"<tr><th scope='row'>{look[0]:.0f} of {steps:,}</th>"
        + "".join(f"<td>{number(one)}</td>" for one in look[1:])
        + "</tr>"
        for look in looks
    )
    names = ("step", "training loss since the last look", "held-out loss", "ρ", "from", "to")
    listed = "".join(
        f'<tr><td class="sentence">{html.escape(short(pair.first, 60))}</td><td class="sentence">'
        f"{html.escape(short(pair.second, 60))}</td><td>{pair.score:g}</td>"
        f"<td>{_minus(f'{result.before[row]:.4f}')}</td><td>{_minus(f'{result.after[row]:.4f}')}</td></tr>"
        for row, pair in enumerate(dataset.held_out[:SHOWN_PAIRS])
    )
    few = f", the first {SHOWN_PAIRS}" if len(dataset.held_out) > SHOWN_PAIRS else ""
    return scrolling_table(
        "Looks at the held-out pairs", column_heads(names), seen, kind="lesson-table"
    ) + scrolling_table(
        f"The held-out pairs{few}",
        column_heads(["first sentence", "second sentence", "rating", "cosine before", "cosine after"]),
        listed,
        kind="lesson-table",
    )
