"""HTML as tests compare it."""

from __future__ import annotations


def flat(html: str) -> str:
    """On one line, without the blanks that a template leaves between tags."""
    return " ".join(html.split()).replace("> <", "><")
