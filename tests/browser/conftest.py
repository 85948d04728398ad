"""Real Chromium against the real app (`app_url`, one a session): a context that is emptied after each test."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from itertools import count
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Error,
    Page,
    Request,
    WebError,
    expect,
    sync_playwright,
)

from tests.browser.events import AT_REST
from tests.chromium import find_chromium

QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"  # no name but the app's leads anywhere
# One process for all pages of the app: the scripts that one has compiled (Gradio's, Plotly's) are there for the next.
SHARED = "--process-per-site"
COLLECTED = 5  # tests after which that process lets go of the pages that were closed: 40 hold a gigabyte
NUMBERS = count(1)  # of the tests in this process

expect.set_options(timeout=120_000)  # two busy cores may take this long


@pytest.fixture(scope="session")
def chromium() -> str:
    found = find_chromium()
    if not found:
        if os.environ.get("CI"):
            pytest.fail("no Chromium on this machine, and CI must run the browser tests")
        pytest.skip("no Chromium on this machine: browser tests not run (install one, or set CHROMIUM)")
    return found


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", ALONE, SHARED, *QUIET],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def one_context(browser: Browser) -> Iterator[BrowserContext]:
    """The context of all tests, whose cache holds what every page loads: a second less of processor a page."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.add_init_script(AT_REST)
    context.set_default_timeout(120_000)
    yield context
    context.close()


