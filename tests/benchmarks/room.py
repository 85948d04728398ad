"""A room with 300 members: how soon all are where the lecturer is, how soon a tally is complete, what it costs.

`python tests/benchmarks room`: the app in a process of its own, the members in this one, all on this machine's cores;
a reader beside them asks for tokens before and while they follow. MEMBERS in the environment is another number.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import psutil

from tests.conftest import START_SECONDS, answers, end_app, start_app
from tests.run_coroutine import run

MEMBERS, VIEWS, VOTES, ASKED = 300, 40, 5, 40
PAUSE = 0.25  # seconds between two views: a lecturer who moves a slider
WAIT = 30.0  # seconds after which what has not come counts as lost
LATE, LARGE = 1.0, 50.0  # seconds for 95 %; MB
SENTENCE = "The banker counted her money on the bank of the river."
SETTLED = 35.0  # seconds in which the app comes to rest: it gives free memory back each half minute


class Member:
    """A stream of events: the last of each name, with when it came."""

    def __init__(self, http: aiohttp.ClientSession, url: str, code: str, key: str) -> None:
        self.http, self.url, self.code, self.key = http, url, code, key
        self.state: dict[str, Any] = {}
        self.came: dict[str, float] = {}  # by the event's JSON
        self.largest = 0

    async def listen(self) -> None:
        params = {"room": self.code, "key": self.key}
        async with self.http.get(f"{self.url}/room/stream", params=params, timeout=aiohttp.ClientTimeout()) as answer:
            async for line in answer.content:
                if line.startswith(b"data: "):
                    self.came[line[6:].decode().strip()] = time.perf_counter()
                    self.state |= json.loads(line[6:])
                    self.largest = max(self.largest, len(line))

    async def answer(self, vote: int, place: int) -> None:
        await post(self.http, self.url, "say", self.code, member=self.key, answer=place, vote=vote, round=1)


async def post(http: aiohttp.ClientSession, url: str, name: str, code: str, **said: Any) -> dict[str, Any]:
    """Raises for a refusal."""
    async with http.post(f"{url}/room/{name}", params={"room": code}, json=said) as answer:
        answer.raise_for_status()
        return dict(await answer.json())


class Peak:
    """The most memory of a process, from now on."""

    def __init__(self, process: psutil.Process | None) -> None:
        self.process, self.most = process, 0
        self.watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        while self.process:
            self.most = max(self.most, self.process.memory_info().rss)
            await asyncio.sleep(0.1)

    def end(self) -> int:
        """Bytes."""
        self.watching.cancel()
        return self.most


def worked(process: psutil.Process | None) -> float:
    """Seconds of processor time so far; these a busy machine changes less than others."""
    times = process.cpu_times() if process else None
    return times.user + times.system if times else math.nan


def share(seconds: Sequence[float], part: float) -> float:
    """The time within which this part of all came (the nearest rank)."""
    return sorted(seconds)[max(0, math.ceil(part * len(seconds)) - 1)]


async def until(what: Any) -> None:
    """Wait for it; what does not come is counted as late where it is told."""
    deadline = time.perf_counter() + WAIT
    while not what() and time.perf_counter() < deadline:
        await asyncio.sleep(0.005)


async def tokenized(http: aiohttp.ClientSession, url: str, count: int) -> AsyncIterator[float]:
    """Seconds of each of so many calls by a reader who is in no room."""
    for _ in range(count):
        began = time.perf_counter()
        async with http.post(f"{url}/gradio_api/call/tokenize", json={"data": [SENTENCE, "", ""]}) as answer:
            event = (await answer.json())["event_id"]
        async with http.get(f"{url}/gradio_api/call/tokenize/{event}") as answer:
            await answer.read()
        yield time.perf_counter() - began
        await asyncio.sleep(0.1)


async def lecture(url: str, process: psutil.Process | None, count: int, short: bool) -> int:
    """Print the figures; how many were missed."""
    views, votes, asked = (3, 1, 3) if short else (VIEWS, VOTES, ASKED)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        [_ async for _ in tokenized(http, url, asked)]  # the first ones make what later ones find
        alone = [seconds async for seconds in tokenized(http, url, asked)]
        await asyncio.sleep(0 if short else SETTLED)
        before = process.memory_info().rss if process else 0
        memory = Peak(process)
        room = await post(http, url, "open", "", base="http://lab.example/")
        code, lead = room["code"], {"key": room["key"]}
        lecturer = Member(http, url, code, room["member"])
        joined = await asyncio.gather(*(post(http, url, "join", code) for _ in range(count)))
        members = [Member(http, url, code, one["member"]) for one in joined]
        streams = [asyncio.create_task(one.listen()) for one in (lecturer, *members)]
        await until(lambda: lecturer.state.get("here") == count)
        print(f"{lecturer.state.get('here')} of {count} members listen")
        beside = asyncio.create_task(_collected(tokenized(http, url, asked)))
        spent = worked(process)
        follows = await _follows(http, url, code, lead, members, views)
        spent = (worked(process) - spent) / views
        tallies, each = await _tallies(http, url, code, lead, lecturer, members, votes)
        busy = await beside
        grown = (memory.end() - before) / 2**20 if process else math.nan
        await post(http, url, "lead", code, do="close", **lead)
        ended, _ = await asyncio.wait(streams, timeout=WAIT)
        for stream in set(streams) - ended:
            stream.cancel()
    late = share(follows, 0.95), share(each, 0.95)
    slower = statistics.median(busy) / statistics.median(alone)
    print(f"a view at a member: {_told(follows)} of {len(follows):,}")
    print(f"an answer in the tally: {_told(each)} of {len(each):,}; all {count} answers after {max(tallies):.2f} s")
    print(f"the largest event: {max(one.largest for one in members):,} bytes; streams ended: {len(ended)}")
    print(
        f"a reader beside: {statistics.median(alone):.3f} s alone, {statistics.median(busy):.3f} s ({slower:.2f} times)"
    )
    print(f"processor time of the app: {1_000 * spent:.0f} ms a view, the other reader's calls among it")
    print(f"memory of the app, at its most: {grown:+.1f} MB")
    missed = [max(late) > LATE, process is not None and grown > LARGE, len(ended) < len(streams)]
    return 0 if short else sum(missed)


async def _collected(seconds: AsyncIterator[float]) -> list[float]:
    return [one async for one in seconds]


def _told(seconds: Sequence[float]) -> str:
    return (
        f"50 % within {share(seconds, 0.5):.3f} s, 95 % within {share(seconds, 0.95):.3f} s, last {max(seconds):.3f} s"
    )


async def _follows(
    http: aiohttp.ClientSession, url: str, code: str, lead: dict[str, str], members: Sequence[Member], count: int
) -> list[float]:
    """Seconds from the lecturer's post to its arrival, of each view at each member; WAIT where it never came."""
    posted: dict[str, float] = {}
    last = ""
    for number in range(count):
        view = {"lesson": "tokens", "query": f"text=A+bank&model=minilm&token={number}"}
        last = json.dumps({"view": view}, separators=(",", ":"))
        posted[last] = time.perf_counter()
        await post(http, url, "lead", code, do="show", **view, **lead)
        await asyncio.sleep(PAUSE)
    await until(lambda: all(last in one.came for one in members))
    return [one.came.get(told, began + WAIT) - began for told, began in posted.items() for one in members]


