"""A hall of students who open the page at one moment, who read and type, who leave; the page as it is sent.

`python tests/benchmarks hall [--students 100] [--seconds 60] [--minutes 60] [--vanish 0.2] [--sentences] [--only X]
[--replicas 2]`: a browser's visits are recorded once and asked again by each student in a session of his own. What
his browser would need to draw is in the last figure alone. Each load has an app of its own, or several behind HAProxy,
which one student has warmed.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
from collections.abc import Callable, Coroutine
from typing import Any

from page import running_app

from tests.benchmarks._hall_loads import Load, Row, at_most, leaving, opening, reading, warm_up
from tests.benchmarks._hall_record import record, seconds_to_picture
from tests.benchmarks._hall_replicas import running_replicas
from tests.benchmarks._hall_visit import Recording
from tests.chromium import find_chromium

LOADS: dict[str, Callable[[Load, str], Coroutine[Any, Any, list[Row]]]] = {
    "opening": opening,
    "reading": reading,
    "leaving": leaving,
}
LESSON = "attention"  # whose first picture is waited for
RUNS = 5


def read_options(options: list[str], short: bool) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/benchmarks hall", description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=2 if short else 100)
    parser.add_argument("--seconds", type=float, default=2 if short else 60)
    parser.add_argument("--minutes", type=float, help="the same in minutes")
    parser.add_argument("--vanish", type=float, default=0, help="the share that closes its connections in the middle")
    parser.add_argument("--sentences", action="store_true", help="each student types a sentence of his own")
    parser.add_argument("--replicas", type=int, default=1, help="so many apps, behind HAProxy where more than one")
    parser.add_argument("--only", action="append", choices=[*LOADS, "page", "picture"], help="may be given again")
    return parser.parse_args(options)


def page_rows(recording: Recording) -> list[Row]:
    """What the page weighs, and what a browser asks for at its opening."""
    first, typed = recording.first, recording.typed
    default, other = (max(len(visit.events) for visit in visits) for visits in (first, typed))
    return [
        Row("the page", f"{len(first)} lessons"),
        at_most("  bytes of GET /, compressed", max(visit.page_bytes for visit in first) / 1_000, 150, " kB"),
        Row("  files of a first visit, with the page", f"{1 + len(first[0].files)}"),
        at_most("  files asked for at a second visit, with the page", 1 + len(recording.again.files), 10),
        Row("  components, the most of a page", f"{max(visit.components for visit in first)}"),
        at_most("  events posted at an opening, default sentence, the most", default, 0),
        at_most("  events posted at an opening, another sentence, the most", other, 2),
    ]


def picture_rows(url: str, runs: int) -> list[Row]:
    """How long a reader waits in a real browser."""
    cold, warm = asyncio.run(seconds_to_picture(url, LESSON, runs))
    return [
        Row(f"a reader opens ?lesson={LESSON}, alone, until the page is at rest", f"{runs} times"),
        at_most("  empty browser cache, median", statistics.median(cold), 2, " s", 2),
        at_most("  filled browser cache, median", statistics.median(warm), 1, " s", 2),
    ]


def printed(rows: list[Row]) -> int:
    """How many figures were missed, after the rows were printed."""
    for row in rows:
        wanted = f"wanted {row.wanted:10}" if row.wanted else ""
        print(
            f"{row.what:62} {row.measured:>18}   {wanted} {'MISSED' if row.met is False else ''}".rstrip(), flush=True
        )
    return sum(row.met is False for row in rows)


def main(options: list[str], short: bool = False) -> None:
    """Print the table; SystemExit where a figure was missed."""
    if not find_chromium():
        print("not measured, no Chromium on this machine")
        return
    asked = read_options(options, short)
    only = asked.only or [*LOADS, "page", "picture"]
    missed = 0
    with running_app(short) as url:
        recording = asyncio.run(record(url, short))
        if "page" in only:
            missed += printed(page_rows(recording))
        if "picture" in only:
            missed += printed(picture_rows(url, 1 if short else RUNS))
    seconds = asked.seconds if asked.minutes is None else 60 * asked.minutes
    load = Load(recording, asked.students, seconds, 1 if short else 60, asked.vanish, asked.sentences)
    for name in LOADS:
        if name in only:
            with running_replicas(asked.replicas, short) as url:
                for _ in range(0 if short else asked.replicas):  # the proxy sends each new student to another one
                    asyncio.run(warm_up(load, url))
                missed += printed(asyncio.run(LOADS[name](load, url)))
    if missed and not short:
        raise SystemExit(f"{missed} of the figures that are wanted.")


if __name__ == "__main__":
    main([])
