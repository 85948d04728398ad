"""A laptop that sleeps and wakes, in Chromium: the page is frozen, its connections are cut, and then it goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.relay import Relay

ASLEEP = 5_000  # milliseconds
AT_REST = 3  # seconds without a byte: all that the page loads is there
LATER = "Lakes have shores."


@pytest.fixture
def relays() -> Iterator[list[Relay]]:
    """The line by which the test's browser reaches the app, once it is there."""
    relays: list[Relay] = []
    yield relays
    for relay in relays:
        relay.close()


@pytest.fixture
def app_url(app_url: str, relays: list[Relay]) -> str:
    """The app's address by that line."""
    relays.append(Relay(urlsplit(app_url).port or 80))
    return relays[0].url


@contextmanager
def asleep(page: Page, relay: Relay) -> Iterator[None]:
    """Meanwhile the page's clocks stand still, as Chromium has it for a sleeping machine, and its lines are cut."""
    browser = page.context.new_cdp_session(page)
    browser.send("Page.setWebLifecycleState", {"state": "frozen"})
    relay.cut()
    yield
    relay.mend()
    browser.send("Page.setWebLifecycleState", {"state": "active"})


def test_a_lesson_goes_on_after_sleep(open_lesson: Callable[..., Page], relays: list[Relay]) -> None:
    page = open_lesson("tokens", text="Rivers have banks.")
    chips = page.locator("#tokens-picture ol").first
    expect(chips).to_contain_text("banks")
    while time.monotonic() - relays[0].moved < AT_REST:
        page.wait_for_timeout(100)
    with asleep(page, relays[0]):
        page.wait_for_timeout(ASLEEP)
    expect(chips).to_contain_text("banks")
    page.locator("#bar-text textarea").fill(LATER)
    expect(chips).to_contain_text("shores")
    expect(page.locator("#lesson-tokens .error")).to_have_count(0)