async def _tallies(
    http: aiohttp.ClientSession,
    url: str,
    code: str,
    lead: dict[str, str],
    lecturer: Member,
    members: Sequence[Member],
    count: int,
) -> tuple[list[float], list[float]]:
    """All answer at one moment: seconds until the lecturer's tally has them all, and until it has each."""
    whole, each = [], []
    for number in range(1, count + 1):
        await post(http, url, "lead", code, do="ask", question="Which?", answers=["a", "b", "c"], **lead)
        lecturer.came.clear()
        began = time.perf_counter()
        await asyncio.gather(*(one.answer(number, place % 3) for place, one in enumerate(members)))
        await until(lambda: sum(lecturer.state["tally"]["tallies"][0]) == len(members))
        seen = 0
        for event, came in sorted(lecturer.came.items(), key=lambda pair: pair[1]):
            counted = sum(json.loads(event).get("tally", {"tallies": [[0]]})["tallies"][0])
            each += [came - began] * (counted - seen)
            seen = max(seen, counted)
        each += [WAIT] * (len(members) - seen)
        whole.append(max(each[-len(members) :]))
    return whole, each


def main(short: bool = False) -> None:
    """One room in an app of its own; in short in the app that APP_URL names. SystemExit where a figure is missed."""
    count = 5 if short else int(os.environ.get("MEMBERS", MEMBERS))
    if short and "APP_URL" in os.environ:
        run(lecture(os.environ["APP_URL"], None, count, short))
        return
    with tempfile.TemporaryDirectory() as folder:
        pid, port = start_app(Path(folder))
        url = f"http://127.0.0.1:{port}"
        try:
            deadline = time.monotonic() + START_SECONDS
            while "is ready" not in (Path(folder) / "app.log").read_text(encoding="utf-8") or not answers(url):
                if time.monotonic() > deadline:
                    raise SystemExit("the app did not start")
                time.sleep(0.2)
            if missed := run(lecture(url, psutil.Process(pid), count, short)):
                raise SystemExit(f"{missed} of the room's figures")
        finally:
            with suppress(ProcessLookupError):
                end_app(pid, url)
