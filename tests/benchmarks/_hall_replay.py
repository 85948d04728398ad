"""Readers who ask again what a browser asked, each with a session of their own, and the count of what they were given.

Six connections a reader, as a browser has; a connection of those for the stream of answers, and one for the heartbeat.
An event that the browser posted after an answer waits for that answer here too.
"""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.benchmarks._hall_visit import TYPED, Event, Visit, address, drawn_anew

CONNECTIONS = 6
API = "/gradio_api"
REFUSALS = {413, 429, 503}  # 503 is Gradio's, for a full queue
PLAIN = {"Accept-Encoding": "identity"}  # of what is read here, and not only counted
BROKEN = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)  # the server had just closed an idle connection
BUFFER = 2**20  # bytes of a stream that are held before no more is read
NOTICE = b'class=\\"notice'  # of a lesson's sentence on what went wrong, in JSON


@dataclass(frozen=True)
class Ended:
    """An event's last answer."""

    succeeded: bool
    has_notice: bool


@dataclass
class Tally:
    """What all readers together were given."""

    answers: list[float] = field(default_factory=list)  # seconds from an event's post to its last answer
    visits: list[tuple[str, float, bool]] = field(default_factory=list)  # name, seconds, whether complete
    refused: int = 0
    lost: int = 0  # events whose stream broke, or that got no answer in time
    left: int = 0  # readers who closed their connections in the middle
    errors: Counter[str] = field(default_factory=Counter)

    @property
    def incomplete(self) -> int:
        return sum(not complete for _, _, complete in self.visits)

    @property
    def faults(self) -> int:
        return self.lost + self.errors.total()