@pytest.fixture
def context(one_context: BrowserContext, app_url: str) -> Iterator[BrowserContext]:
    """As a fresh context, but for its cache: no page, no cookie, nothing stored. It has no way out. A request to
    anywhere but the app fails the test, whatever tab it comes from; so does an uncaught error, or a dialog (what
    injected script would open).
    """
    context = one_context
    holder = held(context, app_url)
    outside: list[str] = []
    faults: list[str] = []

    def asked(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme not in {"data", "blob", "about", "file"} and parts.netloc != urlsplit(app_url).netloc:
            outside.append(request.url)

    def erred(fault: WebError) -> None:
        faults.append((fault.error.stack or str(fault.error))[:1500])  # where it was raised, too

    def told(message: ConsoleMessage) -> None:
        forbidden = "violates the following Content Security Policy" in message.text
        if forbidden and "default-src 'none'" not in message.text:  # which is that of bertviz's frame
            faults.append(message.text[:200])

    def opened(box: Dialog) -> None:
        if box.type == "beforeunload":  # our own warning, where a run would be lost; the test leaves all the same
            box.accept()
            return
        faults.append(f"dialog: {box.message}")
        box.dismiss()

    listeners: dict[Any, Callable[..., None]] = {"request": asked, "weberror": erred, "console": told, "dialog": opened}
    for event, listener in listeners.items():
        context.on(event, listener)
    yield context
    close_all_but(holder)
    for event, listener in listeners.items():
        context.remove_listener(event, listener)
    empty(holder, app_url)
    assert outside == [], f"the page asked for something outside: {outside}"
    assert faults == []


def held(context: BrowserContext, app_url: str) -> Page:
    """The context's first tab, which shows a text of the app's and stays.

    The process of the app's pages lives as long as one of them: a lesson whose scripts it has compiled takes half the
    processor time (Encoder's residual stream, drawn: 2.5 s where it was 5.5 s).
    """
    holder = context.pages[0] if context.pages else context.new_page()
    if not holder.url.startswith(f"{app_url}/"):  # at the beginning, and where a file of tests has an app of its own
        holder.goto(f"{app_url}/robots.txt")
    return holder


def close_all_but(holder: Page) -> None:
    for page in holder.context.pages:
        if page != holder:
            page.close()


def empty(holder: Page, origin: str) -> None:
    """Take from this tab's context what its pages of this origin have stored, and now and then what they held.

    The last page that was closed may still be storing its values. A page of the same process empties the store after
    that, which the browser itself does not.
    """
    holder.context.clear_cookies()
    holder.evaluate("localStorage.clear()")
    session = holder.context.new_cdp_session(holder)
    session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
    if next(NUMBERS) % COLLECTED == 0:
        session.send("HeapProfiler.collectGarbage")
    session.detach()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A tab of that context."""
    return context.new_page()


@pytest.fixture(scope="session")
def one_phone(browser: Browser) -> Iterator[BrowserContext]:
    """The context of all tests' phones, for its cache: a first page of its own loads 500 files."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    context.add_init_script(AT_REST)
    context.set_default_timeout(120_000)
    yield context
    context.close()


@pytest.fixture
def phone(one_phone: BrowserContext, app_url: str) -> Iterator[Page]:
    """A member's browser, which shares nothing with the lecturer's (rooms), nor with a phone of another test."""
    faults: list[str] = []

    def erred(fault: WebError) -> None:
        faults.append((fault.error.stack or str(fault.error))[:1500])  # where it was raised, too

    def opened(box: Dialog) -> None:
        faults.append(box.message)

    holder = held(one_phone, app_url)
    one_phone.on("weberror", erred)
    one_phone.on("dialog", opened)
    yield one_phone.new_page()
    close_all_but(holder)
    one_phone.remove_listener("weberror", erred)
    one_phone.remove_listener("dialog", opened)
    empty(holder, app_url)
    assert faults == []


# What a reader of the report asks first: was the page loaded again, where is the focus, and what does the page say?
STATE = """() => JSON.stringify({
    opened: performance.getEntriesByType("navigation")[0].type,
    seconds: performance.now() / 1000,
    focus: document.activeElement?.outerHTML.slice(0, 200),
    said: [...document.querySelectorAll(".toast-body, .notice")].map((one) => one.innerText),
    view: window.insideBert?.link?.view(),
}, null, 2)"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Function, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The report of a test that failed has the state of its page."""
    report = yield
    if call.when == "call" and report.failed and isinstance(page := item.funcargs.get("page"), Page):
        try:
            state = page.evaluate(STATE)
        except Error as gone:
            state = str(gone)
        report.sections.append(("the page", state))
    return report


def visit(page: Page, url: str) -> None:
    """Open `url` in a tab that may show the app already.

    The tab is emptied first: a gradio page that is left while its stream to the server breaks reloads itself two
    seconds later, which on a slow machine cancels the visit that is under way (net::ERR_ABORTED).
    """
    if page.url != "about:blank":
        page.goto("about:blank")
    page.goto(url)


def stands(page: Page, lesson: str) -> None:
    """Wait until the lesson's page is there and its link has been read; then do what has all its figures drawn."""
    page.wait_for_selector("#bar-text textarea")
    page.wait_for_selector(f"#lesson-{lesson} .lesson-heading h2")
    page.wait_for_function("new URLSearchParams(location.search).has('model')")
    page.keyboard.press("Shift")


@pytest.fixture
def turn_to() -> Callable[..., None]:
    """turn_to(page, "encoder", "block"): by the lesson's link and the part's tab, as readers do."""

    def turn(page: Page, lesson: str, part: str = "") -> None:
        if not page.locator(f"#lesson-{lesson}").count():
            page.locator(f"#lesson-{lesson}-link").click()
            stands(page, lesson)
        if part:
            page.locator(f"#{lesson}-{part}-button").click()
            expect(page.locator(f"#{lesson}-{part} .part-heading").first).to_be_visible()

    return turn


@pytest.fixture
def open_lesson(page: Page, app_url: str) -> Callable[..., Page]:
    """open_lesson("tokens", text=..., layer=...) goes there by its link and returns the page once the bar stands."""

    def go(lesson: str, **query: str | int) -> Page:
        visit(page, f"{app_url}/?{urlencode({'lesson': lesson, **query})}")
        stands(page, lesson)
        return page

    return go
