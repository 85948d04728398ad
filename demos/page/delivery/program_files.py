"""Answers with the files that handed-out programs read, at /files/ and their path: /files/assets/data/emotion.tsv.

A notebook is mostly opened where the project's folder is not: demos/page/notebook.js puts these files into it, but for
those of more than 2 MB, which it fetches from here.
"""

from pathlib import Path

from starlette.responses import FileResponse, Response

from demos.files import ASSETS
from demos.page.delivery.fixed_answers import ASK_EACH_TIME

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


def program_answers() -> dict[str, Response]:
    """The answer with each file, by its address."""
    return {address: _answer(path) for address, path in program_files().items()}


def _answer(path: Path) -> Response:
    kind = "text/plain; charset=utf-8" if path.suffix in TEXTS else "application/octet-stream"
    return FileResponse(path, media_type=kind, headers=ASK_EACH_TIME)
