"""The roles of a table's columns: as a reader chose, by known names, or by the columns' contents."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import unquote

from demos.errors import UserError
from demos.training.data.columns.headers import column_name, headed, name_of
from demos.training.data.columns.labels import visible
from demos.training.data.columns.profiles import EMPTY, LABELS, NUMBERS, RUNNING, SAME, TEXTS, Profile, profile_of
from demos.training.data.file_tables import Cells, Table

MOST_CHOSEN = 1_000  # characters of a choice of columns
# The last word of a name that says what is known of a label or a text, and not what it is.
NEVER = {"count", "confidence", "score", "probability", "date", "time", "url", "link", "coord", "length", "len"}
TITLES = {"title", "titel", "headline", "subject", "heading", "titre", "titolo", "título", "betreff"}
_PARTS = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+(?![^\W\d_A-Z])|\d+")
ALIASES = {  # other names of a role in a choice
    "text": "sentence1",
    "text1": "sentence1",
    "text2": "sentence2",
    "second text": "sentence2",
    "second_text": "sentence2",
    "answer": "answers",
    "label": "score",
    "score": "label",
    "sentence1": "text",
}
HTML = ("html", "removed")  # beside columns in a choice: HTML is taken out of the texts
SHEET = "sheet"  # beside columns in a choice: which of a workbook's sheets has them
_QUOTED = {"%": "%25", ",": "%2C", "=": "%3D"}


@dataclass(frozen=True)
class Column:
    """One thing that a task reads from each row, and the names its column may have, the preferred first.

    kind "text": a string; what JSON has as null, NaN, list or object counts as missing (""). kind "json": a list or an
    object is not changed, also where a cell of a table holds it as JSON; all else is text. `holds` is the kind of
    profile that its column has, where one without a known name may be it. Several columns may be it where it is `many`.
    """

    role: str
    names: tuple[str, ...]  # in small letters
    required: bool = True
    kind: str = "text"
    holds: str = ""
    many: bool = False


@dataclass(frozen=True)
class ColumnMap:
    """A table's columns and rows, and the column of each role."""

    names: tuple[str, ...]
    rows: list[Cells]
    named: bool  # whether the file names its columns
    places: Mapping[str, tuple[int, ...]]  # by role; the values of several columns are joined
    sure: bool = True  # that no other column may be meant
    problem: str = ""  # the missing or unclear part, one sentence
    notes: tuple[str, ...] = ()
    plain: bool = False  # whether HTML is taken out of the texts
    # By role, the places between which nothing decides.
    close: Mapping[str, Sequence[int]] = field(default_factory=dict)
    profiles: tuple[Profile, ...] = field(default=(), compare=False)

    def checked(self) -> Self:
        """These columns. Raises UnclearError where a required one is missing or not clear."""
        if self.problem:
            raise UnclearError(self)
        return self

    @property
    def columns(self) -> dict[str, list[str]]:
        """The names of each role's columns."""
        return {role: [self.names[place] for place in places] for role, places in self.places.items()}


class UnclearError(UserError):
    """A required column is missing, or several may be meant."""

    def __init__(self, mapping: ColumnMap) -> None:
        super().__init__(mapping.problem)
        self.mapping = mapping


def print_columns(chosen: Sequence[tuple[str, str]]) -> str:
    """(role, column) pairs as `role=column,role=column`; a comma, an equals sign or a per cent in a name as %2C."""
    return ",".join(f"{role}={quoted(name)}" for role, name in chosen)


def quoted(name: str) -> str:
    """A column's name in the form of a choice."""
    return "".join(_QUOTED.get(sign, sign) for sign in name)


def parse_columns(text: str) -> list[tuple[str, str]]:
    """The pairs of `print_columns`; none of an empty text. Raises UserError for another form."""
    pairs = [part.partition("=") for part in text.split(",") if part.strip()]
    if len(text) > MOST_CHOSEN or any(not name.strip() or not role.strip() for role, _, name in pairs):
        raise UserError(f"Columns are chosen as text=NAME,label=NAME, not as {text[:60]!r}.")
    return [(role.strip(), unquote(name.strip())) for role, _, name in pairs]


def sheet_of(chosen: str) -> str:
    """The sheet of a workbook that a choice names; "" for none. Raises UserError as `parse_columns` does."""
    return dict(parse_columns(chosen)).get(SHEET, "")


def with_sheet(chosen: str, sheet: str) -> str:
    """The same choice of columns with this sheet. Raises UserError as `parse_columns` does."""
    return print_columns([(SHEET, sheet), *(pair for pair in parse_columns(chosen) if pair[0] != SHEET)])


