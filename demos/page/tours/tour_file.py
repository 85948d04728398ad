"""A tour as a text file: Markdown, a heading a stop, under each heading what it shows.

    ---
    title: BERT in ten minutes
    ---

    ## Words become pieces

    view: /tokens?text=An+unflappable+banker
    light: tokens-picture

    Two or three sentences, with *emphasis*, **bold** and `code`.

`view` is a link of the page (what stands in the address bar after the host), `light` the id of an element to outline;
it may be left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import yaml
from markdown_it import MarkdownIt

from demos.errors import UserError
from demos.files import ASSETS

BUNDLED = ASSETS / "tours"
MOST_BYTES, MOST_STOPS, LONGEST = 100_000, 60, 2_000  # of a file; in it; characters of a stop's text
HEADING = re.compile(r"## +(.+)")
SAYS = re.compile(r"(\w+): *(.*)")
OF_THE_BAR = {"text", "pair", "model", "part"}
MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")


@dataclass(frozen=True)
class Stop:
    """One view with what is said of it."""

    title: str
    lesson: str
    query: str  # of the view's link
    light: str  # the id of the element to outline, or ""
    text: str  # HTML, made of Markdown in which no HTML counts
    line: int  # of its heading


@dataclass(frozen=True)
class Tour:
    """A title and stops, in the order in which they are visited."""

    name: str  # in the link: ?tour=name
    title: str
    stops: tuple[Stop, ...]


@dataclass(frozen=True)
class Place:
    """What a lesson's page has that a stop can name."""

    parts: frozenset[str]
    choices: frozenset[str]
    elements: frozenset[str]


def read_tour(path: Path) -> Tour:
    """The tour in a file, whose name without its ending is the tour's. Raises UserError with the line of a fault."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UserError(f"{path.name}: a tour has at most {MOST_BYTES // 1000} kB.")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"{path.name}: the file is not UTF-8 text.") from error
    except OSError as error:
        raise UserError(f"{path.name}: the file can't be read ({error.strerror}).") from error
    lines = text.splitlines()
    title, at = _front_matter(path.name, lines)
    headings = [number for number in range(at, len(lines)) if HEADING.fullmatch(lines[number])]
    if not headings:
        raise UserError(f"{path.name}: there is no stop; begin each with a line “## its title”.")
    if len(headings) > MOST_STOPS:
        raise UserError(f"{path.name}: a tour has at most {MOST_STOPS} stops, this one has {len(headings)}.")
    stops = [
        _stop(path.name, lines, first, end)
        for first, end in zip(headings, [*headings[1:], len(lines)], strict=True)
    ]  # fmt: skip
    return Tour(re.sub(r"[^\w-]+", "-", path.stem)[:60], title, tuple(stops))


def check_tour(tour: Tour, file: str, places: Mapping[str, Place]) -> None:
    """Raises UserError, with the line, where a stop names a lesson, part, choice or element that does not exist."""
    for stop in tour.stops:
        here = f"{file}, line {stop.line}"
        place = places.get(stop.lesson)
        if place is None:
            raise UserError(f"{here}: there is no lesson {stop.lesson!r}; choose one of {', '.join(places)}.")
        query = dict(parse_qsl(stop.query))
        part = query.get("part", "")
        if part and part not in place.parts:
            raise UserError(f"{here}: the lesson {stop.lesson} has no part {part!r}.")
        if unknown := sorted(query.keys() - place.choices - OF_THE_BAR):
            raise UserError(f"{here}: the lesson {stop.lesson} has no choice {unknown[0]!r}.")
        if stop.light and stop.light not in place.elements:
            raise UserError(f"{here}: the lesson {stop.lesson} has no element {stop.light!r}.")


def as_json(tours: Sequence[Tour]) -> dict[str, Any]:
    """What the page's script reads."""
    return {tour.name: {"title": tour.title, "stops": [asdict(stop) for stop in tour.stops]} for tour in tours}


def _front_matter(file: str, lines: Sequence[str]) -> tuple[str, int]:
    """(the title, the number of the first line after the front matter)."""
    ends = [number for number, line in enumerate(lines[:50]) if line.rstrip() == "---"]
    if not ends or ends[0] != 0 or len(ends) < 2:
        raise UserError(f"{file}, line 1: a tour begins with a line ---, a line “title: …” and a line ---.")
    try:
        front = yaml.safe_load("\n".join(lines[1 : ends[1]]))
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a day that there is none, a thousand brackets
        mark = getattr(error, "problem_mark", None)
        raise UserError(f"{file}, line {mark.line + 2 if mark else 2}: this is no “name: value”.") from error
    title = front.get("title") if isinstance(front, dict) else None
    if not isinstance(title, str) or not 0 < len(title) <= 80:
        raise UserError(f"{file}, line 2: a tour needs a line “title: …” of at most 80 characters.")
    return title, ends[1] + 1


def _stop(file: str, lines: Sequence[str], first: int, end: int) -> Stop:
    """The stop whose heading is line `first`, counted from 0."""
    heading = HEADING.fullmatch(lines[first])
    assert heading
    at, says = first + 1, {}
    while at < end and not lines[at].strip():
        at += 1
    while at < end and (said := SAYS.fullmatch(lines[at].rstrip())):
        if said[1] not in ("view", "light"):
            raise UserError(f"{file}, line {at + 1}: a stop has a view and may have a light, but no {said[1]!r}.")
        says[said[1]] = said[2]
        at += 1
    if "view" not in says:
        raise UserError(f"{file}, line {first + 1}: the stop “{heading[1]}” has no line “view: /lesson?…”.")
    view = urlsplit(says["view"])
    if view.scheme or view.netloc or not view.path.startswith("/"):
        raise UserError(f"{file}, line {first + 1}: a view is a link within the page, such as /tokens?text=Hello.")
    text = "\n".join(lines[at:end]).strip()
    if len(text) > LONGEST:
        raise UserError(f"{file}, line {first + 1}: a stop's text has at most {LONGEST:,} characters.")
    return Stop(
        heading[1].strip(), view.path.strip("/"), view.query, says.get("light", ""), MARKDOWN.render(text), first + 1
    )
