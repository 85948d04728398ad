"""The starts of answers in their paragraphs: the positions that a file states, in whichever units it counts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

CHARACTERS, UTF_16, UTF_8 = "characters", "UTF-16 units", "UTF-8 bytes"
CODECS = {UTF_16: ("utf-16-le", 2), UTF_8: ("utf-8", 1)}  # Python's name of the encoding, bytes in a unit
COUNTED = {UTF_16: "UTF-16 units, as a browser does", UTF_8: "UTF-8 bytes"}
WHOLE = re.compile(r"\s*(-?\d{1,300})(\.\d*)?\s*")  # 12, and what pandas makes of it beside empty cells, 12.0


@dataclass(frozen=True)
class StatedAnswer:
    """An answer that occurs in its paragraph, and the place where its file says that it begins."""

    context: str
    text: str
    place: int | None = None  # in the file's own units; None where the file states none

    def start_in(self, units: str) -> int | None:
        """The character at the stated place, counted in these units; None where the answer does not begin there."""
        if self.place is None or self.place < 0:
            return None
        at = self.place
        if units != CHARACTERS and not self.context.isascii():
            codec, width = CODECS[units]
            before = self.context.encode(codec)[: width * at]
            try:
                at = len(before.decode(codec)) if len(before) == width * at else -1
            except UnicodeDecodeError:  # the place is inside a character
                return None
        return at if find_answer(self.context, self.text, at) == at else None


@dataclass(frozen=True)
class ReadPlaces:
    """The way in which the stated positions of a file's answers were read."""

    units: str = CHARACTERS  # the unit: UTF-16 units or UTF-8 bytes only where every one of them fits so
    stated: int = 0  # places
    changed: int = 0  # of these, places that were converted to characters, or moved to the nearest occurrence

    @property
    def note(self) -> str:
        """The sentence for the page; "" where every stated place is right."""
        if not self.changed:
            return ""
        if self.units != CHARACTERS:
            was = "was" if self.changed == 1 else "were"
            counted = f"The answers’ positions count {COUNTED[self.units]}"
            return f"{counted}; {self.changed:,} of {self.stated:,} {was} converted."
        does, moved = ("does", "it was") if self.changed == 1 else ("do", "they were")
        return (
            f"{self.changed:,} of {self.stated:,} stated positions of answers {does} not fit the paragraph; "
            f"{moved} moved to the answer’s nearest occurrence."
        )


def read_places(answers: Sequence[StatedAnswer]) -> tuple[ReadPlaces, list[int]]:
    """(how the places of one file are read, the character at which each answer begins).

    The places count characters; UTF-16 units or UTF-8 bytes where all of them fit so and not as characters. A place
    that does not fit is moved to the answer's nearest occurrence; an answer without a place is its first occurrence.
    """
    stated = [answer for answer in answers if answer.place is not None]
    fitting = (units for units in (CHARACTERS, *CODECS) if all(answer.start_in(units) is not None for answer in stated))
    units = next(fitting, CHARACTERS)
    starts = []
    for answer in answers:
        at = answer.start_in(units)
        starts.append(find_answer(answer.context, answer.text, answer.place or 0) if at is None else at)
    changed = sum(at != answer.place for at, answer in zip(starts, answers, strict=True) if answer.place is not None)
    return ReadPlaces(units, len(stated), changed), [at or 0 for at in starts]


def find_answer(context: str, answer: str, place: int = 0) -> int | None:
    """The answer's occurrence nearest to `place`, the earlier of two as near; capitals count where it occurs so.

    None where it does not occur.
    """
    if not answer:
        return None
    if answer not in context:
        if len(context.lower()) != len(context) or len(answer.lower()) != len(answer):
            return None
        context, answer = context.lower(), answer.lower()
    place = max(0, place)
    before, after = context.rfind(answer, 0, place + len(answer)), context.find(answer, place)
    return min((at for at in (before, after) if at >= 0), key=lambda at: abs(at - place), default=None)


def whole_place(value: Any) -> int | None:
    """A stated place as a whole number, of a number or a text; None for anything else, such as an empty cell."""
    match = WHOLE.fullmatch(str(value))
    return int(match[1]) if match else None
