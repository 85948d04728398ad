"""A check of a tour's stops: lessons, parts, choices with their values and elements to outline must exist."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from demos.errors import UserError
from demos.page.links import Offer, renamed, value_of
from demos.page.tours.tour_file import Stop, Tour

OF_THE_BAR = {"text", "pair", "model", "part", "fold", "at", "questions"}


@dataclass(frozen=True)
class Place:
    """The names on a lesson's page that a stop can use."""

    parts: tuple[str, ...]  # in their order
    choices: Mapping[str, Offer]  # by name
    elements: Mapping[str, str]  # id -> the part that contains it, "" above the parts
    parts_with_question: Collection[str] = ()  # "" for a lesson without parts


def check_tour(tour: Tour, places: Mapping[str, Place]) -> None:
    """Raises UserError, with the line, where a stop names a lesson, part, choice or element that does not exist."""
    for stop in tour.stops:
        fault = _fault(stop, places)
        if fault:
            raise UserError(f"{tour.file}, line {stop.line}: {fault}")


def _fault(stop: Stop, places: Mapping[str, Place]) -> str:
    """The fault in a stop's link, in one sentence, or ""."""
    place = places.get(stop.lesson)
    if place is None:
        return f"there is no lesson {stop.lesson!r}; choose one of {', '.join(places)}."
    query = renamed(dict(parse_qsl(stop.query, keep_blank_values=True)), place.choices)
    part = query.get("part") or (place.parts[0] if place.parts else "")
    if place.parts and part not in place.parts:
        return f"the lesson {stop.lesson} has no part {part!r}."
    if unknown := sorted(query.keys() - place.choices.keys() - OF_THE_BAR):
        return f"the lesson {stop.lesson} has no choice {unknown[0]!r}."
    for name in query.keys() - OF_THE_BAR:
        try:
            value_of(query[name], place.choices[name])
        except ValueError:
            return f"the choice {name!r} of the lesson {stop.lesson} can't be {query[name]!r}."
    fold = "-".join(filter(None, (stop.lesson, part, query.get("fold"))))
    if "fold" in query and fold not in place.elements:
        return f"there is no fold {query['fold']!r} in this view."
    if "at" in query and place.elements.get(query["at"]) not in ("", part):
        return f"there is no element {query['at']!r} in this view."
    if stop.light and stop.light not in place.elements:
        return f"the lesson {stop.lesson} has no element {stop.light!r}."
    if stop.light and place.elements[stop.light] not in ("", part):
        return f"the element {stop.light!r} is in the part {place.elements[stop.light]!r}, not in {part!r}."
    if stop.asks and part not in place.parts_with_question:
        return f"the lesson {stop.lesson} has no question{f' in its part {part!r}' if part else ''}."
    return ""
