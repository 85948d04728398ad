"""From spans of characters to a tag for each word: a program brings along the source below the imports."""

from __future__ import annotations

import re
import unicodedata

WHOLE = re.compile(r"(?:[^\W\d_]\.){2,}|n['’]t|['’](?:s|re|ve|ll|d|m)|[#@]\w+", re.IGNORECASE)  # a word as it is
ENDING = re.compile(r"(.+?)(n['’]t|['’](?:s|re|ve|ll|d|m))", re.IGNORECASE | re.DOTALL)
BETWEEN = re.compile(r"([;!?()\[\]{}\"“”…]|(?<!\d)[,:]|[,:](?!\d))")
RUN = re.compile(r"\.+|-+|.", re.DOTALL)  # dots or dashes stay together


def split_words(text: str) -> list[str]:
    """A sentence cut roughly as CoNLL-2003's are: at blanks; punctuation around a word apart; 's and n't apart.

    What stands inside a word (6-4, 3.5, O'Brien, name@place) stays, and so do U.S., #tag and @name.
    """
    words: list[str] = []
    for part in (part for chunk in text.split() for part in BETWEEN.split(chunk)):
        after: list[str] = []
        while part and not WHOLE.fullmatch(part) and (is_mark(part[0]) or is_mark(part[-1])):
            count = RUN.match(part if is_mark(part[0]) else part[::-1]).end()  # type: ignore[union-attr]
            if is_mark(part[0]):
                words.append(part[:count])
                part = part[count:]
            else:
                after.append(part[-count:])
                part = part[:-count]
        ending = ENDING.fullmatch(part)
        words += [*(ending.groups() if ending else filter(None, [part])), *reversed(after)]
    return words


def is_mark(character: str) -> bool:
    """Whether it is punctuation or a symbol; a combining mark belongs to its letter."""
    return unicodedata.category(character)[0] in "PS"


def word_places(text: str, words: list[str]) -> list[tuple[int, int]]:
    """(the first character of each word, the one behind its last)."""
    places, at = [], 0
    for word in words:
        at = text.index(word, at)
        places.append((at, at := at + len(word)))
    return places


def word_tags(places: list[tuple[int, int]], spans: list[tuple[int, int, str]]) -> list[str]:
    """Each word's tag (BIO), of spans (first character, the one behind the last, type).

    A span has all words that it touches; of spans that share a word the longest counts, of equals the first.
    """
    tags = ["O"] * len(places)
    for start, end, kind in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        touched = [at for at, (first, behind) in enumerate(places) if first < end and start < behind]
        if all(tags[at] == "O" for at in touched):
            for at in touched:
                tags[at] = f"{'B' if at == touched[0] else 'I'}-{kind}"
    return tags
