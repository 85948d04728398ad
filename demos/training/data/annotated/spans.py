"""From spans of characters to a tag for each word: a program brings along the source below the imports."""

import re
import unicodedata
from bisect import bisect_left, bisect_right

WHOLE = re.compile(r"(?:[^\W\d_]\.){2,}|n['’]t|['’](?:s|re|ve|ll|d|m)|[#@]\w+", re.IGNORECASE)  # a word as it is
ENDING = re.compile(r"(.+?)(n['’]t|['’](?:s|re|ve|ll|d|m))", re.IGNORECASE | re.DOTALL)
BETWEEN = re.compile(r"([;!?()\[\]{}\"“”…]|(?<!\d)[,:]|[,:](?!\d))")


def split_words(text: str) -> list[str]:
    """A sentence cut roughly as CoNLL-2003's are: at blanks; punctuation around a word apart; 's and n't apart.

    What stands inside a word (6-4, 3.5, O'Brien, name@place) stays, and so do U.S., #tag and @name.
    """
    words: list[str] = []
    for part in (part for chunk in text.split() for part in BETWEEN.split(chunk)):
        if part.isalnum():  # as most are
            words.append(part)
            continue
        after: list[str] = []
        while part and not WHOLE.fullmatch(part) and (is_mark(part[0]) or is_mark(part[-1])):
            leads = is_mark(part[0])
            side = part if leads else part[::-1]
            count = len(side) - len(side.lstrip(side[0])) if side[0] in ".-" else 1  # dots or dashes stay together
            if leads:
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
        places.append((at, at + len(word)))
        at += len(word)
    return places


def words_in(places: list[tuple[int, int]], start: int, end: int) -> range:
    """The numbers of the words that characters from `start` to before `end` touch."""
    return range(bisect_right(places, start, key=lambda place: place[1]), bisect_left(places, (end,)))


def word_tags(places: list[tuple[int, int]], spans: list[tuple[int, int, str]]) -> list[str]:
    """Each word's tag (BIO), of spans (first character, the one behind the last, type).

    A span includes every word that it overlaps. Of two spans with a common word, the longer one is kept, or the first.
    """
    tags = ["O"] * len(places)
    for start, end, kind in sorted(spans, key=lambda span: (span[0] - span[1], span[0])):
        touched = words_in(places, start, end)
        if all(tags[at] == "O" for at in touched):
            for at in touched:
                tags[at] = f"{'I' if at > touched.start else 'B'}-{kind}"
    return tags


def place_of(text: str, start: int, end: int, quoted: str) -> tuple[int, int]:
    """The nearest place of what a span quotes, where that is not at its own; without such a place its own."""
    before, after = text.rfind(quoted, 0, start + len(quoted)), text.find(quoted, start)
    if not quoted or text[start:end] == quoted or max(before, after) < 0:
        return start, end
    nearest = min((at for at in (before, after) if at >= 0), key=lambda at: abs(at - start))
    return nearest, nearest + len(quoted)
