"""The three loads of a hall: all open the link at once; all read and type; sessions come and leave.

Each gives its figures, with what is wanted beside them.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil

from tests.benchmarks._hall_replay import Student, Tally, other_sentence, quantile
from tests.benchmarks._hall_visit import Recording, Visit

GB, MB = 2**30, 2**20
RATE = 5.0  # events a second, of all students together
SIDE_BY_SIDE = 10  # sessions at once, of those that open the lessons and leave


@dataclass(frozen=True)
class Row:
    """One figure; `met` is None where none is wanted."""

    what: str
    measured: str
    wanted: str = ""
    met: bool | None = None


def at_most(what: str, measured: float, most: float, unit: str = "", digits: int = 0) -> Row:
    """A figure that is to be small; what could not be measured (nan) is missed."""
    figure = "none" if measured != measured else f"{measured:.{digits}f}{unit}"
    return Row(what, figure, f"<= {most:g}{unit}" if most else "0", measured <= most)


@dataclass(frozen=True)
class Load:
    """The recording, and what was asked for on the command line."""

    recording: Recording
    students: int
    seconds: float
    rest: float  # seconds between leaving and looking at the memory
    vanish: float  # the share of students that close their connections in the middle
    sentences: bool  # each student types another sentence

    @property
    def vanishing(self) -> int:
        return round(self.vanish * self.students)

    def student(self, url: str, tally: Tally, chance: random.Random) -> Student:
        return Student(url, tally, other_sentence(chance) if self.sentences else "")


class Memory:
    """What the app's process and its children take, or those of all replicas: at first, and the most since."""

    def __init__(self, url: str) -> None:
        port = urlsplit(url).port
        found = next(process for process in psutil.process_iter() if port in listening(process))
        ours = psutil.Process().children()  # the app, or the proxy and the apps behind it
        self.processes = ours if found in ours else [found]
        self.before = self.peak = self.now()

    def now(self) -> int:
        """Bytes of resident memory."""
        both = [[process, *process.children(recursive=True)] for process in self.processes]
        return sum(one.memory_info().rss for family in both for one in family)

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        async def watch() -> None:
            while True:
                self.peak = max(self.peak, self.now())
                await asyncio.sleep(0.25)

        watching = asyncio.create_task(watch())
        try:
            yield
        finally:
            watching.cancel()

    def row(self) -> Row:
        row = at_most("  memory, before -> peak", self.peak / GB, 1.5, " GB", 2)
        return Row(row.what, f"{self.before / GB:.2f} -> {row.measured}", row.wanted, row.met)


def listening(process: psutil.Process) -> Iterator[int]:
    """The ports at which the process takes connections."""
    with suppress(psutil.Error):
        for connection in process.net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN:
                yield connection.laddr.port


class Pace:
    """Gives out turns until `end`, so that all students together post so many events a second and no more."""

    def __init__(self, rate: float, end: float) -> None:
        self.rate, self.free, self.end = rate, time.monotonic(), end

    async def turn(self, events: int) -> bool:
        """Wait for a turn of so many events; False, at the end, where none is left."""
        now = time.monotonic()
        begin = max(now, self.free)
        if begin < self.end:
            self.free = begin + max(1, events) / self.rate
        await asyncio.sleep(max(0, min(begin, self.end) - now))
        return begin < self.end


def counted(tally: Tally) -> list[Row]:
    """What went wrong, each kind by its name."""
    kinds = ", ".join(f"{count} {name}" for name, count in tally.errors.most_common())
    return [
        at_most("  events refused", tally.refused, 0),
        at_most("  errors and lost answers" + (f" ({kinds})" if kinds else ""), tally.faults, 0),
    ]


def _left(tally: Tally) -> str:
    return f", {tally.left} of them vanish" if tally.left else ""


async def vanish(student: Student, visit: Visit, after: float) -> None:
    """Close all connections `after` seconds into a visit, or at its end."""
    try:
        async with asyncio.timeout(after):
            await student.visit(visit)
    except TimeoutError:
        student.tally.left += 1
    await student.leave()


async def warm_up(load: Load, url: str) -> None:
    """One student's way through all visits, so that models and lessons are read before others come."""
    student = Student(url, Tally())
    for visit in (*load.recording.first, load.recording.typed[0], load.recording.typing, *load.recording.typed):
        await student.visit(visit)
    await student.leave()


