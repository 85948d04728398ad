"""Start-up to a usable page, and key press to chips, each beside the least that its tools cost in the same run."""

from __future__ import annotations

import os
import socket
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.chromium import find_chromium

ROOT = Path(__file__).resolve().parents[2]
RUNS = 5
KEYS = "thequickbrownfoxjumps"
BARE = """
import gradio as gr
with gr.Blocks(analytics_enabled=False) as demo:
    box = gr.Textbox(elem_id="box")
    out = gr.HTML(elem_id="out")
    box.change(lambda text: text, box, out, show_progress="hidden", trigger_mode="always_last")
demo.launch(server_port={port}, quiet=True)
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start(command: list[str], port: int, **environment: str) -> tuple[subprocess.Popen[bytes], float]:
    """The process and the seconds until its page answers."""
    environment = {**os.environ, **environment}
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while time.perf_counter() - began < 120:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/config", timeout=2).read()
            return process, time.perf_counter() - began
        except OSError:
            time.sleep(0.02)
    process.kill()
    raise RuntimeError(f"{command} did not start")


@contextmanager
def running_app(short: bool = False, model: str = "minilm", **environment: str) -> Iterator[str]:
    """The app's address; in short that of the one that APP_URL names, where it names one."""
    if short and "APP_URL" in os.environ:
        yield os.environ["APP_URL"]
        return
    port = free_port()
    app, _ = start([sys.executable, str(ROOT / "app.py"), "--port", str(port), "--model", model], port, **environment)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        app.terminate()
        try:
            app.wait(timeout=20)
        except subprocess.TimeoutExpired:
            app.kill()


def key_to_answer(page: Page, box: str, pieces: str, keys: str) -> float:
    """Median milliseconds from a key press in `box` to `pieces` that spell what was typed, measured in the page."""
    page.locator(box).fill("")
    page.wait_for_timeout(600)
    script = """([box, pieces, key]) => new Promise((resolve) => {
        const input = document.querySelector(box), before = performance.now();
        const typed = input.value + key;
        const shown = () => [...document.querySelectorAll(pieces)].map((piece) => piece.textContent.trim())
            .filter((piece) => !piece.startsWith('[')).join('').replaceAll('##', '') === typed;
        const watcher = new MutationObserver(() => {
            if (!shown()) return;
            watcher.disconnect();
            resolve(performance.now() - before);
        });
        watcher.observe(document.body, { childList: true, subtree: true, characterData: true });
        input.value = typed;
        input.dispatchEvent(new Event('input'));
    })"""
    times = []
    for key in keys:
        times.append(page.evaluate(script, [box, pieces, key]))
        page.wait_for_timeout(60)
    return statistics.median(times)


def measure_start(runs: int) -> None:
    """Print how long the app takes to a usable page."""
    libraries = "gradio, torch, transformers"
    ours, imports = [], []
    for run in range(runs + 1):  # the first warms the disk and is not counted
        port = free_port()
        app, seconds = start([sys.executable, "app.py", "--port", str(port), "--model", "minilm"], port)
        app.terminate()
        app.wait()
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {libraries}"], check=True)
        least = time.perf_counter() - began
        if run:
            ours.append(seconds)
            imports.append(least)
    ratio = statistics.median(a / b for a, b in zip(ours, imports, strict=True))
    print(
        f"start-up to a usable page: {statistics.median(ours):.1f} s, "
        f"{ratio:.2f} times what `import {libraries}` takes alone ({statistics.median(imports):.1f} s)"
    )


def main(short: bool = False) -> None:
    """Print both figures; in short the second, for other benchmarks show that the app starts."""
    runs, keys = (1, KEYS[:4]) if short else (RUNS, KEYS)
    os.environ["HF_HUB_OFFLINE"] = "1"
    python = sys.executable
    chips, bare = [], []
    if not short:
        measure_start(runs)

    chromium = find_chromium()
    if not chromium:
        print("key press to chips: not measured, no Chromium on this machine")
        return
    bare_port = free_port()
    echo, _ = start([python, "-c", BARE.format(port=bare_port)], bare_port)
    try:
        with running_app(short) as url, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
            page, plain = browser.new_page(), browser.new_page()
            page.goto(f"{url}/?lesson=tokens")
            page.wait_for_selector("#lesson-tokens ol li")
            plain.goto(f"http://127.0.0.1:{bare_port}")
            plain.wait_for_selector("#box textarea, #box input")
            for _ in range(runs):
                chips.append(key_to_answer(page, "#bar-text textarea", "#lesson-tokens ol.chips .piece", keys))
                bare.append(key_to_answer(plain, "#box textarea, #box input", "#out .html-container", keys))
            browser.close()
    finally:
        echo.terminate()
    ratio = statistics.median(a / b for a, b in zip(chips, bare, strict=True))
    print(
        f"key press to chips in the browser: {statistics.median(chips):.0f} ms at the median, "
        f"{ratio:.2f} times a Gradio page that only echoes the text ({statistics.median(bare):.0f} ms)"
    )
