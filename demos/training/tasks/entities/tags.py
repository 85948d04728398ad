"""A sentence of words with a tag each, in one of the schemes that are read as BIO."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from demos.bert.model.text import clean_text
from demos.errors import UserError

MAX_WORDS = 1_000  # a sentence
MAX_WORD = 200  # characters
MAX_TYPE = 40  # characters
TAG = re.compile(r"([BIESLUM])-(\S.*)")


@dataclass(frozen=True)
class TaggedRow:
    """A sentence: its words, each one's tag (BIO), and its place in its file (a line, or a table's row)."""

    number: int
    words: tuple[str, ...]
    tags: tuple[str, ...]
    split: str = ""
    note: str = ""  # the changes to its file's tags


def tagged_row(number: int, words: Sequence[str], tags: Sequence[str], split: str, places: Sequence[str]) -> TaggedRow:
    """One sentence, its tags known to have one of the forms that `as_bio` reads."""
    if len(words) > MAX_WORDS:
        raise UserError(f"{places[0]} has {len(words):,} words; the limit is {MAX_WORDS:,}.")
    cleaned = []
    for word, tag, where in zip(words, tags, places, strict=True):
        if not word.strip():
            raise UserError(f"{where} has an empty token.")
        if len(word) > MAX_WORD:
            raise UserError(f"{where} has a word of {len(word):,} characters; the limit is {MAX_WORD}.")
        valid = tag == "O" or TAG.fullmatch(tag)
        if not valid:
            raise UserError(f"{where} has the tag {tag[:40]!r}, which is neither O nor B- or I- with a type.")
        if len(tag) > MAX_TYPE + 2:
            raise UserError(f"{where} has a type of {len(tag) - 2:,} characters; the limit is {MAX_TYPE}.")
        cleaned.append(clean_text(word))
    return TaggedRow(number, tuple(cleaned), tuple(map(clean_text, tags)), split)


def as_bio(rows: Sequence[TaggedRow]) -> list[TaggedRow]:
    """IOB1, IOBES and BILOU as BIO: S- and U- are B-, E-, L- and M- are I-, and every entity begins with B-."""
    prefixes = {tag[0] for row in rows for tag in row.tags}
    scheme = "IOBES" if prefixes & set("ESM") else "BILOU" if prefixes & set("LU") else ""
    plain: Mapping[str, str] = {"S": "B", "U": "B", "E": "I", "L": "I", "M": "I"}
    converted, begun = [], 0
    for row in rows:
        tags: list[str] = []
        before = ""  # the type of the entity that the word before is in
        for tag in row.tags:
            prefix, _, kind = tag.partition("-")
            prefix = plain.get(prefix, prefix)
            if prefix == "I" and kind != before:
                prefix = "B"
                begun += 1
            tags.append(f"{prefix}-{kind}" if kind else "O")
            before = kind
        converted.append(replace(row, tags=tuple(tags)))
    if scheme:
        note = f"The tags are {scheme}; they were converted to BIO."
    elif begun:
        note = f"{begun:,} entit{'y begins' if begun == 1 else 'ies begin'} with I- (IOB1); read as B-."
    else:
        return converted
    return [replace(row, note=note) for row in converted]
