"""Agreement with people in words: which choice is best, what it misjudges most, and all the numbers (HTML, escaped)."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import numpy as np

from demos.bert.embeddings.agreement import Agreement, Correlation, Gap
from demos.bert.embeddings.pooling import Choice, dimension
from demos.figures.cosines import rounded
from demos.figures.cosines_text import OVERLAP, choice_name
from demos.figures.tables import column_heads, scrolling_table

OURS_TOLD = (
    "These {n} pairs are <b>ours</b>: written and rated from 0 to 5 for this project by a written rubric, "
    "not by a crowd."
)
NEARLY_SAME = 0.99  # a cosine
LITERATURE = (
    "In the literature, for BERT base on STS-B’s test pairs: <b>un-tuned, [CLS] 0.165, mean 0.464</b>, which is "
    "less than averaged GloVe word vectors reach (0.580); tuned on pairs as sentence-BERT, 0.770 "
    "(Reimers and Gurevych 2019, table 1)."
)


def share(value: float) -> str:
    """A rho with two digits, or a word where there is none."""
    return "undefined" if math.isnan(value) else rounded(value)


def best_html(agreement: Agreement, deepest: int) -> str:
    """The best choice and how much more it is than counting common words."""
    best = agreement.best
    one = agreement.found[best]
    name = html.escape(choice_name(agreement.choices[best], deepest))
    return (
        f"<p>Best on these {len(agreement.pairs):,} pairs: <b>{name}</b>, ρ = <b>{share(one.spearman)}</b> "
        f"(95 % interval {rounded(one.low)} to {rounded(one.high)}). Counting the words that two sentences have in "
        f"common, without a model: <b>{share(agreement.overlap.spearman)}</b>.</p>"
    )


def signed(value: float) -> str:
    """Two digits with a sign, and zero without one."""
    return f"{value:+.2f}".replace("-", "−") if abs(value) >= 0.005 else "0.00"


def gap_html(gap: Gap, layer: int, deepest: int, farthest: bool) -> str:
    """How far the mean is above [CLS] in one layer, on the same pairs, and whether chance could have done it.

    `farthest` for the layer in which [CLS] is farthest behind.
    """
    verdict = "more than chance" if gap.clear else "which chance could do"
    where = f"the last layer ({deepest})" if layer == deepest else f"layer {layer}"
    most = ", where [CLS] is farthest behind" if farthest else ""
    return (
        f"<p>Mean minus [CLS] in {where}{most}: <b>{signed(gap.difference)}</b> "
        f"({signed(gap.low)} to {signed(gap.high)}), {verdict}.</p>"
    )


def nearly_same_html(cosines: np.ndarray, layer: int) -> str:
    """What to bear in mind where the pairs' [CLS] cosines [pairs] of a layer are all but one number; else empty."""
    if cosines.min() < NEARLY_SAME:
        return ""
    return (
        f"<p>In layer {layer} every cosine of two [CLS] lies above {np.floor(cosines.min() * 1e3) / 1e3:.3f}, that of "
        "strangers too: its ρ is decided in the last digits.</p>"
    )


def about_html(tuned: str, ours: int, overlap: bool = False) -> str:
    """Which model one is looking at, whose ratings, and what the literature has for an un-tuned BERT.

    `tuned` says what this model was trained for; `ours` is the number of our own pairs, 0 for other data; `overlap`
    that this model's training data may hold sentences of STS-B.
    """
    ratings = OURS_TOLD.format(n=ours) if ours else OVERLAP if overlap else ""
    said = [html.escape(tuned), ratings, LITERATURE]
    return f'<p class="aside">{" ".join(one for one in said if one)}</p>'


def picked_html(agreement: Agreement, row: int, deepest: int) -> str:
    """The picked choice's name and numbers, above its scatter."""
    one = agreement.found[row]
    name = html.escape(choice_name(agreement.choices[row], deepest))
    if math.isnan(one.spearman):
        return (
            f"<h3>{name}</h3><p>This vector is the same for every sentence, so every cosine is the same and there is "
            "no order to compare.</p>"
        )
    return f"<h3>{name}: ρ = {share(one.spearman)}</h3>"


def misjudged_html(agreement: Agreement, row: int, marked: Sequence[int], model: np.ndarray, people: np.ndarray) -> str:
    """The pairs whose place is farthest off, numbered as in the scatter.

    `model` and `people` [pairs] are each pair's place among all, 0 (least alike) to 1.
    """
    if math.isnan(agreement.found[row].spearman):
        return ""
    items = []
    for index in marked:
        pair = agreement.pairs[index]
        wrong = "too alike" if model[index] > people[index] else "too different"
        kind = f" <small>{html.escape(pair.kind)}</small>" if pair.kind else ""
        items.append(
            f"<li><span>{html.escape(pair.first)}</span><span>{html.escape(pair.second)}</span>"
            f'<span class="verdict"><b>{wrong}</b>: rated {pair.score:g}, cosine '
            f"{rounded(float(agreement.cosines[row][index]))}{kind}</span></li>"
        )
    return f'<h3>Judged worst</h3><ol class="misjudged">{"".join(items)}</ol>'


def _cells(one: Correlation) -> str:
    if math.isnan(one.spearman):
        return "<td>undefined</td><td></td><td></td>"
    return f"<td>{one.spearman:.3f}</td><td>{one.low:.2f} to {one.high:.2f}</td><td>{one.pearson:.3f}</td>"


def numbers_html(agreement: Agreement, row: int, deepest: int, width: int) -> str:
    """Two tables: every choice's correlations, the best first, and the picked choice's cosines kind by kind."""
    order = sorted(
        range(len(agreement.choices)),
        key=lambda index: -np.nan_to_num(agreement.found[index].spearman, nan=-2),
    )
    body = "".join(
        f'<tr><th scope="row" class="sentence">{html.escape(choice_name(agreement.choices[index], deepest))}</th>'
        f"<td>{dimension(agreement.choices[index], deepest, width):,}</td>{_cells(agreement.found[index])}</tr>"
        for index in order
    )
    body += f'<tr><th scope="row" class="sentence">words in common</th><td></td>{_cells(agreement.overlap)}</tr>'
    head = '<th scope="col" class="sentence">choice</th>' + column_heads(
        ("numbers", "Spearman’s ρ", "95 % interval", "Pearson’s r")
    )
    tables = scrolling_table(
        f"Every choice against the ratings of {len(agreement.pairs):,} pairs", head, body, kind="lesson-table"
    )
    return tables + _kinds(agreement, row, agreement.choices[row], deepest)


def _kinds(agreement: Agreement, row: int, choice: Choice, deepest: int) -> str:
    """The mean rating and cosine of each kind of pair, where pairs have kinds."""
    kinds = sorted({pair.kind for pair in agreement.pairs if pair.kind})
    if not kinds:
        return ""
    scores, cosines = agreement.scores, agreement.cosines[row]
    lines = []
    for kind in kinds:
        at = [index for index, pair in enumerate(agreement.pairs) if pair.kind == kind]
        lines.append((float(scores[at].mean()), kind, len(at), float(cosines[at].mean())))
    body = "".join(
        f'<tr><th scope="row" class="sentence">{html.escape(kind)}</th><td>{count}</td><td>{rating:.1f}</td>'
        f"<td>{value:.2f}</td></tr>"
        for rating, kind, count, value in sorted(lines, reverse=True)
    )
    head = '<th scope="col" class="sentence">kind of pair</th>' + column_heads(("pairs", "mean rating", "mean cosine"))
    return scrolling_table(
        f"Kind by kind: {html.escape(choice_name(choice, deepest))}", head, body, kind="lesson-table"
    )
