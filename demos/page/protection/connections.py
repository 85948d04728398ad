"""Connections bounded below the limit of open files: at that limit nothing can be accepted, read or logged any more.

The oldest idle connection makes room for a new one; where all are busy, the new one gets 503. And the
loop accepts a few at a time: asyncio takes all that wait at once, before any can be closed again.
"""

import asyncio
import sys
import time
from asyncio import selector_events
from contextlib import suppress
from functools import cache
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

from uvicorn.protocols.http.auto import AutoHTTPProtocol

from demos.system import lacks

MOST_FILES = 65_536  # requested, where the machine allows as many
MAC_FILES = 10_240  # macOS may allow no more, though it says that there is no limit
MOST_CONNECTIONS = 8_192  # a hall of a hundred has eight hundred
OTHER_FILES = 96  # at least, for models, logs, uploads and threads' pipes
AT_ONCE = 4  # a connection that makes room is closed some turns of the loop later
BUSY = b"All connections of this page are in use; try again in a minute."
REFUSAL = b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: %d\r\n\r\n%b" % (len(BUSY), BUSY)


def raise_file_limit() -> int:
    """The soft limit of open files, raised as far as allowed; MOST_FILES where the system has none to read."""
    if sys.platform == "win32" or resource is None:
        lacks("Here the limit of open files can't be read: connections are bounded by a fixed number.")
        return MOST_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    for files in (wanted, MAC_FILES):
        if soft != resource.RLIM_INFINITY and soft < files <= wanted:
            with suppress(ValueError, OSError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
                soft = files
    return MOST_FILES if soft == resource.RLIM_INFINITY else soft


def most_connections(files: int) -> int:
    """The largest number of open connections if `files` files may be open."""
    return max(16, min(MOST_CONNECTIONS, files - max(OTHER_FILES, files // 8)))


class BoundedProtocol(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # chosen when uvicorn is imported
    """uvicorn's HTTP, for at most `most()` connections."""

    @staticmethod
    @cache
    def most() -> int:
        """The largest number of connections; the first call raises the limit of open files."""
        return most_connections(raise_file_limit())

    def connection_made(self, transport: asyncio.Transport) -> None:
        super().connection_made(transport)
        self.since = time.monotonic()
        if len(self.connections) <= self.most():
            return
        there = [other for other in self.connections if not other.transport.is_closing()]
        if len(there) <= self.most():  # those that were closed are about to go
            return
        idle = [other for other in there if other is not self and not _is_busy(other)]
        if idle:
            min(idle, key=lambda other: other.since).transport.abort()
        else:
            transport.write(REFUSAL)
            transport.close()


def _is_busy(connection: Any) -> bool:
    return connection.cycle is not None and not connection.cycle.response_complete


accept: Any = getattr(selector_events.BaseSelectorEventLoop, "_accept_connection", None)


def accept_few(loop: Any, factory: Any, sock: Any, sslcontext: Any, server: Any, backlog: int, *rest: Any) -> Any:
    """`_accept_connection` of asyncio's selector loop, for AT_ONCE of those that wait."""
    return accept(loop, factory, sock, sslcontext, server, min(backlog, AT_ONCE), *rest)
