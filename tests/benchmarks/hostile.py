"""Attacks on the app: odd events, answers that nobody fetches, idle connections; what was refused, told and lost."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from tests.conftest import START_SECONDS, answers, end_app, start_app
from tests.hostile.fuzz import fuzz
from tests.hostile.wire import call, send

EVENTS, UNFETCHED, IDLE = 20_000, 129, 2_000
MOST_GROWTH = 600.0  # MB, while answers are not fetched


def resident(pid: int) -> float:
    """MB of a process's memory; 0.0 where there is no /proc."""
    status = Path(f"/proc/{pid}/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")), 0.0)


def main(short: bool = False) -> None:
    """Start the app, attack it, and ask it something plain after each attack."""
    events, unfetched, idle = (30, 5, 50) if short else (EVENTS, UNFETCHED, IDLE)
    with tempfile.TemporaryDirectory() as folder:
        pid, port = start_app(Path(folder))
        url, log = f"http://127.0.0.1:{port}", Path(folder) / "app.log"
        try:
            deadline = time.monotonic() + START_SECONDS
            while not answers(url):
                if time.monotonic() > deadline:
                    raise SystemExit("the app did not start")
                time.sleep(0.5)
            faults = _attack(url, pid, events, unfetched, idle)
            text = log.read_text(errors="replace")
            print(f"log: {len(text) / 1024:,.0f} kB, {text.count('Traceback')} tracebacks")
            faults += text.count("Traceback")
        finally:
            end_app(pid, url)
    if faults:
        raise SystemExit(f"{faults} faults: tracebacks, answers over 499, hangs, or no plain answer afterwards")


def _attack(url: str, pid: int, events: int, unfetched: int, idle: int) -> int:
    faults = 0
    report = fuzz(url, events, seed=int(os.environ.get("SEED", "0")))
    print(f"{events:,} odd events in {report.seconds:.0f} s: {dict(report.outcomes.most_common())}")
    print(f"hung: {report.hung or 'none'}; {_plain(url)}")
    faults += report.failed + len(report.hung)
    before = resident(pid)
    for _ in range(unfetched):
        send(url, "/gradio_api/call/attention", {"data": ["word " * 480, "", 0, "", 0]})
    print(f"{unfetched} answers that nobody fetches: {_plain(url)}; memory {resident(pid) - before:+,.0f} MB")
    faults += resident(pid) - before > MOST_GROWTH
    with ExitStack() as stack:
        place = urlsplit(url)
        for _ in range(idle):
            stack.enter_context(socket.create_connection((place.hostname, place.port), timeout=30))
        print(f"among {idle:,} idle connections: {_plain(url)}")
    return faults


def _plain(url: str) -> str:
    """How long an honest caller waits now. Raises SystemExit where there is no answer."""
    begun = time.monotonic()
    said = call(url, "tokenize", ["still here", "", ""])
    if '"still"' not in json.dumps(said).replace("\\", ""):
        raise SystemExit(f"no plain answer: {said[:200]}")
    return f"a plain call takes {time.monotonic() - begun:.2f} s"