class Student:
    """One reader. `own` is the sentence in the place of the recorded one; `patience` is in seconds."""

    def __init__(self, url: str, tally: Tally, own: str = "", patience: float = 120) -> None:
        self.url, self.tally, self.own, self.patience = url, tally, own, patience
        self.body = drawn_anew(own)
        self.tags: dict[str, str] = {}
        self.session = ""
        self.waiting: dict[str, asyncio.Future[Ended]] = {}
        self.early: dict[str, Ended] = {}  # came before the answer to the post that asked for it
        self.stream: asyncio.Task[None] | None = None
        self.heartbeat: asyncio.Task[None] | None = None
        self.http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=CONNECTIONS),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=60),
            headers={"Accept-Encoding": "gzip, deflate, br"},
            auto_decompress=False,
            cookie_jar=aiohttp.CookieJar(unsafe=True),  # of an address in numbers too
            read_bufsize=BUFFER,
        )

    async def visit(self, visit: Visit) -> None:
        """The page and its files, then the events; counted when the last answer is there."""
        began = time.monotonic()
        complete = True
        if visit.page is not None:
            await self.close_page()
            self.session = secrets.token_hex(6)
            complete = await self.get(address(visit.page, self.own))
            self.heartbeat = asyncio.create_task(self.beat())
            complete = all(await asyncio.gather(*map(self.get, visit.files))) and complete
        answered = [asyncio.Event() for _ in visit.events]
        posts = (self.post_in_turn(visit, number, answered) for number in range(len(visit.events)))
        complete = all(await asyncio.gather(*posts)) and complete
        self.tally.visits.append((visit.name, time.monotonic() - began, complete))

    async def asked(self, method: str, path: str, **options: Any) -> tuple[aiohttp.ClientResponse, bytes]:
        """An answer and its body; asked once more where the connection broke before, as browsers do."""
        async with asyncio.timeout(self.patience):
            for is_last in (False, True):
                try:
                    async with self.http.request(method, self.url + path, **options) as answer:
                        return answer, await answer.read()
                except BROKEN as error:
                    if is_last or isinstance(error, aiohttp.ClientConnectorError):  # nobody is there
                        raise
        raise AssertionError

    async def get(self, path: str) -> bool:
        """One file, only if it has changed since this reader had it."""
        headers = {"If-None-Match": self.tags[path]} if path in self.tags else {}
        try:
            answer, _ = await self.asked("GET", path, headers=headers)
        except (aiohttp.ClientError, OSError) as error:  # a TimeoutError is an OSError
            self.tally.errors[f"GET {type(error).__name__}"] += 1
            return False
        if answer.status not in (200, 304):
            self.tally.errors[f"GET {answer.status}"] += 1
            return False
        if "ETag" in answer.headers:
            self.tags[path] = answer.headers["ETag"]
        return True

    async def beat(self) -> None:
        """The connection by which Gradio sees that the page is open."""
        with suppress(aiohttp.ClientError, OSError):
            async with self.http.get(f"{self.url}{API}/heartbeat/{self.session}") as answer:
                async for _ in answer.content.iter_any():
                    pass

    async def post_in_turn(self, visit: Visit, number: int, answered: list[asyncio.Event]) -> bool:
        event = visit.events[number]
        try:
            if event.after is not None:
                await answered[event.after].wait()
            await asyncio.sleep(event.gap)
            return await self.post(visit, event)
        finally:
            answered[number].set()

    async def post(self, visit: Visit, event: Event) -> bool:
        """One event to its last answer: whether that came and was no failure."""
        body = self.body(event.body.replace(visit.session, self.session) if visit.session else event.body)
        headers = {"Content-Type": "application/json"} | PLAIN
        began = time.monotonic()
        try:
            answer, told = await self.asked("POST", f"{API}/queue/join", data=body, headers=headers)
        except (aiohttp.ClientError, OSError) as error:
            self.tally.errors[f"join {type(error).__name__}"] += 1
            return False
        if answer.status != 200:
            if answer.status in REFUSALS:
                self.tally.refused += 1
            else:
                self.tally.errors[f"join {answer.status}"] += 1
            return False
        name = json.loads(told)["event_id"]
        if name in self.early:
            ended = self.early.pop(name)
        else:
            self.waiting[name] = asyncio.get_running_loop().create_future()
            self.listen()
            try:
                ended = await asyncio.wait_for(self.waiting[name], self.patience)
            except (TimeoutError, ConnectionError):
                self.tally.lost += 1
                return False
            finally:
                self.waiting.pop(name, None)
        self.tally.answers.append(time.monotonic() - began)
        if not ended.succeeded:
            self.tally.errors["an event failed"] += 1
        elif ended.has_notice and not event.has_notice:
            self.tally.errors["an answer with a notice"] += 1
            return False
        return ended.succeeded

    def listen(self) -> None:
        if self.stream is None:
            self.stream = asyncio.create_task(self.hear())

    async def hear(self) -> None:
        """The stream of answers, to its end; what waits still when it breaks is lost."""
        rest, closed = b"", False
        try:
            address = f"{self.url}{API}/queue/data?session_hash={self.session}"
            async with self.http.get(address, headers=PLAIN) as answer:
                async for chunk in answer.content.iter_any():
                    rest += chunk
                    if b"\n\n" not in rest[-len(chunk) - 1 :]:
                        continue
                    *messages, rest = rest.split(b"\n\n")
                    for message in messages:
                        closed = self.take(json.loads(message.removeprefix(b"data: ")), message) or closed
        except (aiohttp.ClientError, OSError):
            closed = False
        self.stream = None
        if closed and self.waiting:
            self.listen()  # posted while the stream was being closed
        elif not closed:
            for waiting in self.waiting.values():
                if not waiting.done():
                    waiting.set_exception(ConnectionError("the stream broke"))

    def take(self, message: dict[str, object], written: bytes) -> bool:
        """One message of the stream; True for the one that says that it ends."""
        if message["msg"] == "process_completed":
            name, ended = str(message["event_id"]), Ended(bool(message["success"]), NOTICE in written)
            if name not in self.waiting:
                self.early[name] = ended
            elif not self.waiting[name].done():
                self.waiting[name].set_result(ended)
        return message["msg"] == "close_stream"

    async def close_page(self) -> None:
        """As a browser that turns to another page."""
        tasks = [task for task in (self.stream, self.heartbeat) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.stream = self.heartbeat = None
        self.waiting.clear()
        self.early.clear()

    async def leave(self) -> None:
        await self.close_page()
        await self.http.close()


def other_sentence(chance: random.Random) -> str:
    """A sentence as long as the recorded one, of its words in another order."""
    words = TYPED.removesuffix(".").split()
    return " ".join(chance.sample(words, len(words))) + "."


def quantile(values: list[float], share: float) -> float:
    """The least of `values` that `share` of them do not pass; nan of none (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] if ordered else float("nan")
