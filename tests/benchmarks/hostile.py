"""Attacks on the app, and a class's mishaps: what was refused, told and lost, and what the app's log holds.

`python tests/benchmarks hostile [--only events] [--only payloads] ...`: 20,000 odd events; answers that nobody fetches;
idle connections; script payloads in every input, every output looked at in a browser; a class that reads while files
are broken, texts too long, runs cancelled and tabs closed. One app stands all of it, and is asked something plain after
each. SEED in the environment draws other events.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import psutil
from playwright.sync_api import sync_playwright

from tests.benchmarks._hall_loads import Load, reading
from tests.benchmarks._hall_record import record
from tests.chromium import find_chromium
from tests.conftest import START_SECONDS, answers, end_app, start_app
from tests.hostile.class_day import Troubles
from tests.hostile.fuzz import fuzz
from tests.hostile.payloads import PAYLOADS
from tests.hostile.scripted_reader import LESSONS, ScriptedReader
from tests.hostile.wire import call, send
from tests.run_coroutine import run

EVENTS, UNFETCHED, IDLE, AT_ONCE, CLASS_SECONDS, STUDENTS = 20_000, 129, 2_000, 10, 600.0, 30
MOST_GROWTH = 600.0  # MB of memory, while answers are not fetched
MOST_LOG = 200  # kB, of all of it


class App(NamedTuple):
    """The one that is attacked."""

    url: str
    process: psutil.Process
    log: Path
    short: bool

    def megabytes(self) -> float:
        return self.process.memory_info().rss / 2**20

    def files(self) -> int:
        return self.process.num_fds()


def odd_events(app: App) -> int:
    events = 30 if app.short else EVENTS
    report = fuzz(app.url, events, seed=int(os.environ.get("SEED", "0")))
    print(f"{events:,} odd events in {report.seconds:.0f} s, {len(report.hung)} hung, {report.failed} of 500 and over")
    for outcome, count in report.outcomes.most_common():
        print(f"  {outcome:40} {count:8,}")
    for hung in report.hung:
        print(f"  hung: {hung}")
    return report.failed + len(report.hung)


def unfetched_answers(app: App) -> int:
    count, before = 5 if app.short else UNFETCHED, app.megabytes()
    for _ in range(count):
        send(app.url, "/gradio_api/call/attention", {"data": ["word " * 480, "", 0, "", 0]})
    grown = app.megabytes() - before
    print(f"{count} answers that nobody fetches: memory {grown:+,.0f} MB")
    return int(grown > MOST_GROWTH)


def idle_connections(app: App) -> int:
    count, place = 50 if app.short else IDLE, urlsplit(app.url)
    with ExitStack() as stack:
        for _ in range(count):
            stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=30))
        print(f"among {count:,} idle connections: {_plain(app.url)}")
    return 0


def payloads(app: App) -> int:
    """All payloads, so many at once, in every input; every output looked at."""
    chromium = find_chromium()
    if not chromium:
        print("payloads: not tried, no Chromium on this machine")
        return 0
    lessons, most = (LESSONS[:1], AT_ONCE) if app.short else (LESSONS, len(PAYLOADS))
    faults: list[str] = []
    totals: dict[str, int] = {}
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for begin in range(0, most, AT_ONCE):
            for lesson in lessons:
                context = browser.new_context(viewport={"width": 1280, "height": 800})
                reader = ScriptedReader(context, app.url, PAYLOADS[begin : begin + AT_ONCE], Path(folder))
                reader.visit(lesson)
                faults += reader.seen.faults
                for name, counts in (("shown", reader.seen.shown), ("filled", reader.seen.inputs)):
                    totals[name] = totals.get(name, 0) + counts.total()
                totals["taken home"] = totals.get("taken home", 0) + reader.seen.downloads.total()
                context.close()
        browser.close()
    print(f"{most} payloads, {AT_ONCE} at once: {totals}, {len(faults)} became more than text")
    for fault in faults:
        print(f"  {fault}")
    return len(faults) + (not totals.get("shown"))


def class_day(app: App) -> int:
    """A class that reads, and its mishaps beside it."""
    troubles = Troubles(app.url)
    if find_chromium() and not app.short:
        load = Load(run(record(app.url)), STUDENTS, CLASS_SECONDS, 1, 0.3, True)
        over = threading.Event()

        def mishaps() -> None:
            while not over.is_set():
                troubles.day(1)
                over.wait(random.uniform(0, 5))

        beside = threading.Thread(target=mishaps)
        beside.start()
        for row in run(reading(load, app.url)):
            print(f"  {row.what:60} {row.measured}")
        over.set()
        beside.join()
    else:
        troubles.day(1)
    for what, count in sorted(troubles.told.items()):
        print(f"  {what:40} {count:8,}")
    return 0


ATTACKS: dict[str, Callable[[App], int]] = {
    "events": odd_events,
    "answers": unfetched_answers,
    "connections": idle_connections,
    "payloads": payloads,
    "class": class_day,
}


def main(options: list[str], short: bool = False) -> None:
    """Start the app, attack it, ask it something plain after each attack. SystemExit where it was at fault."""
    parser = argparse.ArgumentParser(prog="python tests/benchmarks hostile", description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=ATTACKS, help="may be given again")
    only = parser.parse_args(options).only or list(ATTACKS)
    with tempfile.TemporaryDirectory() as folder:
        pid, port = start_app(Path(folder), TMPDIR=folder)
        app = App(f"http://127.0.0.1:{port}", psutil.Process(pid), Path(folder) / "app.log", short)
        try:
            deadline = time.monotonic() + START_SECONDS
            while "is ready" not in app.log.read_text(encoding="utf-8") or not answers(app.url):
                if time.monotonic() > deadline:
                    raise SystemExit("the app did not start")
                time.sleep(0.5)
            faults = sum(_attacked(app, name) for name in only)
            text = app.log.read_text(errors="replace", encoding="utf-8")
        finally:
            end_app(pid, app.url)
    traced = text.count("Traceback")
    print(f"log: {len(text) / 1024:,.0f} kB, {traced} tracebacks")
    if traced:
        print(text[text.index("Traceback") - 200 :][:20_000])
    if faults or traced or len(text) > MOST_LOG * 1024:
        raise SystemExit(f"{faults} faults, {traced} tracebacks, a log of {len(text) / 1024:,.0f} kB")


def _attacked(app: App, name: str) -> int:
    before = app.megabytes(), app.files()
    faults = ATTACKS[name](app)
    print(
        f"  after {name}: {_plain(app.url)}; memory {before[0]:,.0f} -> {app.megabytes():,.0f} MB, "
        f"open files {before[1]} -> {app.files()}",
        flush=True,
    )
    return faults


def _plain(url: str) -> str:
    """How long an honest caller waits now. Raises SystemExit where there is no answer."""
    begun = time.monotonic()
    said = call(url, "tokenize", ["still here", "", ""])
    if '"still"' not in json.dumps(said).replace("\\", ""):
        raise SystemExit(f"no plain answer: {said[:200]}")
    return f"a plain call takes {time.monotonic() - begun:.2f} s"
