"""A corrupted text to look at: what stood there, what is read instead, and what each guess costs (HTML, escaped)."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np

from demos.bert.model.encoding import Encoding
from demos.bert.pretraining.corruption import Corruption, kind_shares
from demos.bert.pretraining.draws import Draws, Fit
from demos.bert.pretraining.losses import Answer, Answers
from demos.figures.numbers import percent
from demos.figures.tables import column_heads, scrolling_table
from demos.figures.token_chips import hue_style, visible
from demos.lessons.pretraining.figure_kinds import KINDS, MARKS, NAMES

SHOWN = 128  # tokens in the picture
PUT = ("", "[MASK] instead", "a random word instead", "left as it is")


def picture_html(encoding: Encoding, corruption: Corruption, read: Sequence[str], answers: Answers | None) -> str:
    """The text's tokens above, what BERT reads below (`read`, n tokens), and under the chosen ones their loss."""
    losses = {one.place: one.loss for one in answers.each} if answers else {}
    items = [
        '<li class="corrupt-names" aria-hidden="true"><span>the text</span><span></span><span>BERT reads</span>'
        f"{'<span>loss</span>' if losses else ''}</li>"
    ]
    for place, token in enumerate(encoding.tokens[:SHOWN]):
        kind = int(corruption.kinds[place])
        own = f'<span class="own" style="{hue_style(encoding, place)}">{visible(token)}</span>'
        badge = f'<span class="badge">{MARKS[kind]} {NAMES[kind]}</span>' if kind else '<span class="badge"></span>'
        below = f'<span class="read">{visible(read[place])}</span>'
        cost = f'<span class="corrupt-loss">{losses[place]:.2f}</span>' if place in losses else ""
        name = NAMES[kind] or "plain"
        items.append(f'<li class="corrupt-token {name}">{own}{badge}{below}{cost}</li>')
    rest = len(encoding) - SHOWN
    hidden = int((corruption.kinds[SHOWN:] > 0).sum())
    more = f'<p class="aside">… and {rest} more tokens, {hidden} of them chosen.</p>' if rest > 0 else ""
    lost = len(encoding.dropped)
    cut = f'<p class="aside">BERT reads {len(encoding)} tokens; {lost:,} more fell off.</p>' if lost else ""
    label = "Each token of the text, and what BERT reads in its place"
    return f'<ol class="corrupt-row" aria-label="{label}">{"".join(items)}</ol>{more}{cut}'


def legend_html(corruption: Corruption, special: Sequence[int], chosen: float, shares: Sequence[float]) -> str:
    """How many tokens were chosen, and of each kind how many beside the share asked for."""
    total, n = len(corruption.chosen), len(corruption.kinds)
    parts = "".join(
        f'<li class="{name}"><b>{mark} {(corruption.kinds == kind).sum()} {name}</b>'
        f"<span>asked for: {share:.0%}</span></li>"
        for kind, ((name, mark, *_), share) in enumerate(zip(KINDS, shares, strict=True), 1)
    )
    return (
        f'<ul class="corrupt-legend"><li class="all"><b>{total} of {n} tokens chosen</b>'
        f"<span>asked for: {chosen:.0%}; {sum(special)} special ones never are</span></li>{parts}</ul>"
    )


def rest_html(masked: float, replaced: float) -> str:
    """The three shares as one bar; what the two sliders leave is kept."""
    shares = kind_shares(masked, replaced)
    bar = "".join(
        f'<span class="{name}" style="flex-grow:{share:.4f}">{mark if share >= 0.045 else ""}</span>'
        for (name, mark, *_), share in zip(KINDS, shares, strict=True)
        if share > 1e-9
    )
    return (
        f'<div class="corrupt-bar" aria-hidden="true">{bar}</div>'
        f'<p class="corrupt-rest">The rest, <b>{round(100 * shares[2])} %</b>, ● is kept.</p>'
    )


def answers_html(answers: Answers, corruption: Corruption, read: Sequence[str], vocabulary: int) -> str:
    """Every chosen token: what was read there, the best guess, the true token's probability, and the loss; the mean."""
    highest = max(max(one.loss for one in answers.each), 1e-9)
    rows = "".join(_row(one, int(corruption.kinds[one.place]), read[one.place], highest) for one in answers.each)
    head = column_heads(("true token", "BERT reads", "its best guess", "p(true token)", "loss = −ln p"))
    table = scrolling_table("", head, rows, name="The chosen tokens and their losses", kind="corrupt-answers")
    even = math.exp(min(answers.mean, 700))
    choices = f"{even:.1f}" if even < 100 else f"{even:,.0f}"
    return (
        f'{table}<p class="corrupt-mean"><b>{answers.mean:.2f}</b><span>mean loss of the {len(answers.each)}: the '
        f"number that pre-training pushes down. As unsure as among {choices} equally likely words; "
        f"blind guessing among {vocabulary:,} costs {math.log(vocabulary):.2f}.</span></p>"
    )


