"""A browser's visits, written down by a proxy between it and the app: what was asked, when, and what was answered."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from urllib.parse import quote_plus

import aiohttp
from aiohttp import web
from playwright.async_api import Browser, Page, Request, async_playwright
from yarl import URL

from tests.benchmarks._hall_replay import API, NOTICE
from tests.benchmarks._hall_visit import TYPED, Event, Recording, Visit
from tests.chromium import find_chromium

BOX = "#bar-text textarea"
LESSONS = (
    "overview",
    "tokens",
    "attention",
    "encoder",
    "pretraining",
    "embeddings",
    "finetune",
    "translation",
    "family",
)
VIEWPORT = {"width": 1280, "height": 800}
LOOK, QUIET_LOOKS = 0.1, 15  # seconds between two looks, and how many without a change show a finished page
STREAM_LOOKS = 100  # Gradio may leave its stream open after the last answer, until the next event
LONGEST = 60  # seconds until then
WATCH = """window.lastChange = 0;
new MutationObserver(() => (window.lastChange = performance.now())).observe(
    document, { subtree: true, childList: true, characterData: true, attributes: true });"""
COMPONENTS = "() => window.gradio_config?.components.length ?? 0"
LAST_CHANGE = "() => new Promise((resolve) => requestIdleCallback(() => resolve(window.lastChange)))"
HOP = {"connection", "keep-alive", "transfer-encoding", "upgrade", "host"}  # of one connection, not of the message
KEY_PRESS = 90  # milliseconds
PLACE = re.compile(rf"^{API}/(heartbeat|queue)/")


@dataclass
class Asked:
    """One request and its answer."""

    method: str
    path: str
    body: str
    at: float
    told: bytearray = field(default_factory=bytearray)  # the answer to a post
    sent: int = 0  # bytes of the answer's body


@dataclass
class Proxy:
    """Hands on what the browser asks, and keeps it."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    ended: dict[str, tuple[float, bool]] = field(default_factory=dict)  # event -> when, whether with a notice
    address: str = ""

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", "/{path:.*}", self.hand_on)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, auto_decompress=False)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, shutdown_timeout=1)
        await site.start()
        self.address = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self.client = aiohttp.ClientSession(
            auto_decompress=False, connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)
        )
        try:
            yield
        finally:
            await self.client.close()
            await runner.cleanup()

    async def hand_on(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        asked = Asked(request.method, request.raw_path, body.decode("utf-8", "replace"), time.monotonic())
        self.asked.append(asked)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in HOP}
        headers["Host"] = request.host  # Gradio makes the page's own address of it
        target = URL(self.url + request.raw_path, encoded=True)
        options = {"headers": headers, "data": body or None, "allow_redirects": False}
        async with self.client.request(request.method, target, **options) as answer:
            kept = {name: value for name, value in answer.headers.items() if name.lower() not in HOP}
            response = web.StreamResponse(status=answer.status, headers=kept)
            with suppress(ConnectionResetError):  # the browser has turned to another page
                await response.prepare(request)
                await self.pour(answer, asked, response)
            return response

    async def pour(self, answer: aiohttp.ClientResponse, asked: Asked, response: web.StreamResponse) -> None:
        rest = b""
        async for chunk in answer.content.iter_any():
            asked.sent += len(chunk)
            if "/queue/data" in asked.path:
                *messages, rest = (rest + chunk).split(b"\n\n")
                self.note_ends(messages)
            elif asked.method == "POST":
                asked.told += chunk
            await response.write(chunk)
        await response.write_eof()

    def note_ends(self, messages: list[bytes]) -> None:
        for written in messages:
            message = json.loads(written.removeprefix(b"data: "))
            if message["msg"] == "process_completed":
                self.ended[message["event_id"]] = (time.monotonic(), NOTICE in written)

    def visit(self, name: str) -> Visit:
        """All that was asked since the last call."""
        asked, self.asked = self.asked, []
        gets = [one for one in asked if one.method == "GET" and not PLACE.match(one.path)]
        pages = [one for one in gets if one.path.partition("?")[0] == "/"]
        joins = [one for one in asked if one.method == "POST" and one.path.startswith(f"{API}/queue/join")]
        unlike = [one for one in asked if one.method != "GET" and one not in joins]
        session = next((json.loads(one.body)["session_hash"] for one in joins), "")
        return Visit(
            name,
            pages[0].path if pages else None,
            tuple(one.path for one in gets if one not in pages),
            tuple(self.events(joins)),
            session,
            pages[0].sent if pages else 0,
            tuple(f"{one.method} {one.path}" for one in unlike),
        )

    def events(self, joins: list[Asked]) -> list[Event]:
        names = [str(json.loads(one.told).get("event_id")) for one in joins]
        events = []
        for number, one in enumerate(joins):
            ends = [(self.ended[name][0], at) for at, name in enumerate(names[:number]) if name in self.ended]
            end, after = max((when for when in ends if when[0] <= one.at), default=(joins[0].at, None))
            notice = self.ended.get(names[number], (0.0, False))[1]
            events.append(Event(one.body, one.at - end, after, notice))
        return events


