"""Where the page's files are: one place that knows the assets folder."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

ASSETS = Path(__file__).resolve().parents[2] / "assets"


@cache
def read_asset(name: str) -> str:
    """The text of a file in assets/, read once."""
    return (ASSETS / name).read_text(encoding="utf-8")


def read_json_asset(name: str) -> Any:
    """The value of a JSON file in assets/."""
    return json.loads(read_asset(name))


def style_sheets() -> list[Path]:
    """Every style sheet of the page, the page's own first: a lesson's sheet is found by lying in assets/."""
    own = ASSETS / "page.css"
    return [own, *sorted(path for path in ASSETS.glob("*.css") if path != own)]
