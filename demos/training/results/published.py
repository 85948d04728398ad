"""Results that others have published (assets/data/published.yaml), and which of one's own runs stand beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import yaml

from demos.files import read_asset
from demos.training.results.history import Record


@dataclass(frozen=True)
class Column:
    """One score. Runs that were tested on one of the data sets `data` (ids) may have it, as `metric`."""

    name: str
    note: str = ""
    data: tuple[str, ...] = ()
    metric: str = ""  # as a run's `metrics` call it; "" where no run can have it

    def own(self, record: Record) -> float | None:
        """The run's score in per cent, where it was tested on this data by this metric."""
        if record.source not in self.data or self.metric not in record.metrics:
            return None
        return 100 * record.metrics[self.metric]


@dataclass(frozen=True)
class Row:
    """One system by one source. Values are in per cent, one a column."""

    system: str
    source: str
    date: str  # year-month
    values: tuple[float | None, ...]
    is_own: bool = False


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
    """The runs that were tested on this board's data, by its metrics."""
    rows = []
    for record in records:
        values = tuple(column.own(record) for column in board.columns)
        if any(value is not None for value in values):
            system = f"your run {record.number}: {record.model}"
            rows.append(Row(system, f"{record.examples[2]:,} test examples", record.time[:7], values, is_own=True))
    return rows
