"""Real Chromium against the real app: one app process a session, one fresh browser context a test."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 90
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]


def find_chromium() -> str | None:
    """The system's Chromium, or the one named by CHROMIUM."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="session")
def chromium() -> str:
    found = find_chromium()
    if not found:
        if os.environ.get("CI"):
            pytest.fail("no Chromium on this machine, and CI must run the browser tests")
        pytest.skip("no Chromium on this machine: browser tests not run (install one, or set CHROMIUM)")
    return found


@pytest.fixture(scope="session")
def app_url(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`python app.py` with no hub in reach, as its users start it; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path_factory.mktemp("app") / "app.log"
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(log.parent / "hub"), "OMP_NUM_THREADS": "1"}
    with log.open("w") as output:
        app = subprocess.Popen(
            [sys.executable, "app.py", "--port", str(port)],
            cwd=ROOT,
            env=env,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                urllib.request.urlopen(f"{url}/config", timeout=2).read()
                break
            except OSError:
                if app.poll() is not None or time.monotonic() > deadline:
                    pytest.fail(f"the app did not start:\n{log.read_text()[-4000:]}")
                time.sleep(0.2)
        yield url
    finally:
        app.terminate()
        try:
            app.wait(timeout=10)
        except subprocess.TimeoutExpired:
            app.kill()


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", *QUIET],
        )
        yield browser
        browser.close()


@pytest.fixture
def context(browser: Browser, app_url: str) -> Iterator[BrowserContext]:
    """A fresh context with the network cut but for the app itself; a request to anywhere else fails the test."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(15_000)
    outside: list[str] = []

    def gate(route: Route) -> None:
        parts = urlsplit(route.request.url)
        if parts.scheme in {"data", "blob", "about"} or parts.netloc == urlsplit(app_url).netloc:
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    context.route("**/*", gate)
    yield context
    context.close()
    assert outside == [], f"the page asked for something outside: {outside}"


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A tab of that context; an uncaught error or a dialog (what injected script would open) fails the test."""
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))

    def dialog(box: Any) -> None:
        faults.append(f"dialog: {box.message}")
        box.dismiss()

    page.on("dialog", dialog)
    yield page
    assert faults == []


@pytest.fixture
def open_lesson(page: Page, app_url: str) -> Callable[..., Page]:
    """open_lesson("tokens", text=..., layer=...) goes there by its link and returns the page once the bar stands."""

    def go(lesson: str, **query: str | int) -> Page:
        page.goto(f"{app_url}/?{urlencode({'lesson': lesson, **query})}")
        page.wait_for_selector("#bar-text textarea")
        page.wait_for_selector(f"#lesson-{lesson} .lesson-heading h2")
        return page

    return go
