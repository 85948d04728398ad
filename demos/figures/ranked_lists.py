"""Ranked lists side by side, a line from each sentence to itself in the next list (HTML, escaped)."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

from demos.figures.cosines import rounded
from demos.templates import markup

MOVED = ' class="moved"'


@dataclass(frozen=True)
class Hit:
    """One place of a list."""

    key: int  # the same sentence has the same key in every list
    sentence: str
    score: float
    elsewhere: str = ""  # its rank in the list it is compared with: "B 14"
    moved: bool = False  # whether that is worth a look
    tag: str = ""  # its topic, or its number
    hue: str = "var(--line)"  # the tag's colour, CSS
    shared: frozenset[tuple[int, int]] = frozenset()  # characters [start, end) that the query has too


@dataclass(frozen=True)
class Ranking:
    """One list: its name and what stands above it (HTML, escaped by who writes it), its hits, best first."""

    name: str
    above: str
    hits: Sequence[Hit]
    empty: str = ""  # what to say after the last hit, where a place stays empty


@markup
def ranked_html(lists: Sequence[Ranking], rows: int) -> str:
    """The lists as columns of `rows` places each."""
    parts = []
    for at, one in enumerate(lists):
        if at:
            parts.append(_lines(2 * at, lists[at - 1].hits, one.hits, rows))
        hits = "".join(_hit(rank, hit) for rank, hit in enumerate(one.hits, start=1))
        empty = f'<p class="empty">{html.escape(one.empty)}</p>' if one.empty else ""
        ordered = f'<ol class="hits" aria-label="{html.escape(one.name)}">{hits}</ol>' if one.hits else ""
        parts.append(
            f'<section class="ranking" style="--at:{2 * at + 1}"><div class="above">{one.above}</div>'
            f'<div class="list">{ordered}{empty}</div></section>'
        )
    return f'<div class="rankings" style="--lists:{len(lists)};--rows:{rows}">{"".join(parts)}</div>'


def _hit(rank: int, hit: Hit) -> str:
    tag = f'<span class="tag" style="--hue:{hit.hue}">{html.escape(hit.tag)}</span>' if hit.tag else ""
    elsewhere = f"<small>{html.escape(hit.elsewhere)}</small>" if hit.elsewhere else ""
    share = max(0.0, min(1.0, hit.score))
    return (
        f'<li{MOVED if hit.moved else ""} style="--share:{share:.3f}">'
        f'<span class="rank"><b>{rank}</b>{elsewhere}</span>'
        f'<span class="text" title="{html.escape(hit.sentence)}">{_marked(hit.sentence, hit.shared)}</span>'
        f'<span class="score"><b>{rounded(hit.score)}</b>{tag}</span></li>'
    )


def _marked(sentence: str, spans: frozenset[tuple[int, int]]) -> str:
    """The sentence, escaped, its `spans` of characters marked."""
    parts, end = [], 0
    for start, stop in sorted(spans):
        parts += [html.escape(sentence[end:start]), f"<mark>{html.escape(sentence[start:stop])}</mark>"]
        end = stop
    return "".join([*parts, html.escape(sentence[end:])])


def _lines(at: int, left: Sequence[Hit], right: Sequence[Hit], rows: int) -> str:
    """The gutter between two lists: a line for each sentence that is in both, heavier where it moved."""
    places = {hit.key: row for row, hit in enumerate(right)}
    drawn = "".join(
        f'<line x1="0" y1="{row + 0.5}" x2="10" y2="{places[hit.key] + 0.5}"{MOVED if hit.moved else ""}/>'
        for row, hit in enumerate(left)
        if hit.key in places
    )
    return (
        f'<svg class="links" style="--at:{at}" viewBox="0 0 10 {rows}" preserveAspectRatio="none" aria-hidden="true">'
        f"{drawn}</svg>"
    )