def find(table: Table, columns: Sequence[Column], nameless: Sequence[str] = (), chosen: str = "") -> ColumnMap:
    """The place of each role of `columns`: as `chosen` (`print_columns`) if the table has these columns, else guessed.

    `nameless` are the roles of the columns, in order, of a file that has as many and names none of them.
    Raises UserError for a role in `chosen` that there is not.
    """
    head = headed(table, {name for column in columns for name in column.names})
    profiles = tuple(profile_of([cells[place] for _, cells in head.rows]) for place in range(len(head.names)))
    guess = _Guess(head.names, table.header if head.named else (), columns, profiles, head.rows, table.header)
    notes: tuple[str, ...] = ()
    pairs = parse_columns(chosen)
    plain = HTML in pairs
    if pairs := [pair for pair in pairs if pair != HTML and pair[0] != SHEET]:
        places, absent = _chosen(head.names, columns, pairs)
        if not absent:
            guess.places |= places
            guess.by_names(only_optional=True)
            known = guess.places, True, guess.problem()
            return ColumnMap(head.names, head.rows, head.named, *known, plain=plain, profiles=profiles)
        notes = (f"The chosen column {visible(absent[:40])!r} is not there, so the columns were found again.",)
    guess.by_names()
    guess.by_parts()
    guess.by_content()
    unnamed = not head.named and len(head.names) == len(nameless)
    if unnamed and guess.missing() and not guess.close:
        guess.places = {role: (place,) for place, role in enumerate(nameless)}
    known = guess.places, guess.sure, guess.problem()
    return ColumnMap(head.names, head.rows, head.named, *known, notes, plain, guess.close, profiles)


def find_columns(header: Sequence[str], columns: Sequence[Column]) -> dict[str, int]:
    """The place of each role in a header, by known names alone. Raises UserError, naming what is missing."""
    guess = _Guess(header, header, columns, (), ())
    guess.by_names()
    if problem := guess.problem():
        raise UserError(problem)
    return {role: place for role, (place, *_) in guess.places.items()}


def _chosen(
    names: Sequence[str], columns: Sequence[Column], pairs: Sequence[tuple[str, str]]
) -> tuple[dict[str, tuple[int, ...]], str]:
    """(the places of a choice, the first of its columns that the table lacks). Raises UserError for another role."""
    roles = [column.role for column in columns]
    plain = [name_of(name) for name in names]
    places: dict[str, tuple[int, ...]] = {}
    for called, name in pairs:
        role = called if called in roles else ALIASES.get(called, called)
        if role not in roles:
            raise UserError(f"There is no {called[:30]!r} to choose a column for; there are {', '.join(roles)}.")
        numbered = [column_name(place) for place in range(len(names))]
        at = next((each.index(wanted) for each in (plain, numbered) if (wanted := name_of(name)) in each), None)
        if at is None:
            return {}, name
        places[role] = (*places.get(role, ()), at)
    return places, ""


