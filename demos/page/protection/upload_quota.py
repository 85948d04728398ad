"""What has been uploaded, bounded in bytes and files: with each upload the oldest go until the rest fits.

An upload does not say which session it is of, so there is one bound for all.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from gradio.route_utils import API_PREFIX
from starlette.types import ASGIApp, Receive, Scope, Send

MOST_BYTES = 200 * 2**20  # forty of the largest files
MOST_FILES = 1_000
UPLOAD = f"{API_PREFIX}/upload"


class UploadQuota:
    """ASGI middleware after each upload."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, receive, send)
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"].rstrip("/") == UPLOAD:
            uploaded = scope["app"].get_blocks().upload_file_set
            uploaded -= forget_oldest(tuple(uploaded), MOST_BYTES, MOST_FILES)


def forget_oldest(paths: Iterable[str], most_bytes: int, most_files: int) -> set[str]:
    """Delete the oldest files until at most `most_bytes` and `most_files` are left; the paths where nothing is."""
    found, gone = [], set()
    for path in paths:
        try:
            stat = Path(path).stat()
            found.append((stat.st_mtime_ns, stat.st_size, path))
        except OSError:
            gone.add(path)
    taken = 0
    for number, (_, size, path) in enumerate(sorted(found, reverse=True), 1):
        taken += size
        if taken > most_bytes or number > most_files:
            Path(path).unlink(missing_ok=True)
            with suppress(OSError):
                Path(path).parent.rmdir()  # Gradio makes a folder for each
            gone.add(path)
    return gone
