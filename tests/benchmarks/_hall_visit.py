"""What a browser asked of the app in one visit, in a form that any number of readers can ask again."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

TYPED = "A patient teacher explained the small green leaf to seven children."
LEAST = 3  # letters that a text begins with before it counts as the begin of a sentence
KEY = re.compile(r"(?<![\w-])[\w-]{24}(?![\w-])")  # what link.js draws for a browser and a tab


@dataclass(frozen=True)
class Event:
    """One posted body: `gap` seconds after the answer to event `after`, or after the visit's begin."""

    body: str
    gap: float
    after: int | None = None
    has_notice: bool = False  # the recorded answer told the reader that something was wrong


@dataclass(frozen=True)
class Visit:
    """A page with its files and the events of its opening; without a page, what a reader did on the one before."""

    name: str
    page: str | None
    files: tuple[str, ...]
    events: tuple[Event, ...]
    session: str = ""
    page_bytes: int = 0  # of the page's body, as it was sent
    components: int = 0
    unlike: tuple[str, ...] = ()  # requests of other kinds, which are not asked again


@dataclass(frozen=True)
class Recording:
    """A class's lessons: opened with the default sentence, opened once more, then with one that was typed."""

    first: tuple[Visit, ...]
    again: Visit
    typing: Visit
    typed: tuple[Visit, ...]


def drawn_anew(own: str = "") -> Callable[[str], str]:
    """A function that puts a reader's own keys, and `own` for the recorded sentence, into an event's body."""
    keys: dict[str, str] = {}

    def swapped(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: swapped(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [swapped(inner) for inner in value]
        if not isinstance(value, str):
            return value
        if own and len(value) >= LEAST and TYPED.startswith(value):
            return own[: len(value)]
        value = value.replace(TYPED, own or TYPED)
        return KEY.sub(lambda found: keys.setdefault(found[0], secrets.token_urlsafe(18)), value)

    return lambda body: json.dumps(swapped(json.loads(body)))


def address(path: str, own: str = "") -> str:
    """A recorded address with `own` for the recorded sentence."""
    return path.replace(quote_plus(TYPED), quote_plus(own or TYPED))
