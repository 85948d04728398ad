"""The four wishes for a position code, each with the number that proves it, and the codes as tables (HTML)."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from demos.bert.encoder.position import Wishes
from demos.figures.numbers import scientific
from demos.figures.tables import column_heads, scrolling_table

SHOWN_NUMBERS = 256  # of a table; more is no table to read
SHOWN_COLUMNS = 32
EXACT = 1e-9  # what float64 leaves of a difference that mathematics says is none
SAME = 1e-6  # rows nearer than that are one row to a float32 model


@dataclass(frozen=True)
class Verdict:
    """One wish for one table: whether it is met, and the number behind that, in words."""

    met: str  # "met", "half met" or "not met"
    said: str


def verdicts(of: Wishes, again: float, rows: int | None) -> tuple[Verdict, ...]:
    """The four wishes. `again`: the furthest that a second, longer table lies from this one; `rows`: None = no end."""
    low, high = of.bounds
    i, j = of.nearest_pair
    inside = low >= -1 - EXACT and high <= 1 + EXACT
    spread = of.offset_spread
    same = again < EXACT
    ends = (
        "there is a row for any position"
        if rows is None
        else f"rows end at position {rows - 1:,}: there is none for position {rows:,}"
    )
    return (
        Verdict(_met(of.nearest > SAME), f"smallest distance {of.nearest:.4f}, of rows {i} and {j}"),
        Verdict(
            _met(spread < EXACT),
            f"a cosine lies at most {scientific(spread) if spread < 0.001 else f'{spread:.3f}'} off the mean of its k",
        ),
        Verdict(_met(inside), f"all numbers lie from {low:.3f} to {high:.3f}".replace("-", "−")),
        Verdict(
            "half met" if same and rows else _met(same), f"computed again, it differs by {scientific(again)}; {ends}"
        ),
    )


WISHES = (
    ("Unique", "each position has a row of its own"),
    ("Consistent distance", "how alike two rows are depends on how far apart they stand, not on where"),
    ("Bounded", "no number leaves [−1, 1], however long the text"),
    ("Deterministic, any length", "the same row each time, for a text of any length"),
)


def _met(wish: bool) -> str:
    return "met" if wish else "not met"


def wishes_html(sinusoid: Sequence[Verdict], learned: Sequence[Verdict], rows: int) -> str:
    """A row a wish, a column a table; measured on the first `rows` positions."""
    body = "".join(
        f'<tr><th scope="row"><b>{number} {name}</b><br><small>{meaning}</small></th>{_cell(mine)}{_cell(theirs)}</tr>'
        for number, ((name, meaning), mine, theirs) in enumerate(zip(WISHES, sinusoid, learned, strict=True), start=1)
    )
    return (
        f'<table class="plain encoder-wishes-table"><caption>The four wishes, measured on positions 0 to {rows - 1}'
        '</caption><thead><tr><td></td><th scope="col">sinusoids</th><th scope="col">learned by this model</th></tr>'
        f"</thead><tbody>{body}</tbody></table>"
    )


def _cell(verdict: Verdict) -> str:
    good = verdict.met == "met"
    return (
        f'<td class="{"met" if good else "unmet"}"><b>{"✓" if good else "✗"} {verdict.met}</b><br>{verdict.said}</td>'
    )


def numbers_table(table: np.ndarray, caption: str, names: Sequence[str] = ()) -> str:
    """A table's numbers with four digits, a row a position; only its beginning where it is large."""
    m, d = table.shape
    shown = min(d, SHOWN_COLUMNS)
    rows = min(m, max(4, SHOWN_NUMBERS // shown))
    cut = f"; the first {rows} of {m} rows and {shown} of {d} columns" if (rows, shown) != (m, d) else ""
    told = html.escape(caption + cut)
    body = "".join(
        f'<tr><th scope="row">{index}{f" {html.escape(names[index])}" if names else ""}</th>'
        + "".join(f"<td>{value + 0.0:.4f}</td>" for value in table[index, :shown].round(4))
        + "</tr>"
        for index in range(rows)
    )
    return scrolling_table(told, f"<td></td>{column_heads(range(shown))}", body)


def is_small(table: np.ndarray) -> bool:
    """Whether all of the table's numbers can be shown beside its picture."""
    return table.size <= 64 and table.shape[1] <= 8
