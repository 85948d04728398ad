"""From the press of Start to the first step on the screen, beside the same training without a page in the same run."""

from __future__ import annotations

import statistics
import time

from page import running_app
from playwright.sync_api import Page, expect, sync_playwright

from tests.chromium import find_chromium

RUNS = 5
LIMIT = 2.0  # seconds
STATUS = "#finetune-curve .curve-status"
PRESS = """([start, status]) => new Promise((resolve) => {
    const told = document.querySelector(status), before = performance.now();
    const watcher = new MutationObserver(() => {
        if (!/Step \\d/.test(told.textContent)) return;
        watcher.disconnect();
        requestAnimationFrame(() => requestAnimationFrame(() => resolve((performance.now() - before) / 1000)));
    });
    watcher.observe(told, { childList: true, subtree: true, characterData: true });
    document.querySelector(start).click();
})"""


def pressed(page: Page, rest: int = 2_000) -> float:
    """Seconds from the press, after `rest` milliseconds, to the first step on the screen; the run is then stopped."""
    page.wait_for_timeout(rest)  # what the page draws before is over
    seconds = float(page.evaluate(PRESS, ["#finetune-start", STATUS]))
    page.click("#finetune-stop")
    expect(page.locator(STATUS)).to_contain_text("Stopped after", timeout=60_000)
    expect(page.locator("#finetune-start")).to_be_enabled(timeout=60_000)
    return seconds


def without_page() -> float:
    """Seconds from asking for the same training to its first step."""
    from demos.bert.model.catalogue import BUNDLED
    from demos.bert.model.models import ModelStore
    from demos.training.events import Step
    from demos.training.form_values import OWN, read_dataset
    from demos.training.service.training_service import TrainingService
    from demos.training.settings import Settings
    from demos.training.tasks.classification.data import MAX_TRAIN

    trainings, settings = TrainingService(), Settings()
    folder, dataset = ModelStore().folder(BUNDLED), read_dataset("sentence", OWN, None, None, "", "", MAX_TRAIN, 0)
    run = trainings.runs.new()
    began = time.perf_counter()
    events = trainings.fine_tune(run, dataset, BUNDLED, folder, settings)
    next(event for event in events if isinstance(event, Step))
    seconds = time.perf_counter() - began
    events.close()  # type: ignore[attr-defined]
    return seconds


def main(short: bool = False) -> None:
    """The default recipe, started again and again by one browser."""
    chromium = find_chromium()
    if not chromium:
        print("not measured: no Chromium on this machine")
        return
    with running_app(short) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"{url}/?lesson=finetune{'&epochs=10&most=400' if short else ''}")
        page.wait_for_selector("#finetune-cost .cost", timeout=120_000)
        if short:
            first = pressed(page, 0)
            both = [(first, without_page())]
        else:
            page.wait_for_timeout(10_000)
            first = pressed(page)
            without_page()  # what it imports is not counted
            both = [(pressed(page), without_page()) for _ in range(RUNS)]
        browser.close()
    ours, least = (statistics.median(seconds) for seconds in zip(*both, strict=True))
    ratio = statistics.median(shown / bare for shown, bare in both)
    print(
        f"from Start to the first step on the screen: {ours:.2f} s at the median (limit {LIMIT:.0f} s), {ratio:.2f} "
        f"times the same training's first step without a page ({least:.2f} s); after the server's start {first:.2f} s"
    )
