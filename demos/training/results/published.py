"""Results that others have published (assets/data/published.yaml), and those of a reader's runs to show beside them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import yaml

from demos.files import read_asset
from demos.training.results.history import Record


@dataclass(frozen=True)
class Column:
    """One score. Runs that were tested on one of the data sets `data` (ids) may have it, as `metric`.

    Those on one of our own data sets for the same kind of task (`like`) may have it too, apart from the others.
    """

    name: str
    note: str = ""
    data: tuple[str, ...] = ()
    metric: str = ""  # as a run's `metrics` call it; "" where no run can have it
    like: Mapping[str, str] = field(default_factory=dict, hash=False)  # our own data: the metric's name there
    guessing: float | None = None  # the score of guessing, in per cent: where given, the column is drawn as bars

    def own(self, record: Record) -> float | None:
        """The run's score in per cent, where it was tested on this data or on ours that is like it, by this metric."""
        metric = self.metric if record.source in self.data else self.like.get(record.source, "")
        return 100 * record.metrics[metric] if metric in record.metrics else None


@dataclass(frozen=True)
class Row:
    """One system by one source. Values are in per cent, one a column."""

    system: str
    source: str
    date: str  # year-month
    values: tuple[float | None, ...]
    is_own: bool = False
    other_data: str = ""  # of an own run: our data set, where that is not the one of the column


@dataclass(frozen=True)
class Board:
    """One table of results."""

    name: str
    about: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@lru_cache(maxsize=1)
def boards() -> dict[str, Board]:
    """All, by name, in their order."""
    document = yaml.safe_load(read_asset("data/published.yaml"))
    parsed = [
        Board(
            board["name"],
            board["about"],
            tuple(Column(**column | {"data": tuple(column.get("data", ()))}) for column in board["columns"]),
            tuple(
                Row(system, document["sources"][source], str(date), tuple(values))
                for system, source, date, *values in board["rows"]
            ),
        )
        for board in document["boards"]
    ]
    return {board.name: board for board in parsed}


def own_rows(board: Board, records: Sequence[Record]) -> list[Row]:
    """The runs that were tested by this board's metrics: on its data, then on our own for the same kind of task."""
    rows = []
    for record in records:
        values = tuple(column.own(record) for column in board.columns)
        if any(value is not None for value in values):
            is_ours = any(record.source in column.like for column in board.columns)
            system = f"your run {record.number}: {record.model}"
            tests, month = f"{record.examples[2]:,} test examples", record.time[:7]
            rows.append(Row(system, tests, month, values, is_own=True, other_data=record.data if is_ours else ""))
    return sorted(rows, key=lambda row: bool(row.other_data))
