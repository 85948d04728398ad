"""Answers with the files that handed-out programs read, at /files/ and their path: /files/assets/data/emotion.tsv.

A notebook is mostly opened where the project's folder is not: demos/page/notebook.js puts these files into it, but for
those of more than 2 MB, which it fetches from here.
"""

from __future__ import annotations

from pathlib import Path

from starlette.responses import FileResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from demos.files import ASSETS
from demos.page.protection.answers import refuse

AT = "/files/"
FOLDERS = (
    "data",
    "translation",
    "recurrent",
    "elmo",
    "causal",
    "pretraining",
    "ready/sentence",
    "ready/entities",
    "ready/question",
)
TEXTS, WEIGHTS = (".tsv", ".conll", ".json", ".jsonl"), (".safetensors", ".gz")


def program_files() -> dict[str, Path]:
    """Each file by its address."""
    files = [path for folder in FOLDERS for path in sorted((ASSETS / folder).iterdir())]
    return {
        f"{AT}assets/{path.relative_to(ASSETS).as_posix()}": path for path in files if path.suffix in TEXTS + WEIGHTS
    }


class ProgramFiles:
    """ASGI middleware: a file for its address; 404 for any other address in that folder."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.files = program_files()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(AT):
            await self.app(scope, receive, send)
            return
        path = self.files.get(scope["path"])
        if path is None or scope["method"] not in {"GET", "HEAD"}:
            await refuse(send, 404, "There is no such address here.")
            return
        kind = "text/plain; charset=utf-8" if path.suffix in TEXTS else "application/octet-stream"
        await FileResponse(path, media_type=kind, headers={"cache-control": "no-cache"})(scope, receive, send)
