"""Click to finished picture on the bundled model: a head opened, a token moved; the overview of a typed sentence."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from page import running_app
from playwright.sync_api import Page, sync_playwright

from tests.chromium import find_chromium

RUNS = 7
LIMIT = 150  # milliseconds
QUIET = 500  # without a change for so long, a picture is finished
PARTS = ("input", "position", "self_attention", "block", "residual_stream")
REST = 200  # milliseconds after the last key, before the page asks
TYPED = [f"The old sailor walked slowly along the quiet harbor and sang a very long and sad {word}." for word in (
    "song", "tale", "tune", "line", "verse", "poem", "hymn",
)]  # 20 tokens each  # fmt: skip
SENTENCE = "#bar-text textarea"
# From the press, or from a text in the box that is pressed, to the last change under `watched`, in milliseconds, on the
# page's own clock.
FINISHED = """([pressed, watched, quiet, text]) => new Promise((resolve) => {
    const target = document.querySelector(watched), before = performance.now();
    let last = before;
    new MutationObserver(() => (last = performance.now())).observe(
        target, { subtree: true, childList: true, characterData: true, attributes: true });
    const box = document.querySelector(pressed);
    if (text) {
        box.value = text;
        box.dispatchEvent(new Event("input", { bubbles: true }));
    } else box.click();
    const look = () => performance.now() - last < quiet || last === before && performance.now() - before < 5000
        ? setTimeout(look, 20) : resolve(last - before);
    look();
})"""


def medians(page: Page, presses: list[str], watched: str, texts: Sequence[str] = ()) -> float:
    """The median over several presses, each of another thing, or over several texts in one box."""
    asked = [(press, "") for press in presses] if not texts else [(presses[0], text) for text in texts]
    times = [page.evaluate(FINISHED, [press, watched, QUIET, text]) for press, text in asked]
    return statistics.median(times[1:])  # the first one draws the picture for the first time


def main(short: bool = False) -> None:
    """Print the medians; in short of one press and one part."""
    runs, rest, parts = (2, 1_000, PARTS[:1]) if short else (RUNS, 3_000, PARTS)
    chromium = find_chromium()
    if not chromium:
        print("not measured, no Chromium on this machine")
        return
    with running_app(short) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 1600})
        page.goto(f"{url}/?lesson=attention")
        page.wait_for_selector("#attention-grid button[data-layer]")
        page.wait_for_timeout(rest)
        cells = [f'#attention-grid button[data-layer="{run % 6}"][data-head="{run}"]' for run in range(runs)]
        print(f"one head: {medians(page, cells, '#attention-heatmap'):.0f} ms (limit {LIMIT})")
        for part in parts:
            page.goto("about:blank")
            page.goto(f"{url}/?lesson=encoder&part={part}")
            page.wait_for_selector('#encoder-token [data-token="9"]')
            page.wait_for_timeout(rest)
            chips = [f'#encoder-token [data-token="{run + 3}"]' for run in range(runs)]
            print(f"encoder, {part}: {medians(page, chips, f'#encoder-{part}'):.0f} ms (limit {LIMIT})")
        page.goto("about:blank")
        page.goto(url)
        page.wait_for_selector("#overview-picture [data-token]")
        page.wait_for_timeout(rest)
        page.locator(SENTENCE).focus()  # which ends the first visit's own moves
        page.keyboard.press("Shift")
        drawn = medians(page, [SENTENCE], "#lesson-overview", TYPED[:runs]) - REST
        print(f"overview of 20 tokens, after the {REST} ms without a key: {drawn:.0f} ms (limit {LIMIT})")
        browser.close()
