"""What it costs to draw a training while it runs: processor time of the page's threads, and of the browser's page."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from page import free_port
from playwright.sync_api import sync_playwright

from tests.chromium import find_chromium

LIMIT = 0.03  # of the run's seconds
REST = 5  # seconds
TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 1  # and without it there is no /proc to read
MINE = ("MainThread", "training")  # who drives the browser here, and who trains


class Clock:
    """Processor seconds of this process's Python threads beside MINE; a product's own helpers are no Python threads."""

    def __init__(self) -> None:
        self.first: dict[int, float] = {}
        self.last: dict[int, float] = {}

    def look(self) -> None:
        """Note every thread's seconds so far; ask often, since a thread that ends takes its own along."""
        later = bool(self.last)  # a thread that is first seen then began with no seconds
        for thread in threading.enumerate():
            if thread.name in MINE or thread.native_id is None:
                continue
            try:
                told = Path(f"/proc/self/task/{thread.native_id}/stat").read_text(encoding="utf-8")
            except OSError:
                continue
            fields = told.rpartition(")")[2].split()
            seconds = (int(fields[11]) + int(fields[12])) / TICK  # utime, stime
            self.first.setdefault(thread.native_id, 0.0 if later else seconds)
            self.last[thread.native_id] = seconds

    @property
    def seconds(self) -> float:
        return sum(self.last[one] - self.first[one] for one in self.last)


def main(short: bool = False) -> None:
    """One run of the default recipe, watched by one browser."""
    recipe, rest_seconds, opening = ("epochs=1&most=50", 1, 1_000) if short else ("epochs=10", REST, 10_000)
    chromium = find_chromium()
    if not chromium or not Path("/proc/self/task").is_dir():
        print("not measured: no Chromium, or no Linux to ask for a thread's time")
        return
    import app
    from demos.bert.model.catalogue import BUNDLED
    from demos.bert.model.models import ModelStore
    from demos.page.command_line import read_settings
    from demos.page.services import Services

    store, port = ModelStore(), free_port()
    store.get(BUNDLED)
    app.gr.set_static_paths(app.static_paths())
    options = app.launch_options(read_settings(["--port", str(port)]), app.FirstViews())
    demo = app.build_pages(Services(store, BUNDLED))
    demo.launch(**options, prevent_thread_lock=True, quiet=True)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"http://127.0.0.1:{port}/?lesson=finetune&{recipe}")
            page.wait_for_selector("#finetune-cost .cost")
            page.wait_for_timeout(opening)  # what the page draws at its opening is over
            metrics = page.context.new_cdp_session(page)
            metrics.send("Performance.enable")

            def busy() -> float:
                found = metrics.send("Performance.getMetrics")["metrics"]
                return next(one["value"] for one in found if one["name"] == "TaskDuration")

            rest, before = Clock(), busy()
            rest.look()
            time.sleep(rest_seconds)
            rest.look()
            at_rest, quiet = (
                rest.seconds / rest_seconds,
                (busy() - before) / rest_seconds,
            )  # what an open page costs in any case

            clock, before = Clock(), busy()
            clock.look()
            page.click("#finetune-start")
            began = time.perf_counter()
            status = "document.querySelector('#finetune-curve .curve-status').textContent"
            while not page.evaluate(status).startswith("Trained"):
                time.sleep(0.2)
                clock.look()
            took = time.perf_counter() - began
            print(f"a run of {took:.0f} s: {page.evaluate(status)}")
            for where, seconds, idle, limit in (
                ("server", clock.seconds, at_rest, f" (limit {LIMIT:.0%})"),
                ("reader's browser", busy() - before, quiet, ""),
            ):
                share = seconds / took
                print(
                    f"in the {where}: {seconds:.2f} s of a processor, {share:.1%} of the run; {idle:.1%} at rest, so "
                    f"drawing {share - idle:.1%}{limit}"
                )
            browser.close()
    finally:
        demo.close()
