"""A lecture by keyboard alone, by a tour file that does not come with the app; 60 members follow and vote."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from demos.page.tours.tour_file import BUNDLED, FIRST, Stop, parse_tour
from tests.browser.conftest import stands
from tests.hostile.wire import listen, send

MEMBERS = 60
Open = Callable[..., Page]


class Member:
    """Somebody in the room: what the stream told last, by name."""

    def __init__(self, url: str, code: str) -> None:
        self.url, self.code = url, code
        self.key = json.loads(send(url, f"/room/join?room={code}", {}).body)["member"]
        self.state: dict[str, Any] = {}
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        for line in listen(self.url, f"/room/stream?room={self.code}&key={self.key}"):
            if line.startswith("data: "):
                self.state |= json.loads(line[6:])

    @staticmethod
    def views(members: Sequence[Member]) -> list[Any]:
        """Where they are told that the lecturer is: one view where all are told the same."""
        told = [one.state.get("view") for one in members]
        return told[:1] if told.count(told[0]) == len(told) else told

    def answer(self, place: int) -> None:
        said = {"member": self.key, "answer": place, "vote": self.state["vote"]["number"], "round": 1}
        assert send(self.url, f"/room/say?room={self.code}", said).status == 200


def test_a_lecture_by_keyboard_alone(open_lesson: Open, app_url: str, tmp_path: Path) -> None:
    text = (BUNDLED / FIRST).read_text(encoding="utf-8").replace("BERT in ten minutes", "My lecture")
    text = text.replace("view: /embeddings?part=pooling\n", "view: /embeddings?part=pooling\nquestion: yes\n")
    file = tmp_path / "my-lecture.md"
    file.write_text(text, encoding="utf-8")
    page = open_lesson("tokens")
    page.evaluate("insideBert.ownTour.open()")
    page.locator("#own-tour [data-file]").set_input_files(file)
    page.get_by_role("button", name="Start the tour").press("Enter")
    stops = parse_tour(file.name, text).stops
    stands(page, stops[0].lesson)
    expect(page.locator("#tour h2")).to_have_text(stops[0].title)
    page.locator("#room-button").press("Enter")
    page.get_by_role("button", name="Open a room").press("Enter")
    code = page.locator("#room .room-code").inner_text()
    members = [Member(app_url, code) for _ in range(MEMBERS)]
    expect(page.locator("#room .room-here")).to_contain_text(f"{MEMBERS} in the room")
    page.keyboard.press("Escape")
    page.keyboard.press("p")
    assert sum(stop.asks for stop in stops) == 1
    for stop in stops:
        the_stop_is_shown(page, stop)
        until(page, lambda: Member.views(members) == [page.evaluate("insideBert.link.placeOf(location)")])
        if stop.asks:
            the_hall_votes(page, members)
        page.keyboard.press("PageDown")
    the_room_is_opened(page)
    page.get_by_role("button", name="End the room").press("Enter")
    expect(page.locator("#room")).to_contain_text("Open a room")


def the_stop_is_shown(page: Page, stop: Stop) -> None:
    expect(page.locator("#tour h2")).to_have_text(stop.title)
    if stop.asks:
        expect(page.locator(".question")).to_be_visible()
    elif stop.light:
        expect(page.locator(f"#{stop.light}.toured")).to_be_in_viewport()


def the_room_is_opened(page: Page) -> None:
    page.keyboard.press("Tab")  # the bar comes back
    expect(page.locator("#room-button")).to_be_visible()
    page.locator("#room-button").press("Enter")
    expect(page.locator("#room-heading")).to_be_focused()


def the_hall_votes(page: Page, members: Sequence[Member]) -> None:
    the_room_is_opened(page)
    page.locator("#room .room-vote summary").press("Enter")
    page.get_by_role("button", name="Ask this part’s question").press("Enter")
    until(page, lambda: all(one.state.get("vote") for one in members))
    answers = members[0].state["vote"]["answers"]
    for number, member in enumerate(members):
        member.answer(number % len(answers))
    counts = [str(MEMBERS // len(answers))] * len(answers)
    expect(page.locator("#room .room-tally .count")).to_have_text(counts)
    page.keyboard.press("Escape")


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Wait for what members are told, which comes by threads of their own."""
    deadline = time.monotonic() + 40
    while not holds():
        assert time.monotonic() < deadline
        page.wait_for_timeout(20)
