"""A text cut to fit: one line, its end replaced by a mark that says so."""

from __future__ import annotations

from markupsafe import Markup, escape


def short(text: object, length: int) -> str:
    """`text` on one line of at most `length` characters."""
    line = " ".join(str(text).split())
    return line if len(line) <= length else line[: length - 1] + "…"


def short_html(text: object, length: int) -> Markup:
    """The same, escaped."""
    return escape(short(text, length))
