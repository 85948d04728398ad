"""Every stop of the tours that come with the app, walked in presenter mode as a lecturer does: what each one lacks.

`python tests/benchmarks tours [assets/tours/NAME.md ...]`: those that are named, or all. At 1920x1080, a stop is to
show its question first, then what it outlines, in texts of at least a fiftieth of the screen's height, with no error.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from page import running_app
from playwright.sync_api import Error, Page, expect, sync_playwright

from demos.page.tours.tour_file import Stop, bundled_tours, read_tour
from tests.browser.conftest import visit
from tests.browser.screens import looks
from tests.chromium import find_chromium

WIDTH, HEIGHT = 1920, 1080
LEAST = HEIGHT / 50  # pixels of a text
WAIT = int(os.environ.get("WAIT", 30_000))  # milliseconds until a stop stands
CALM = 700  # milliseconds in which what comes late is drawn
CARD = ".question"
SHORT = 2  # stops


def main(files: Sequence[Path], short: bool = False) -> None:
    """Walk the tours. SystemExit where a stop has a fault."""
    tours = [read_tour(path) for path in files or bundled_tours()[: 1 if short else None]]
    chromium = find_chromium()
    if not chromium:
        print("  no Chromium on this machine")
        return
    missed = 0
    with running_app(short) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        for tour in tours:
            stops = tour.stops[: SHORT if short else None]
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.set_default_timeout(WAIT)
            faults = _walked(page, f"{url}/{stops[0].lesson}?{stops[0].query}&tour={tour.name}&stop=1&present=1", stops)
            page.close()
            print(f"  {tour.title}: {len(stops)} stops walked, {len(faults)} faults", *faults, sep="\n    ", flush=True)
            missed += len(faults)
        browser.close()
    if missed:
        raise SystemExit(f"{missed} faults of stops")


def _walked(page: Page, first: str, stops: Sequence[Stop]) -> list[str]:
    """The faults of all stops, each with its number, from the first by the clicker's key."""
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(f"an error of a script: {error}"[:200]))
    visit(page, first)
    for number, stop in enumerate(stops, 1):
        try:
            expect(page.locator("#tour h2")).to_have_text(stop.title, timeout=WAIT)
            page.wait_for_function("new URLSearchParams(location.search).has('model')")
            page.keyboard.press("Shift")  # what a hand on the page does has all figures drawn
            found = _faults(page, stop)
        except (AssertionError, Error) as error:
            found = [str(error).partition("\n")[0]]
        faults += [f"{number} ({stop.title}): {one}" for one in found]
        if number < len(stops):
            page.keyboard.press("PageDown")
    return faults


def _faults(page: Page, stop: Stop) -> list[str]:
    """What is wrong with the stop that is open: its question first, which is then waived."""
    found: list[str] = []
    if stop.asks:
        expect(page.locator(CARD)).to_be_visible(timeout=WAIT)
        page.wait_for_timeout(CALM)
        found += looks(page, LEAST)
        page.locator("[data-waive]:visible").click()
        expect(page.locator(f"{CARD} .facts")).to_be_visible(timeout=WAIT)
        page.locator(f"{CARD} [data-close]").click()
    if stop.light:
        expect(page.locator(f"#{stop.light}.toured")).to_be_visible(timeout=WAIT)
        expect(page.locator(f"#{stop.light}")).to_be_in_viewport(timeout=WAIT)
    page.wait_for_timeout(CALM)
    notices = page.locator(".lesson-notices .notice, .toast-body.error").all_inner_texts()
    return [*found, *looks(page, LEAST), *(f"a notice: {text[:100]}" for text in notices if text.strip())]
