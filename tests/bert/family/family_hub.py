"""A hub of the test's own, for members of the family."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.bert.model.local_hub import in_its_place


class _Hub(BaseHTTPRequestHandler):
    """Files of one folder at one revision; what is not there is 404, as the Hub says it."""

    protocol_version = "HTTP/1.1"
    root: Path
    asked: list[str]

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        kind, _, name = self.path.split("?")[0].removeprefix("/someone/").partition(f"/resolve/{'a' * 40}/")
        file = self.root / kind / name
        there = bool(name) and file.is_file()
        body = file.read_bytes() if there else b""
        self.asked.append(name)
        self.send_response(200 if there or not name else 404)
        headers = {"Content-Length": str(len(body)), "X-Repo-Commit": "a" * 40}
        if there:
            headers["ETag"] = f'"{hashlib.sha256(body).hexdigest()}"'
        elif name:
            headers["X-Error-Code"] = "EntryNotFound"
        for header, value in headers.items():
            self.send_header(header, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815  the name that http.server calls


@contextmanager
def family_hub(root: Path, monkeypatch: pytest.MonkeyPatch, asked: list[str] | None = None) -> Iterator[Path]:
    """`root` is the folder of the repositories that it has; `asked` gets the names of the files that are asked for."""
    handler = type("Hub", (_Hub,), {"root": root, "asked": [] if asked is None else asked})
    with in_its_place(handler, monkeypatch, root / "cache"):
        yield root
