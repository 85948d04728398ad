"""From JSON to records: an object a line, a list of objects, or objects one after the other, on however many lines."""

import json
import re
from collections.abc import Sequence

from demos.errors import UserError
from demos.training.data.text_encoding import lines_of

SAMPLE = '{"text": "…", "label": "…"}'
LINES, LIST, OBJECTS = "JSON lines", "a JSON list", "JSON objects one after the other"  # the forms, as the page says
_BETWEEN = re.compile(r"[\s,]*")

Numbered = list[tuple[int, object]]  # values and their rows' numbers


def read_json(text: str, most: int, sample: str = SAMPLE) -> tuple[Numbered, str]:
    """(the values with their numbers, the form): of JSON lines the number is the line's, else they are counted.

    Raises UserError for more than `most`, and for what is no JSON; `sample` is what a row should look like.
    """
    lines = [(number, line) for number, line in enumerate(lines_of(text), start=1) if line.strip()]
    first = lines[0][1].strip() if lines else ""
    if first.endswith(("{", "[", ",")) or (len(lines) == 1 and first.startswith("[")):
        return read_whole(text, most, sample)
    bound(len(lines), most)
    return [(number, _line(number, line, sample)) for number, line in lines], LINES


def read_whole(text: str, most: int, sample: str = SAMPLE) -> tuple[Numbered, str]:
    """The objects of a JSON file: of a list, of the only list in an object, or one after the other."""
    values, at, decoder, form = [], 0, json.JSONDecoder(), OBJECTS
    text = text.strip()
    try:
        while at < len(text):
            value, at = decoder.raw_decode(text, at)
            values.append(value)
            bound(len(values), most)
            at = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]  # it matches anywhere
    except (ValueError, RecursionError) as error:
        where = f" (line {error.lineno:,})" if isinstance(error, json.JSONDecodeError) else ""
        raise UserError(f"The file is not JSON{where}; it must be a list of objects such as {sample}.") from error
    if len(values) == 1 and isinstance(values[0], dict):
        lists = [value for value in values[0].values() if isinstance(value, list)]
        if len(lists) == 1 and lists[0] and all(isinstance(value, dict) for value in lists[0]):
            values = lists
    if len(values) == 1 and isinstance(values[0], list):
        values, form = values[0], LIST
    bound(len(values), most)
    return list(enumerate(values, start=1)), form


def objects_of(values: Sequence[tuple[int, object]], sample: str = SAMPLE) -> list[tuple[int, dict[str, object]]]:
    """The values, which must be objects. Raises UserError that names the first that is none."""
    objects = []
    for number, value in values:
        if not isinstance(value, dict):
            raise UserError(f"Row {number:,} is not a JSON object; each row must be one, as in {sample}.")
        objects.append((number, value))
    return objects


def _line(number: int, line: str, sample: str) -> object:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(f"Row {number:,} is not JSON; each row must be one object, as in {sample}.") from error


def bound(rows: int, most: int) -> None:
    """Raises UserError for more rows than `most` and a header, which is no row of data."""
    if rows > most + 1:
        raise UserError(f"The file has more than {most:,} rows.")
