"""Readers who ask again and again, while what they ask is broken."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from math import inf

from tests.benchmarks._hall_replay import Student, Tally
from tests.benchmarks._hall_visit import Event, Visit

GO_ON = 60  # seconds within which each reader has an answer again
SENTENCE = "The banker counted her money on the bank of the river."


def an_event(url: str) -> Event:
    """A sentence cut into tokens, as the page's own events: through the queue, answered on the stream."""
    config = json.load(urllib.request.urlopen(f"{url}/config"))
    number = next(one["id"] for one in config["dependencies"] if one["api_name"] == "tokenize")
    return Event(json.dumps({"data": [SENTENCE, "", ""], "fn_index": number, "session_hash": "recorded"}), 0.0)


class Reader:
    """A student who asks again and again, and loads the page anew when an answer was lost, as a browser does."""

    def __init__(self, url: str, event: Event) -> None:
        self.tally = Tally()
        self.student = Student(url, self.tally, patience=GO_ON)
        self.page = Visit("page", "/", (), (), "recorded")
        self.asks = Visit("tokens", None, (), (event,), "recorded")
        self.has_ended = False
        self.events: list[tuple[float, float, bool]] = []  # posted, ended, whether answered

    @property
    def replica(self) -> str:
        return next(cookie.value for cookie in self.student.http.cookie_jar if cookie.key == "replica")

    async def live(self, until: float = inf) -> None:
        """Until then, or until it `has_ended`."""
        await self.student.visit(self.page)
        while time.monotonic() < until and not self.has_ended:
            before, posted = len(self.tally.answers), time.monotonic()
            await self.student.visit(self.asks)
            is_answered = len(self.tally.answers) > before
            self.events.append((posted, time.monotonic(), is_answered))
            if not is_answered:
                await self.student.visit(self.page)
            await asyncio.sleep(0.2)
        await self.student.leave()
