"""The session's runs in a table, and in words which of two is better, if it is (HTML, every text escaped)."""

from __future__ import annotations

import html
from collections.abc import Sequence

from demos.figures.recipe import millions, setting_name, setting_value
from demos.figures.short_text import short_html
from demos.figures.tables import column_heads, scrolling_table
from demos.training.results.history import Record, differences
from demos.training.results.paired import other_test, same_test

TOLD = 4  # differences told in a row; more are counted
SURE = 0.05
ONLY_SHARES = ("accuracy", "exact match")  # metrics that are a share of the test examples
ONE_SEED = "Each run is one training with one seed; with other seeds the gap may differ."
STOPPED = {"asked": "stopped by hand", "time": "out of time"}


def runs_html(records: Sequence[Record], ticked: Sequence[int], sample: bool) -> str:
    """Newest first, each with what differs from the run before it; `ticked` are the numbers laid over one another."""
    rows = []
    for at in range(len(records) - 1, -1, -1):
        record = records[at]
        (headline, value), *others = record.metrics.items()
        second = f'<br><span class="second">{html.escape(others[0][0])} {others[0][1]:.3f}</span>' if others else ""
        mark = " checked" if record.number in ticked else ""
        name = f"run {record.number}"
        early = f'<br><span class="second">{STOPPED[record.stopped]}</span>' if record.stopped else ""
        rows.append(
            f'<tr><th scope="row"><label><input type="checkbox" data-run="{record.number}"{mark} '
            f'aria-label="Lay {name} over another"> {record.number}</label></th>'
            f'<td class="words">{short_html(record.data, 28)}</td>'
            f'<td class="words wide">{_changes(records[at - 1] if at else None, record)}{early}</td>'
            f"<td>{millions(record.trainable)}</td><td>{record.seconds:.0f} s</td>"
            f'<td class="headline"><b>{score_text(headline, value)}</b> {html.escape(headline)}{second}</td></tr>'
        )
    heads = column_heads(
        ("run", "data", "what is different from the run before", "numbers that train", "took", "on the test")
    )
    caption = "A sample of two runs, not yours: train, and yours stand here." if sample else "Your runs, newest first."
    return scrolling_table(caption, heads, "".join(rows), name="Runs", kind="lesson-table runs")


def _changes(before: Record | None, record: Record) -> str:
    if before is None:
        return "the first"
    names = differences([before, record])
    if not names:
        return "nothing: the same recipe on the same data"
    now, then = record.choices, before.choices
    parts = []
    for name in names[:TOLD]:
        if name not in now:
            continue  # acted before, does not now: another choice says so
        was = f" (was {_value(name, then[name])})" if name in then else ""
        parts.append(f"<b>{setting_name(name)} {_value(name, now[name])}</b>{was}")
    more = len(names) - TOLD
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")


def _value(name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return short_html(value, 28) if isinstance(value, str) and name in ("model", "data") else setting_value(name, value)


def compared_html(records: Sequence[Record]) -> str:
    """The headline of the second of two runs against the first's, and whether that is more than chance."""
    if len(records) < 2:
        return "<p>Tick two runs to lay their curves over one another.</p>"
    first, second = records[:2]
    (metric, score), (other, found) = first.headline, second.headline
    if metric != other:
        return (
            f"<p>Run {first.number} is scored by {html.escape(metric)}, run {second.number} by {html.escape(other)}: "
            "these are different tasks, so neither scores nor losses can be compared.</p>"
        )
    if first.data != second.data:
        told = [
            f"run {one.number} has {score_text(*one.headline)} {html.escape(metric)} on {short_html(one.data, 28)}"
            for one in (first, second)
        ]
        return f"<p>R{told[0][1:]}, {told[1]}: tested on different data, they say nothing of the recipes.</p>"
    better = "better" if found > score else "worse"
    gap = (
        f"<b>{abs(found - score) * 100:.1f} points {better}</b>" if found != score else "<b>no better and no worse</b>"
    )
    name = html.escape(metric)
    lead = (
        f'<p class="verdict">Run {second.number} ({score_text(metric, found)} {name}) is {gap} than run {first.number} '
        f"({score_text(metric, score)})"
        if found != score
        else f'<p class="verdict">Both runs have {score_text(metric, score)} {name}: {gap}'
    )
    return f"{lead}. {_chance(first, second)}</p>"


def _chance(first: Record, second: Record) -> str:
    name = html.escape(first.headline[0])
    if first.headline[0] not in ONLY_SHARES:
        return f"How much of a gap in {name} is luck, the two numbers do not tell: repeat both with other seeds."
    if first.test == second.test and first.right and len(first.right) == len(second.right):
        found = same_test(first.right, second.right)
        if not found.only_first + found.only_second:
            return f"Of the same {len(first.right):,} test examples, both get the same ones right."
        verdict = (
            "That is <b>more than the luck of these test examples</b>"
            if found.p < SURE
            else "That <b>may well be luck</b>: these examples do not show which is better"
            if found.only_first != found.only_second
            else "So nothing here speaks for either"
        )
        return (
            f"Of the same {len(first.right):,} test examples, {found.only_second} are right only in run "
            f"{second.number} and {found.only_first} only in run {first.number}; if both were equally good, so "
            f"lopsided a split, or more, would come up with probability {_probability(found.p)} (McNemar). {verdict}. "
            f"{ONE_SEED}"
        )
    gap = other_test(first.headline[1], first.examples[2], second.headline[1], second.examples[2])
    sure = gap.low > 0 or gap.high < 0
    luck = "<b>more than the luck of these test examples</b>"
    verdict = luck if sure else "which includes 0: it <b>may well be luck</b>"
    return (
        f"They answered different test examples ({first.examples[2]:,} and {second.examples[2]:,}), so the true gap "
        f"lies anywhere from {gap.low * 100:+.1f} to {gap.high * 100:+.1f} points (95 %), {verdict}. {ONE_SEED}"
    )


def score_text(metric: str, value: float) -> str:
    """A share as a percentage, other scores as numbers."""
    return f"{value:.1%}" if metric in ONLY_SHARES else f"{value:.3f}"


def _probability(p: float) -> str:
    return "below 0.001" if p < 0.001 else f"{p:.2g}"