class Settled:
    """Knows when a page is finished: mounted, no request under way but its heartbeat, and nothing that changes."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: set[Request] = set()
        self.changes = 0
        page.on("request", self.begin)
        page.on("requestfinished", self.end)
        page.on("requestfailed", self.end)

    def begin(self, request: Request) -> None:
        if "/heartbeat/" not in request.url and not request.url.startswith(("data:", "blob:")):
            self.requests.add(request)
            self.changes += 1

    def end(self, request: Request) -> None:
        self.changes += request in self.requests
        self.requests.discard(request)

    async def wait(self) -> float:
        """Milliseconds on the page's clock, from its address to its last change; SystemExit where it never rests."""
        began, looks, before = time.monotonic(), 0, (0, 0.0)
        await self.page.locator(BOX).wait_for(timeout=LONGEST * 1_000)
        while looks < (STREAM_LOOKS if self.requests else QUIET_LOOKS):
            if time.monotonic() - began > LONGEST:
                raise SystemExit(f"not at rest in {LONGEST} s; {[one.url for one in self.requests]}")
            last = await self.page.evaluate(LAST_CHANGE)  # which waits for a browser that is busy
            now = (self.changes, last)
            rests = now == before and all("/queue/data" in one.url for one in self.requests)
            looks = looks + 1 if rests else 0
            before = now
            await asyncio.sleep(LOOK)
        return last


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """The browser that tests and benchmarks drive."""
    async with async_playwright() as playwright:
        yield await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox", "--disable-gpu"])


class Reader:
    """One browser, with a cache of its own."""

    def __init__(self, page: Page) -> None:
        self.page, self.settled = page, Settled(page)

    @classmethod
    async def new(cls, browser: Browser) -> Reader:
        context = await browser.new_context(viewport=VIEWPORT)
        await context.add_init_script(WATCH)
        return cls(await context.new_page())

    async def open(self, address: str) -> float:
        """Milliseconds until the page at this address is finished."""
        await self.page.goto("about:blank")  # so that the same address is a new visit
        await self.page.goto(address, wait_until="load")
        return await self.settled.wait()

    async def write(self, sentence: str) -> None:
        box = self.page.locator(BOX)
        await box.press("Control+A")
        await box.press_sequentially(sentence, delay=KEY_PRESS)
        await self.settled.wait()


async def record(url: str, short: bool = False) -> Recording:
    """All lessons (in short two) opened one after another, a sentence typed, and the lessons opened with it."""
    lessons = LESSONS[:2] if short else LESSONS
    proxy = Proxy(url)
    async with proxy.serving(), chromium() as browser:
        reader = await Reader.new(browser)

        async def opened(slug: str, query: str = "") -> Visit:
            await reader.open(f"{proxy.address}/?lesson={slug}{query}")
            return replace(proxy.visit(slug), components=await reader.page.evaluate(COMPONENTS))

        first = [await opened(slug) for slug in lessons]
        again = await opened(lessons[0])
        await reader.write(TYPED)
        typing = proxy.visit("typing")
        typed = [await opened(slug, f"&text={quote_plus(TYPED)}") for slug in lessons]
    return Recording(tuple(first), again, typing, tuple(typed))


async def seconds_to_picture(url: str, lesson: str, runs: int) -> tuple[list[float], list[float]]:
    """From the address to the finished picture, with an empty browser cache and with a filled one; seconds."""
    cold, warm = [], []
    async with chromium() as browser:
        for _ in range(runs):
            reader = await Reader.new(browser)
            cold.append(await reader.open(f"{url}/?lesson={lesson}") / 1_000)
            warm.append(await reader.open(f"{url}/?lesson={lesson}") / 1_000)
            await reader.page.context.close()
    return cold, warm
