"""The session's runs in a table, and in words which of two is better, if it is (HTML)."""

from collections.abc import Sequence

from demos.figures.recipe import millions, setting_name, setting_value
from demos.figures.short_text import short
from demos.templates import signed, templates
from demos.training.metrics import CORRELATIONS
from demos.training.results.history import Record, differences
from demos.training.results.paired import other_test, same_test

TEXT = templates(__file__, "text_runs.html")
SHOWN_CHANGES = 4  # of a row; more are counted
DATA_LENGTH = 28
TITLE_LENGTH = 60  # of a data set in a menu
SURE = 0.05
ONLY_SHARES = ("accuracy", "exact match")  # metrics that are a share of the test examples
STOPPED = {"asked": "stopped by hand", "time": "out of time"}


def runs_html(records: Sequence[Record], ticked: Sequence[int], sample: bool) -> str:
    """Newest first, each with what differs from the run before it; `ticked` are the numbers laid over one another."""
    rows = [
        {
            "number": record.number,
            "ticked": record.number in ticked,
            "data": short(record.data, DATA_LENGTH),
            "first": before is None,
            **(_changes(before, record) if before else {}),
            "stopped": STOPPED[record.stopped] if record.stopped else "",
            "trainable": millions(record.trainable),
            "head": record.head,
            "seconds": record.seconds,
            "metrics": list(record.metrics.items()),
        }
        for before, record in zip([None, *records], records, strict=False)
    ]
    return TEXT.runs(rows=rows[::-1], sample=sample)


def _changes(before: Record, record: Record) -> dict[str, object]:
    """The differences, and the number of further ones."""
    names = differences([before, record])
    now, then = record.choices, before.choices
    changes = [
        {
            "name": setting_name(name),
            "now": _value(name, now[name]),
            "was": _value(name, then[name]) if name in then else None,
        }
        for name in names[:SHOWN_CHANGES]
        if name in now  # else it acted before and does not now: another choice says so
    ]
    return {"changes": changes, "more": max(0, len(names) - SHOWN_CHANGES)}


def _value(name: str, value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return short(value, DATA_LENGTH) if name in ("model", "data") else setting_value(name, value)


def compared_html(records: Sequence[Record]) -> str:
    """The headline of the second of two runs against the first's, and whether that is more than chance."""
    if len(records) < 2:
        return TEXT.untold()
    first, second = records[:2]
    (metric, score), (other, value) = first.headline, second.headline
    if metric != other:
        return TEXT.other_tasks(first, second)
    if first.data != second.data:
        return TEXT.other_data(first, second, [short(record.data, DATA_LENGTH) for record in (first, second)])
    gap = value - score
    gap_text = f"{abs(gap):.3f}" if metric in CORRELATIONS else f"{100 * abs(gap):.1f} points"
    return TEXT.compared(first, second, better=gap > 0, gap=gap_text if gap else "", luck=_luck(first, second))


def _luck(first: Record, second: Record) -> str:
    """Whether the gap between two runs on the same data may be the luck of their test examples."""
    (metric, score), (_, value) = first.headline, second.headline
    if metric not in ONLY_SHARES:
        return TEXT.no_share(metric)
    if first.test == second.test and first.right and len(first.right) == len(second.right):
        count, split = len(first.right), same_test(first.right, second.right)
        if not split.only_first + split.only_second:
            return TEXT.all_alike(count)
        return TEXT.same_examples(first, second, count, split, SURE)
    return TEXT.other_examples(first, second, other_test(score, first.examples[2], value, second.examples[2]))


def run_title(record: Record, last: bool) -> str:
    """A run in a menu of runs, as plain text: "Run 2, the last: 91.0% accuracy on Emotion"."""
    metric, value = record.headline
    which = f"Run {record.number}{', the last' * last}"
    return f"{which}: {score_text(metric, value)} {metric} on {short(record.data, TITLE_LENGTH)}"


def score_text(metric: str, value: float) -> str:
    """A share as a percentage, other scores as numbers."""
    return f"{value:.1%}" if metric in ONLY_SHARES else signed(value, ".3f")
