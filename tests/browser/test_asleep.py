"""A browser that slept: its connections are gone, nothing was told to it, and then the reader goes on."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import stands, visit


class Wire(str):
    """The address of a way to the app that can be cut."""

    app: tuple[str, int]
    listener: socket.socket
    ends: list[socket.socket]
    held: float | None  # where a stream says that it ends, the wire is cut so many seconds later; None: it is not

    @classmethod
    def to(cls, url: str) -> Wire:
        listener = socket.create_server(("127.0.0.1", 0))
        wire = cls(f"http://127.0.0.1:{listener.getsockname()[1]}")
        place = urlsplit(url)
        wire.app, wire.listener = (place.hostname or "", place.port or 0), listener
        wire.ends, wire.held = [], None
        threading.Thread(target=wire._serve, daemon=True).start()
        return wire

    def cut(self) -> None:
        """End all connections at once, as a network does that is left."""
        for end in self.ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self.ends.clear()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                reader, _ = self.listener.accept()
                app = socket.create_connection(self.app)
                self.ends += [reader, app]
                for source, target in ((reader, app), (app, reader)):
                    threading.Thread(target=self._hand_on, args=(source, target), daemon=True).start()

    def _hand_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if self.held is not None and (end := data.find(b"close_stream")) >= 0:
                    target.sendall(data[: data.rfind(b"data:", 0, end)])
                    time.sleep(self.held)
                    self.held = None
                    self.cut()
                    return
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def app_url(app_url: str) -> Iterator[Wire]:
    wire = Wire.to(app_url)
    yield wire
    wire.listener.close()
    wire.cut()


def test_who_slept_goes_on(page: Page, app_url: Wire) -> None:
    visit(page, f"{app_url}/?lesson=tokens&text=Rivers+have+banks.")
    stands(page, "tokens")
    chips = page.locator("#tokens-picture ol").first
    expect(chips).to_contain_text("banks")
    browser = page.context.new_cdp_session(page)
    browser.send("Page.setWebLifecycleState", {"state": "frozen"})
    app_url.cut()
    page.wait_for_timeout(1_000)
    browser.send("Page.setWebLifecycleState", {"state": "active"})
    page.locator("#bar-text textarea").fill("Lakes have shores.")
    expect(chips).to_contain_text("shores")
    expect(page.locator("#lesson-tokens .error")).to_have_count(0)


@pytest.mark.parametrize(("held", "is_same_page"), [(0.5, True), (0.0, False)], ids=["idle", "waiting"])
def test_what_is_asked_after_a_stream_broke(page: Page, app_url: Wire, held: float, is_same_page: bool) -> None:
    """All is answered but its end: another stream is opened. Else the page is loaded anew, with what was typed."""
    visit(page, f"{app_url}/?lesson=tokens&text=Rivers+have+banks.")
    stands(page, "tokens")
    chips = page.locator("#tokens-picture ol").first
    expect(chips).to_contain_text("banks")
    page.wait_for_timeout(500)
    app_url.held = held
    page.evaluate("window.isTheSame = true")
    page.locator("#tokens-under label").nth(1).click()  # one event
    page.wait_for_timeout(800)
    assert app_url.held is None
    page.locator("#bar-text textarea").fill("Seas have coasts.")
    expect(chips).to_contain_text("coasts")
    assert page.evaluate("window.isTheSame === true") == is_same_page


def test_a_curve_goes_on_after_the_network_was_away(page: Page, app_url: Wire) -> None:
    visit(page, f"{app_url}/?lesson=finetune&part=train")
    stands(page, "finetune")
    page.locator("#finetune-start").click()
    curve = page.locator("#finetune-curve")
    expect(curve).to_contain_text("Step", timeout=60_000)
    app_url.cut()
    expect(curve).to_contain_text("Trained after", timeout=90_000)
