"""Lines that hold a text and its label without columns: fastText's `__label__`, and a text, an @ and its label."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from demos.training.data.columns.labels import MAX_CLASSES

FASTTEXT = "fastText’s lines, __label__ before each text"
AT = "lines with a text, an @ and its label"
FASTTEXT_LINE = re.compile(r"((?:__label__\S+[ \t]+)+)(.*)")
AT_LINE = re.compile(r"(.*\S)\s*@\s*([A-Za-z][\w-]{0,29})")


def labelled_lines(lines: Sequence[str]) -> tuple[str, list[tuple[int, list[Any]]]] | None:
    """(the form, (a line's number, [its label, its text])); of several a list. None for lines of another form."""
    filled = [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]
    if len(filled) < 2:
        return None
    if filled[0][1].startswith("__label__"):
        matches = [(number, FASTTEXT_LINE.fullmatch(line)) for number, line in filled]
        if all(match for _, match in matches):
            return FASTTEXT, [(number, [_labels(match[1]), match[2]]) for number, match in matches if match]
    if AT_LINE.fullmatch(filled[0][1]):
        matches = [(number, AT_LINE.fullmatch(line)) for number, line in filled]
        counts = Counter(match[2] for _, match in matches if match)
        if all(match for _, match in matches) and 2 <= len(counts) <= MAX_CLASSES and 2 * len(counts) <= len(filled):
            return AT, [(number, [match[2], match[1]]) for number, match in matches if match]
    return None


def _labels(text: str) -> str | list[str]:
    labels = text.replace("__label__", " ").split()
    return labels if len(labels) > 1 else labels[0]