def _row(one: Answer, kind: int, read: str, highest: float) -> str:
    right = ' class="right"' if one.rank == 1 else ""
    mark = "✓ " if one.rank == 1 else ""
    return (
        f'<tr class="{NAMES[kind]}"><th scope="row">{visible(one.truth.token)}</th>'
        f'<td><span class="badge" title="{PUT[kind]}">{MARKS[kind]}</span> {visible(read)}</td>'
        f"<td{right}>{mark}{visible(one.best.token)} <small>{percent(one.best.probability)}</small></td>"
        f"<td>{percent(one.truth.probability)}</td>"
        f'<td class="loss"><span style="width:{100 * one.loss / highest:.1f}%"></span><b>{one.loss:.2f}</b></td></tr>'
    )


def shares_html(draws: Draws, kinds: Fit | None, places: Fit | None, whole_words: bool) -> str:
    """What both figures show, in words, with the p values and what they mean."""
    total, counts = len(draws.kinds), draws.counts[-1]
    found = ", ".join(
        f"{name} {share:.1%}" for (name, *_), share in zip(KINDS, counts / counts.sum(), strict=True)
    ).replace("%", " %")
    said = [f"<p><b>Kinds.</b> {counts.sum():,} tokens chosen in {total:,} draws: {found}. {_fit(kinds)}</p>"]
    per_draw = draws.kinds.astype(bool).sum(axis=1)
    n, free = len(draws.free), int(draws.free.sum())
    if whole_words:
        few, many = per_draw.min(), per_draw.max()
        span = f"{few}" if few == many else f"{few} to {many}"
        said.append(
            f"<p><b>Places.</b> {span} of {n} tokens a draw, since words stay whole. "
            "A word that would go past the count is left out, so long words are chosen less often.</p>"
        )
    else:
        said.append(
            f"<p><b>Places.</b> Every draw chooses {per_draw[0]} of {n} tokens, {per_draw[0] / n:.1%}, since a count "
            f"is rounded; which of the {free} is chance. {_fit(places)}</p>".replace("%,", " %,")
        )
    return "".join(said)


def _fit(fit: Fit | None) -> str:
    if fit is None:
        return "With only one outcome possible there is nothing to test."
    times = 100 * fit.p
    often = f"about {times:.0f}" if times >= 1.5 else "fewer than 2"
    verdict = (
        "so nothing speaks against the shares asked for"
        if fit.p >= 0.05
        else "so look at other seeds: one in 20 has a p below 0.05, and more would speak against the shares"
    )
    return (
        f"Chi-square test: {fit.statistic:.1f} with {fit.freedom} degree{'s' * (fit.freedom > 1)} of freedom, "
        f"<b>p = {fit.p:.2f}</b>. Chance alone gives a gap this large or larger in {often} of 100 such "
        f"experiments, {verdict}."
    )


def numbers_html(draws: Draws, shares: Sequence[float], encoding: Encoding) -> str:
    """The kinds' counts beside what was expected, then each token's."""
    counts = draws.counts[-1]
    rows = "".join(
        f'<tr><th scope="row">{mark} {name}</th><td>{count:,}</td><td>{share * counts.sum():,.1f}</td>'
        f"<td>{count / counts.sum():.4f}</td><td>{share:.2f}</td></tr>"
        for (name, mark, *_), count, share in zip(KINDS, counts, shares, strict=True)
    )
    kinds = scrolling_table(
        f"Kinds, over {len(draws.kinds):,} draws", column_heads(("kind", "count", "expected", "share", "asked")), rows
    )
    each = "".join(
        f'<tr><th scope="row">{place} {html.escape(encoding.tokens[place])}</th>'
        + "".join(f"<td>{(draws.kinds[:, place] == kind).sum()}</td>" for kind in (1, 2, 3))
        + f"<td>{draws.chosen[place]}</td></tr>"
        for place in np.flatnonzero(draws.free)
    )
    head = column_heads(("token", *(name for name, *_ in KINDS), "chosen"))
    return kinds + scrolling_table("How often each token was chosen", head, each)
