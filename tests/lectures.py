"""The table of what four lectures show (tests/lectures.md): its rows, and the views that they promise."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

TABLE = Path(__file__).with_name("lectures.md")
ROW = re.compile(r"\| ([A-D]\d+) \| (.+?) \| (\S+) \| (.+?) \|")
LACKS = "–"


@dataclass(frozen=True)
class Slide:
    """One row: what a slide shows, and where the page does."""

    key: str
    what: str
    view: str  # a link without the host, or "" where the page has none
    selector: str  # of the element that the view has
    words: tuple[str, ...]  # texts that all stand in it
    lacks: str  # what there would have to be, where there is no view

    @property
    def lesson(self) -> str:
        return urlsplit(self.view).path.strip("/")

    @property
    def query(self) -> str:
        return urlsplit(self.view).query


def slides() -> list[Slide]:
    """All rows, in their order. Raises ValueError where a line is no row."""
    found = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if not re.match(r"\| [A-D]\d", line):
            continue
        row = ROW.fullmatch(line)
        if row is None:
            raise ValueError(line)
        key, what, view, finds = row.groups()
        if view == LACKS:
            found.append(Slide(key, what, "", "", (), finds))
        else:
            selector, _, words = finds.strip("`").partition(": ")
            found.append(Slide(key, what, view, selector, tuple(words.split(" & ")) if words else (), ""))
    return found


WIDTHS = (1280, 1920)  # of the windows whose first screen is looked at


@dataclass(frozen=True)
class Unseen:
    """A row that is not on the first screen of its view, at some widths, and why."""

    key: str
    widths: frozenset[int]
    reason: str


def unseen() -> dict[str, Unseen]:
    """Those rows, by key. Raises ValueError where a width is none of `WIDTHS`."""
    found = {}
    text = TABLE.read_text(encoding="utf-8")
    for key, at, reason in re.findall(r"^- ([A-D]\d+) at ([\d and]+): (.+)$", text, flags=re.M):
        widths = frozenset(map(int, at.split(" and ")))
        if not widths <= {*WIDTHS}:
            raise ValueError(at)
        found[key] = Unseen(key, widths, reason)
    return found


@dataclass(frozen=True)
class Difference:
    """One point in which the page says otherwise than lectures."""

    key: str
    sentence: str  # some of its words
    file: str  # in which they stand
    view: str  # a link, without the host, to a view that has them in sight

    @property
    def lesson(self) -> str:
        return urlsplit(self.view).path.strip("/")

    @property
    def query(self) -> str:
        return urlsplit(self.view).query


def differences() -> list[Difference]:
    """All of them, in their order."""
    rows = re.findall(r"^\| (e\d+) \| (.+) \| (\S+) \| (\S+) \|$", TABLE.read_text(encoding="utf-8"), flags=re.M)
    return [Difference(*row) for row in rows]
