"""HTML as a browser reads its white space: one blank for several, none beside what begins a line of its own."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps

BLOCKS = "div|p|ol|ul|li|table|caption|thead|tbody|tr|td|th|figure|figcaption|section|h3|h4"


def one_line(html: str) -> str:
    """The same HTML on one line."""
    return re.sub(rf"\s*(</?(?:{BLOCKS})\b[^>]*>)\s*", r"\1", " ".join(str(html).split()))


def on_one_line(function: Callable[..., str]) -> Callable[..., str]:
    """The same function, its HTML on one line."""

    @wraps(function)
    def called(*values: object, **named: object) -> str:
        return one_line(function(*values, **named))

    return called


def flat(html: str) -> str:
    """On one line, without the blanks that a template leaves between tags."""
    return " ".join(html.split()).replace("> <", "><")


def plain(html: str) -> str:
    """HTML with single spaces: a template's line breaks say nothing."""
    return " ".join(html.split())
