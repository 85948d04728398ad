"""What other words do for a guess: the sentence with a word missing each time, and two contexts side by side (HTML)."""

from __future__ import annotations

import html

from demos.bert.pretraining.context import Removal, Removals
from demos.bert.pretraining.lens import Distribution
from demos.figures.numbers import percent
from demos.figures.short_text import short_html
from demos.figures.tables import column_heads
from demos.figures.token_chips import hue_style, token_label, visible
from demos.lessons.pretraining.fill_mask.figure import best_html


def progress_html(done: int, total: int) -> str:
    """How far the reading is, in one line."""
    return f'<p role="status">{done} of {total} sentences read …</p>'


def removals_html(found: Removals) -> str:
    """A strip of the sentence's words coloured by what the first watched word loses or gains without each; a table.

    Changes are in points: 62% to 20% are -42.
    """
    changes = {place: _change(found, one) for one in found.each for place in one.places}
    most = max((abs(change) for change in changes.values()), default=0.0) or 1.0
    label = token_label(found.watched[0])
    chips = "".join(
        _chip(found, index, changes.get(index), most)
        for index in range(len(found.encoding))
        if not found.encoding.special_tokens_mask[index]
    )
    key = min(found.each, key=lambda one: _change(found, one))
    said = (
        f"<q>{label}</q> needs <q>{html.escape(key.word)}</q> most: without it {percent(found.before[0])} become "
        f"<b>{percent(key.probabilities[0])}</b>, and <q>{token_label(key.first)}</q> is first."
        if _change(found, key) < 0
        else f"No word helps <q>{label}</q> here: without any of them it is likelier."
    )
    return (
        f'<p class="fill-key" role="status">{said}</p>'
        f'<div class="fill-strip" role="group" aria-label="What each word does">{chips}</div>'
        f'<p>Points that <q>{label}</q> <span class="falls">loses</span> or <span class="rises">gains</span> when the '
        f"word is taken away.</p>{_table(found)}"
    )


def beside_html(here: tuple[str, Distribution], there: tuple[str, Distribution], style: str) -> str:
    """Two sentences' five likeliest words beside each other, and the same word's probability in both.

    What is watched in `there` must be what is watched in `here`.
    """
    label = token_label(here[1].watched.token)
    first, then = (percent(one.watched.probability) for _, one in (here, there))
    widest = max(one.best[0].probability for _, one in (here, there))  # bars of both are one measure
    sides = "".join(
        f"<div><h4>{short_html(text, 90)}</h4>{best_html(one, True, style, widest)}</div>"
        for text, one in (here, there)
    )
    said = f"<q>{label}</q>: {first} here, <b>{then}</b> there."
    return f'<p class="fill-key">{said}</p><div class="fill-sides">{sides}</div>'


def _change(found: Removals, one: Removal) -> float:
    return float(one.probabilities[0] - found.before[0])


def _chip(found: Removals, index: int, change: float | None, most: float) -> str:
    token = visible(found.encoding.tokens[index])
    if change is None:
        return f'<span class="fill-cell place" style="{hue_style(found.encoding, index)}"><span>{token}</span></span>'
    kind = "falls" if change < 0 else "rises"
    return (
        f'<span class="fill-cell {kind}" style="--share:{100 * abs(change) / most:.0f}%"><span>{token}</span>'
        f"<small>{_points(change)}</small></span>"
    )


def _points(change: float) -> str:
    return f"{100 * change:+.1f}".replace("-", "−") if abs(change) >= 0.0005 else "0.0"


def _table(found: Removals) -> str:
    heads = column_heads(["without", *map(token_label, found.watched), "first then"])
    first = "".join(f"<td>{percent(chance)}</td>" for chance in found.before)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(one.word)}</th>'
        + "".join(f"<td>{percent(chance)}</td>" for chance in one.probabilities)
        + f"<td>{token_label(one.first)}</td></tr>"
        for one in found.each
    )
    return (
        '<div class="fill-scroll" tabindex="0" role="region" aria-label="Without each word">'
        '<table class="fill-removals">'
        f'<thead><tr>{heads}</tr></thead><tbody><tr class="all"><th scope="row">(nothing)</th>{first}'
        f"<td>{token_label(found.first)}</td></tr>{rows}</tbody></table></div>"
    )
