"""A tour as a text file: Markdown, a heading a stop, under each heading what it shows.

    ---
    title: BERT in ten minutes
    ---

    ## Words become pieces

    view: /tokens?text=An+unflappable+banker
    light: tokens-picture
    question: yes

    Two or three sentences, with *emphasis*, **bold** and `code`.

    notes: What only the speaker reads, up to the next heading.

`view` is a link of the page (the address bar's text after the host), `light` the id of an element to outline.
With `question: yes`, the part's question covers its picture until it is answered. All but the view may be left out.
"""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from demos.errors import UserError
from demos.files import ASSETS, Json
from demos.lecturer_files import MARKDOWN, fault_at, front_matter, read_bounded

BUNDLED = ASSETS / "tours"
FIRST = "ten-minutes.md"  # for a first visitor
MOST_BYTES, MOST_STOPS, LONGEST = 100_000, 60, 2_000  # of a file; in it; characters of a stop's text or notes
HEADING = re.compile(r"## +(.+)")
SAYS = re.compile(r"(\w+): *(.*)")
NOTES = "notes:"


@dataclass(frozen=True)
class Stop:
    """One view with what is said of it."""

    title: str
    lesson: str
    query: str  # of the view's link
    light: str  # the id of the element to outline, or ""
    asks: bool  # whether the part's question covers its picture first
    text: str  # HTML, made of Markdown in which no HTML counts
    notes: str  # the same, for the speaker
    source: tuple[str, str]  # text and notes in their source form
    line: int  # of its heading


@dataclass(frozen=True)
class Tour:
    """A title and stops, in the order in which they are visited."""

    file: str
    name: str  # in the link: ?tour=name
    title: str
    stops: tuple[Stop, ...]


def bundled_tours() -> list[Path]:
    """The files that come along, in the order in which they are offered; the README beside them is no tour."""
    tours = (path for path in BUNDLED.glob("*.md") if path.name != "README.md")
    return sorted(tours, key=lambda path: (path.name != FIRST, path.name))


def read_tour(path: Path) -> Tour:
    """The tour in a file, whose name without its ending is the tour's. Raises UserError with the line of a fault."""
    return parse_tour(path.name, read_bounded(path, path.name, MOST_BYTES, "a tour"))


def parse_tour(file: str, text: str) -> Tour:
    """The tour that `text`, of a file of this name, says. Raises UserError with the line of a fault."""
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise UserError(f"{file}: a tour has at most {MOST_BYTES // 1000} kB.")
    lines = text.splitlines()
    title, at = _front_matter(file, lines)
    headings = [number for number in range(at, len(lines)) if HEADING.fullmatch(lines[number])]
    if not headings:
        raise UserError(f"{file}: there is no stop; begin each with a line “## its title”.")
    if len(headings) > MOST_STOPS:
        raise UserError(f"{file}: a tour has at most {MOST_STOPS} stops, this one has {len(headings)}.")
    ends = [*headings[1:], len(lines)]
    stops = [_stop(file, lines, first, end) for first, end in zip(headings, ends, strict=True)]
    return Tour(file, re.sub(r"[^\w-]+", "-", Path(file).stem)[:60], title, tuple(stops))


def as_json(tour: Tour) -> Json:
    """The data of an open tour for the page's script."""
    return {"name": tour.name, "title": tour.title, "stops": [asdict(stop) for stop in tour.stops]}


def offered(tours: Sequence[Tour]) -> dict[str, Json]:
    """The data of all tours for every page: their first stops, and the stops that show their part's question."""
    return {
        tour.name: {
            "title": tour.title,
            "count": len(tour.stops),
            "asks": [number for number, stop in enumerate(tour.stops, 1) if stop.asks],
            "lesson": tour.stops[0].lesson,
            "query": tour.stops[0].query,
        }
        for tour in tours
    }


def _front_matter(file: str, lines: Sequence[str]) -> tuple[str, int]:
    """(the title, the number of the first line after the front matter)."""
    front, at = front_matter(file, lines, "a tour begins with a line ---, a line “title: …” and a line ---")
    title = front.get("title")
    if not isinstance(title, str) or not 0 < len(title) <= 80:
        raise fault_at(file, 1, "a tour needs a line “title: …” of at most 80 characters")
    return title, at


def _stop(file: str, lines: Sequence[str], first: int, end: int) -> Stop:
    """The stop whose heading is line `first`, counted from 0."""
    heading = HEADING.fullmatch(lines[first])
    assert heading
    at, says = first + 1, {}
    while at < end and not lines[at].strip():
        at += 1
    while at < end and not lines[at].startswith(NOTES) and (setting := SAYS.fullmatch(lines[at].rstrip())):
        if setting[1] not in ("view", "light", "question"):
            raise fault_at(file, at, f"a stop has a view and may have a light and a question, but no {setting[1]!r}")
        if setting[1] == "question" and setting[2] not in ("yes", "no"):
            raise fault_at(file, at, f"a stop's question is “yes” or “no”, not {setting[2][:40]!r}")
        says[setting[1]] = setting[2]
        at += 1
    if "view" not in says:
        raise fault_at(file, first, f"the stop “{heading[1]}” has no line “view: /lesson?…”")
    view = urlsplit(says["view"])
    if view.scheme or view.netloc or not view.path.startswith("/"):
        raise fault_at(file, first, "a view is a link within the page, such as /tokens?text=Hello")
    words, notes = _parted(lines[at:end])
    for what, of in ((words, "text has"), (notes, "notes have")):
        if len(what) > LONGEST:
            raise fault_at(file, first, f"a stop's {of} at most {LONGEST:,} characters")
    return Stop(
        heading[1].strip(),
        view.path.strip("/"),
        view.query,
        says.get("light", ""),
        says.get("question") == "yes",
        MARKDOWN.render(words),
        MARKDOWN.render(notes),
        (words, notes),
        first + 1,
    )


def _parted(lines: Sequence[str]) -> tuple[str, str]:
    """(the text of a stop, its notes), without their indents: the notes begin with a line that says so."""
    at = next((number for number, line in enumerate(lines) if line.startswith(NOTES)), len(lines))
    notes = "\n".join(line.strip() for line in lines[at:]).removeprefix(NOTES)
    return "\n".join(lines[:at]).strip(), notes.strip()