class _Guess:
    """Places found step by step, the surest first."""

    def __init__(
        self,
        names: Sequence[str],
        header: Sequence[str],
        columns: Sequence[Column],
        profiles: Sequence[Profile],
        rows: Sequence[Cells],
        first: Sequence[str] = (),
    ) -> None:
        self.first = first or header  # the file's first row
        self.names, self.header, self.columns, self.profiles, self.rows = names, header, columns, profiles, rows
        self.plain = [name_of(name) for name in header]
        self.places: dict[str, tuple[int, ...]] = {}
        self.sure = True
        self.close: dict[str, list[int]] = {}  # the columns that may be this role

    def free(self, place: int) -> bool:
        return all(place not in places for places in self.places.values())

    def missing(self) -> list[Column]:
        return [column for column in self.columns if column.required and column.role not in self.places]

    def by_names(self, only_optional: bool = False) -> None:
        """Columns that have a known name, each place taken once. Raises UserError for a name that is there twice."""
        for column in self.columns:
            if column.role in self.places or (only_optional and column.required):
                continue
            candidates = [self.plain.index(name) for name in column.names if name in self.plain]
            place = next(filter(self.free, candidates), None)
            if place is not None:
                if self.plain.count(self.plain[place]) > 1:
                    raise UserError(f"Two columns are named {self.header[place][:30]!r}; rename one of them.")
                self.places[column.role] = (place,)

    def by_parts(self) -> None:
        """Columns with a known name as a part of theirs: `airline_sentiment` is a sentiment."""
        for column in self.missing():
            if not column.holds:
                continue
            candidates = [
                place
                for place, name in enumerate(self.header)
                if self.free(place) and self._fits(place, column) and _is_part(name, column.names)
            ]
            self._take(column, candidates)

    def by_content(self) -> None:
        """Columns that hold what the roles need, where there are as many of them as roles."""
        for holds in dict.fromkeys(column.holds for column in self.missing() if column.holds):
            roles = [column for column in self.missing() if column.holds == holds and column.role not in self.close]
            fitting = [p for p in range(len(self.names)) if self.free(p) and self._fits(p, roles[0])] if roles else []
            if len(fitting) == len(roles):
                self.places |= {column.role: (place,) for column, place in zip(roles, fitting, strict=True)}
                self.sure = self.sure and len(roles) < 2  # two texts may be one, or the other way round
            elif len(fitting) > len(roles):
                self._take(roles[0], fitting)
        if len(self.names) == 2 and {column.role for column in self.columns} >= {"text", "label"}:
            self._of_two()
        text = self.places.get("text", ())
        if len(text) == 1 and self.plain and TITLES.intersection(_parts(self.header[text[0]])[-1:]):
            others = [p for p in range(len(self.names)) if self.free(p) and self.profiles[p].may_be_text]
            if others:  # a headline and the text below it
                self.places["text"] = (*text, max(others, key=lambda place: self.profiles[place].length))
                self.sure = False

    def _of_two(self) -> None:
        """Text and label of two columns: of one that is known the other, or else labels repeat, or are shorter."""
        known = self.places.get("text", ()) + self.places.get("label", ())
        if len(known) == 1:
            role = "label" if "text" in self.places else "text"
            if role == "text" and self.profiles[1 - known[0]].kind in (SAME, EMPTY):
                return
            self.places[role] = (1 - known[0],)
        elif not known:
            values = [[str(cells[place]).strip() for _, cells in self.rows] for place in (0, 1)]
            different, length = [len(set(each)) for each in values], [sum(map(len, each)) for each in values]
            label = 0 if (different[0], length[0]) < (different[1], length[1]) else 1
            self.places |= {"text": (1 - label,), "label": (label,)}
        self.close.clear()
        self.sure = True

    def _take(self, column: Column, candidates: list[int]) -> None:
        if len(candidates) == 1:
            self.places[column.role] = (candidates[0],)
        elif candidates:
            self.close[column.role] = candidates
            self.sure = False

    def _fits(self, place: int, column: Column) -> bool:
        profile = self.profiles[place]
        if column.holds == LABELS:
            return profile.may_be_label
        if column.holds == TEXTS:
            return profile.may_be_text
        return profile.kind in (NUMBERS, LABELS) if column.holds == NUMBERS else profile.kind == column.holds

    def problem(self) -> str:
        """One sentence on what is missing, or that two columns are as likely; "" for neither."""
        missing = [column.role for column in self.missing()]
        if not missing:
            return ""
        required = [column.role for column in self.columns if column.required]
        if len(self.first) == 1 and len(required) > 1:
            return f"The file has one column; a {' and a '.join(required)} column are needed."
        shown = ", ".join(repr(visible(name[:30])) for name in self.first[:8])
        shown = shown if len(shown) <= 100 else f"{shown[:99]}…"
        first = missing[0]
        if first in self.close:
            names = [repr(visible(self.names[place][:30])) for place in self.close[first][:3]]
            return f"The {first} may be the column {' or '.join(names)}; choose which it is."
        return f"No column is named {' and '.join(missing)}; the first row has {shown}."


def suspected_group(mapping: ColumnMap) -> int | None:
    """A column of numbers that grow and repeat, beside texts: rows of one number are likely to belong together."""
    taken = {place for places in mapping.places.values() for place in places}
    for place, profile in enumerate(mapping.profiles):
        repeated = profile.kind == RUNNING and 2 * profile.different <= len(mapping.rows) * profile.filled
        if repeated and place not in taken:
            return place
    return None


def _parts(name: str) -> list[str]:
    """The words of a name such as `Class Index`, `tweet_text` or `goldLabel`, in small letters."""
    return [part.casefold() for part in _PARTS.findall(name)]


def _is_part(name: str, known: Sequence[str]) -> bool:
    """Whether a name's words hold a known name, and do not end in a word that makes them only describe it."""
    parts = _parts(name)
    return bool(parts) and parts[-1] not in NEVER and any(part in known for part in parts)


def value_at(cells: Sequence[Any], places: Sequence[int]) -> Any:
    """A row's content at these places: one cell unchanged, several as texts with a blank between them."""
    if len(places) == 1:
        return cells[places[0]]
    return " ".join(text for place in places if (text := str(cells[place] or "").strip()))
