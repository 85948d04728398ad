"""A browser that slept: its connections are gone, nothing was told to it, and then the reader goes on."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Request, expect

from tests.browser.conftest import stands, visit
from tests.browser.events import Asked

STREAM = "/queue/data"
IDLE = 0.5  # seconds
HELD = 3.0  # seconds
OPEN_ROOM = """() => fetch("./room/open", {
    method: "POST",
    headers: {"Content-Type": "application/json"},
    body: JSON.stringify({base: location.origin + "/"}),
}).then(answer => answer.json())"""


class Wire(str):
    """The address of a way to the app that can be cut."""

    app: tuple[str, int]
    listener: socket.socket
    ends: list[socket.socket]
    held_before: bytes  # what the reader gets HELD seconds late; b"": nothing
    cut_before: bytes  # what the app does not get through: the wire is cut where it says this; b"": it is not

    @classmethod
    def to(cls, url: str) -> Wire:
        listener = socket.create_server(("127.0.0.1", 0))
        wire = cls(f"http://127.0.0.1:{listener.getsockname()[1]}")
        place = urlsplit(url)
        wire.app, wire.listener = (place.hostname or "", place.port or 0), listener
        wire.ends, wire.cut_before, wire.held_before = [], b"", b""
        threading.Thread(target=wire._serve, daemon=True).start()
        return wire

    def close(self) -> None:
        """Let nobody through, until `open`."""
        self.listener.shutdown(socket.SHUT_RDWR)  # else it lets one more through
        self.listener.close()
        self.cut()

    def open(self) -> None:
        """Let all through again."""
        self.listener = socket.create_server(("127.0.0.1", urlsplit(self).port or 0))
        threading.Thread(target=self._serve, daemon=True).start()

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
                if self.cut_before and (end := data.find(self.cut_before)) >= 0:
                    target.sendall(data[: max(0, data.rfind(b"data:", 0, end))])
                    time.sleep(IDLE)  # by then the page has read what came before
                    self.cut_before = b""
                    self.cut()
                    return
                if self.held_before and (end := data.find(self.held_before)) >= 0:
                    begin = max(0, data.rfind(b"data:", 0, end))
                    target.sendall(data[:begin])
                    self.held_before, data = b"", data[begin:]
                    time.sleep(HELD)
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def app_url(app_url: str) -> Iterator[Wire]:
    wire = Wire.to(app_url)
    yield wire
    wire.close()


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


@pytest.mark.parametrize(
    ("cut_before", "is_same_page"), [(b"close_stream", True), (b"process_completed", False)], ids=["idle", "waiting"]
)
def test_what_is_asked_after_a_stream_broke(page: Page, app_url: Wire, cut_before: bytes, is_same_page: bool) -> None:
    """All is answered but its end: another stream is opened. Else the page is loaded anew, with what was typed."""
    asked = Asked(page)
    visit(page, f"{app_url}/?lesson=tokens&text=Rivers+have+banks.")
    stands(page, "tokens")
    chips = page.locator("#tokens-picture ol").first
    expect(chips).to_contain_text("banks")
    asked.since_last()
    app_url.cut_before = cut_before
    page.evaluate("window.isTheSame = true")
    page.locator("#tokens-under label").nth(1).click()  # one event
    while app_url.cut_before:
        page.wait_for_timeout(100)
    page.locator("#bar-text textarea").fill("Seas have coasts.")
    expect(chips).to_contain_text("coasts")
    assert page.evaluate("window.isTheSame === true") == is_same_page


def test_what_is_asked_while_a_streams_end_is_on_its_way(page: Page, app_url: Wire) -> None:
    asked = Asked(page)
    visit(page, f"{app_url}/?lesson=tokens&text=Rivers+have+banks.")
    stands(page, "tokens")
    chips = page.locator("#tokens-picture ol").first
    expect(chips).to_contain_text("banks")
    asked.since_last()
    app_url.held_before = b"close_stream"
    page.locator("#tokens-under label").nth(1).click()
    while app_url.held_before:
        page.wait_for_timeout(50)
    page.locator("#bar-text textarea").fill("Seas have coasts.")
    expect(chips).to_contain_text("coasts")


def test_no_stream_stays_open_once_all_is_answered(page: Page, app_url: Wire) -> None:
    """Though one answer came before its event's number did. And none goes through the browser's cache."""
    asked = Asked(page)
    opened: list[Request] = []
    ended: list[Request] = []
    for event, heard in ("request", opened), ("requestfinished", ended), ("requestfailed", ended):
        page.on(event, lambda request, heard=heard: heard.append(request) if STREAM in request.url else None)
    visit(page, f"{app_url}/?lesson=tokens&text=Rivers+have+banks.")
    stands(page, "tokens")
    asked.since_last()
    app_url.held_before = b'{"event_id"'
    page.evaluate("['trace', 'vocabulary'].forEach(one => document.querySelector(`#tokens-${one} > button`).click())")
    expect(page.locator("#tokens-steps .search-title")).to_contain_text(["rivers"])
    expect(page.locator("#tokens-found .found")).not_to_be_empty()
    assert not app_url.held_before
    asked.since_last()
    assert opened
    for _ in range(400):  # an end is on its way when the last answer has come
        if len(ended) == len(opened):
            break
        page.wait_for_timeout(100)
    assert len(ended) == len(opened)
    assert {request.all_headers()["cache-control"] for request in opened} == {"no-cache"}


def test_what_is_typed_as_the_page_is_loaded_anew(page: Page, app_url: Wire) -> None:
    visit(page, f"{app_url}/?lesson=tokens&text=Rivers+have+banks.")
    stands(page, "tokens")
    page.evaluate("window.isTheSame = true")
    page.locator("#bar-text textarea").evaluate(
        """field => {
            field.value = "Seas have coasts.";
            field.dispatchEvent(new Event("input", {bubbles: true}));
            insideBert.link.loadAnew();
        }"""
    )
    page.wait_for_function("!window.isTheSame")
    expect(page.locator("#tokens-picture ol").first).to_contain_text("coasts")
    expect(page.locator("#bar-text textarea")).to_have_value("Seas have coasts.")
    expect(page.locator("#bar-text textarea")).to_be_editable()


def test_a_view_that_is_asked_for_while_the_connection_is_lost(page: Page, app_url: Wire) -> None:
    asked = Asked(page)
    visit(page, f"{app_url}/?lesson=tokens&text=Rivers+have+banks.")
    stands(page, "tokens")
    asked.since_last()
    app_url.cut_before = b"process_completed"
    page.locator("#tokens-under label").nth(1).click()
    expect(page.locator(".toast-body")).to_contain_text("Connection")
    page.evaluate("insideBert.link.goTo('tokens', 'text=Seas+have+coasts.&model=minilm')")
    expect(page.locator("#tokens-picture ol").first).to_contain_text("coasts")
    expect(page.locator("#bar-text textarea")).to_have_value("Seas have coasts.")


def test_a_member_is_told_that_the_server_is_silent(page: Page, app_url: Wire) -> None:
    visit(page, f"{app_url}/tokens")
    stands(page, "tokens")
    code = page.evaluate(OPEN_ROOM)["code"]
    visit(page, f"{app_url}/tokens?room={code}")
    line = page.locator("#room-line")
    expect(line).to_contain_text("following")
    app_url.close()
    expect(line).to_contain_text("not connected")
    expect(line).to_contain_text("The server is not responding.")
    app_url.open()
    expect(line).to_contain_text("following")
    expect(line).not_to_contain_text("not responding")


def test_a_curve_goes_on_after_the_network_was_away(page: Page, app_url: Wire) -> None:
    visit(page, f"{app_url}/?lesson=finetune&part=train&most=400")
    stands(page, "finetune")
    page.locator("#finetune-start").click()
    curve = page.locator("#finetune-curve")
    expect(curve).to_contain_text("Step", timeout=300_000)
    app_url.cut()
    expect(curve).to_contain_text("Trained after", timeout=300_000)