async def opening(load: Load, url: str) -> list[Row]:
    """All open the link at one moment."""
    tally, memory, first = Tally(), Memory(url), load.recording.first[0]
    chances = [random.Random(number) for number in range(load.students)]
    students = [load.student(url, tally, chance) for chance in chances]
    began = time.monotonic()
    async with memory.watched():
        await asyncio.gather(
            *(
                vanish(student, first, chance.uniform(0.1, 3)) if number < load.vanishing else student.visit(first)
                for number, (student, chance) in enumerate(zip(students, chances, strict=True))
            )
        )
    took = time.monotonic() - began
    await asyncio.gather(*(student.leave() for student in students))
    seconds = [seconds for _, seconds, _ in tally.visits]
    return [
        Row(f"{load.students} students open the link at one moment{_left(tally)}", f"{len(seconds)} pages"),
        *counted(tally),
        at_most("  pages incomplete", tally.incomplete, 0),
        Row("  pages a second, until the last", f"{len(seconds) / took:.1f}"),
        Row("  first picture without the browser's own work, median", f"{quantile(seconds, 0.5):.2f} s"),
        at_most("  first picture without the browser's own work, p95", quantile(seconds, 0.95), 10, " s", 2),
        memory.row(),
    ]


async def reading(load: Load, url: str) -> list[Row]:
    """They arrive over a ramp, type and open lessons, each in turn."""
    tally, memory, recording = Tally(), Memory(url), load.recording
    steps = [recording.typing, *recording.typed[1:], recording.typed[0]]  # the typing is on the first lesson's page
    began = time.monotonic()
    pace = Pace(RATE, began + load.seconds)
    ramp = min(30.0, load.seconds / 4)

    opened: list[float] = []  # seconds, of lessons that were opened with the typed sentence

    async def live(number: int) -> None:
        chance = random.Random(number)
        student = load.student(url, tally, chance)
        await asyncio.sleep(ramp * number / load.students)
        await student.visit(recording.first[0])
        step, last = chance.randrange(len(steps)), chance.randint(1, 3)
        while await pace.turn(len(steps[step].events)):
            if number < load.vanishing and not last:
                await vanish(student, steps[step], chance.uniform(0.05, 0.5))
                return
            at = time.monotonic()
            await student.visit(steps[step])
            opened.extend([time.monotonic() - at] if steps[step].page else [])
            step, last = (step + 1) % len(steps), last - 1
        await student.leave()

    async with memory.watched():
        await asyncio.gather(*map(live, range(load.students)))
    took = time.monotonic() - began
    return [
        Row(
            f"{load.students} students read and type for {load.seconds:.0f} s{_left(tally)}",
            f"{len(tally.visits)} visits",
        ),
        Row("  events answered, a second", f"{len(tally.answers) / took:.1f}"),
        Row("  answer to an event, median", f"{quantile(tally.answers, 0.5):.2f} s"),
        at_most("  answer to an event, p95", quantile(tally.answers, 0.95), 3, " s", 2),
        Row("  a lesson opened with the typed sentence, all of it, p95", f"{quantile(opened, 0.95):.2f} s"),
        *counted(tally),
        memory.row(),
    ]


async def leaving(load: Load, url: str) -> list[Row]:
    """They open all lessons, some at once, and leave; then as many others do, and as many again."""
    tally, memory, kept = Tally(), Memory(url), []
    for begin in range(0, 3 * load.students, load.students):
        numbers = iter(range(begin, begin + load.students))

        async def tours(numbers: Iterator[int] = numbers) -> None:
            for number in numbers:
                student = load.student(url, tally, random.Random(number))
                for visit in load.recording.typed:
                    await student.visit(visit)
                await student.leave()

        await asyncio.gather(*(tours() for _ in range(SIDE_BY_SIDE)))
        await asyncio.sleep(load.rest)
        kept.append((memory.now() - memory.before) / MB)
    return [
        Row(
            f"{load.students} sessions open {len(load.recording.typed)} lessons and leave, three times",
            f"{len(tally.visits)} visits",
        ),
        *counted(tally),
        at_most(f"  memory kept {load.rest:.0f} s after they left", kept[0], 100, " MB"),
        at_most("  memory kept after as many again, in all", kept[1], 100, " MB"),
        at_most("  and what the third as many add to it", kept[2] - kept[1], 10, " MB"),
    ]
