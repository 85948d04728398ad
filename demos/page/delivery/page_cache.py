"""The page in the form that is sent, with Gradio's scripts and styles: built and compressed once for all readers.

For every request Gradio copies the configuration of all components and writes 1.6 MB of HTML, uncompressed. It
depends on the request only by the host's name: so it is built for no host, and its addresses begin at the root. And
Gradio compresses each of some ninety files again for each reader, whose browser requests them at every visit, though a
file's name changes with its content.
"""

import asyncio
import gzip
import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import brotli  # Gradio requires it
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from demos.files import read_beside
from demos.page.delivery.fonts import font_tags

EDITIONS = 3  # of the pages: a page without requests is removed
FILES = 300  # some megabytes compressed
CONFIG = "/config"
PATHS = ("/", CONFIG)  # and the pages that are named to `PageCache`
NO_HOST = b"address.invalid"  # a name that no host has (RFC 2606)
ROOT = re.compile(rb'"root": ?"http://address\.invalid[^"]*"')
FILE = re.compile(r"/(assets|page)/[\w-]+(\.[\w-]+)*\.(js|css|svg)")  # Gradio's and our own
EARLY = (font_tags() + read_beside(__file__, "early.html")).encode()
EMPTY: Mapping[str, bytes] = MappingProxyType({})
PLAIN = b"identity"
QUALITY = 9  # of brotli: 143 kB in 0.05 s; 11 saves 14 kB more and takes 2 s
ASK_EACH_TIME, FOR_EVER = b"no-cache", b"public, max-age=31536000, immutable"
SAID_BY_US = frozenset({b"content-length", b"etag", b"last-modified", b"cache-control", b"vary", b"accept-ranges"})


@dataclass(frozen=True)
class Answer:
    """One answer of Gradio's: its status and headers as they came, and its body in each encoding."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    tag: bytes
    lasting: bytes  # for how long a browser may keep it
    by_encoding: dict[bytes, bytes]


class PageCache:
    """ASGI middleware: one build of each page, for all parameters and all simultaneous requests."""

    def __init__(
        self,
        app: ASGIApp,
        pages: Sequence[str] = (),
        edition: Callable[[], int] = int,
        scripts: Mapping[str, bytes] = EMPTY,
        head: str = "",
    ) -> None:
        """`pages` are built as "/" is; pages of an earlier `edition` are built again.

        `scripts` are sent, by address, instead of Gradio's own (demos/page/patches/mend.py). `head` is HTML for the
        page's `<head>`: what Gradio's own `head` holds is inserted by a script, later.
        """
        self.head = EARLY + head.encode()
        self.app = app
        self.scripts = scripts
        self.edition = edition
        self.paths = frozenset({*PATHS, *pages})
        self.answers: OrderedDict[tuple[Any, ...], asyncio.Task[Answer]] = OrderedDict()
        self.files: OrderedDict[tuple[Any, ...], asyncio.Task[Answer]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not _is_ours(scope, self.paths):
            await self.app(scope, receive, send)
            return
        key: tuple[Any, ...]
        if FILE.fullmatch(scope["path"]):
            key, cache, most = (scope["path"],), self.files, FILES
        else:
            scope = {**scope, "path": scope["path"].rstrip("/") or "/"}
            key, cache, most = (self.edition(), scope["path"]), self.answers, EDITIONS * len(self.paths)
        if key not in cache:
            cache[key] = asyncio.create_task(self._build(_for_no_host(scope)))
            if len(cache) > most:
                cache.popitem(last=False)
        cache.move_to_end(key)
        building = cache[key]
        try:
            answer = await asyncio.shield(building)  # a client that leaves does not end what others wait for
        finally:
            if _has_failed(building) and cache.get(key) is building:
                del cache[key]
        await _send(answer, scope, send)

    async def _build(self, scope: Scope) -> Answer:
        """Gradio's own answer, read to its end."""
        start: Message = {}
        body = bytearray()

        messages = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> Message:
            return next(messages, None) or await asyncio.Future()  # this request has no client that could hang up

        async def collect(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                body.extend(message.get("body", b""))

        await self.app(scope, receive, collect)
        headers = tuple((name, value) for name, value in start["headers"] if name.lower() not in SAID_BY_US)
        sent = bytes(body)
        if is_mended := start["status"] == 200 and scope["path"] in self.scripts:
            sent = self.scripts[scope["path"]]
        is_file = FILE.fullmatch(scope["path"]) is not None
        if not is_file:
            sent = _without_host(sent, scope["path"])
        if sent.lstrip().startswith(b"<!doctype html>"):
            sent = sent.replace(b"</head>", self.head + b"</head>", 1)
        lasting = FOR_EVER if is_file and not is_mended else ASK_EACH_TIME
        return await asyncio.to_thread(_compress, start["status"], headers, lasting, sent)


def _has_failed(building: asyncio.Task[Answer]) -> bool:
    return building.done() and (building.exception() is not None or building.result().status != 200)


def _is_ours(scope: Scope, pages: Set[str]) -> bool:
    if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
        return False
    return FILE.fullmatch(scope["path"]) is not None or (scope["path"].rstrip("/") or "/") in pages


def _for_no_host(scope: Scope) -> Scope:
    """The request for a page without anything that depends on a reader; Gradio builds another for a `?page=`."""
    headers = [(b"host", NO_HOST), (b"accept", b"*/*")]
    return {**scope, "method": "GET", "scheme": "http", "query_string": b"", "headers": headers}


def _without_host(body: bytes, path: str) -> bytes:
    """A page whose addresses begin at the root of the current host; where a host's name is needed within a text, the
    browser fills it in.

    The configuration by itself has no root: who reads it takes the address at which it was found.
    """
    own = b"http://" + NO_HOST
    if path == CONFIG:
        body = ROOT.sub(b'"root":""', body, count=1)
    addresses = body.replace(b'"' + own + b'"', b'"/"').replace(b'"' + own, b'"')
    return addresses.replace(own, b'"+location.origin+"')  # of examples of calls, in JavaScript


def _compress(status: int, headers: tuple[tuple[bytes, bytes], ...], lasting: bytes, body: bytes) -> Answer:
    tag = f'W/"{hashlib.sha256(body).hexdigest()[:32]}"'.encode()
    encodings = {b"br": brotli.compress(body, quality=QUALITY), b"gzip": gzip.compress(body, mtime=0), PLAIN: body}
    return Answer(status, headers, tag, lasting, encodings)


async def _send(answer: Answer, scope: Scope, send: Send) -> None:
    request_headers = Headers(scope=scope)
    headers = [*answer.headers, (b"etag", answer.tag), (b"vary", b"accept-encoding")]
    headers.append((b"cache-control", answer.lasting))
    if answer.status == 200 and answer.tag.decode() in request_headers.get("if-none-match", ""):
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    accepted = {
        choice.split(";")[0].strip() for choice in request_headers.get("accept-encoding", "").lower().split(",")
    }
    encoding = next((name for name in answer.by_encoding if name.decode() in accepted), PLAIN)
    body = answer.by_encoding[encoding]
    if encoding != PLAIN:
        headers.append((b"content-encoding", encoding))
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
