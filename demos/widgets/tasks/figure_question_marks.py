"""A paragraph with an answer in it, as HTML: characters marked in the text, or tokens as chips with start and end."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from demos.bert.model.encoding import MAX_TOKENS, Encoding, encode
from demos.figures.token_chips import hue, token_label
from demos.training.tasks.questions.data import QuestionExample

AROUND = 90  # characters on each side, where only a part of the paragraph is shown
CHIPS = 14  # tokens of the paragraph on each side of the answer

Range = tuple[int, int]  # first character, and one past the last


def marked_html(text: str, marks: Mapping[str, Range], part: bool = False) -> str:
    """The text, escaped, with what is "true" underlined and what is "found" marked; the two may overlap.

    `part` leaves out what is more than AROUND characters away from both.
    """
    known = {name: (start, end) for name, (start, end) in marks.items() if start < end}
    low, high = 0, len(text)
    if part and known:
        low = _edge(text, min(start for start, _ in known.values()) - AROUND, True)
        high = _edge(text, max(end for _, end in known.values()) + AROUND, False)
    first, past = known.get("found", (low, low))
    inside = _underlined(text, known, first, past)
    found = f'<mark class="found">{inside}</mark>' if inside else ""
    shown = f"{_underlined(text, known, low, first)}{found}{_underlined(text, known, past, high)}"
    return f"{'… ' if low else ''}{shown}{' …' if high < len(text) else ''}"


def _underlined(text: str, marks: Mapping[str, Range], low: int, high: int) -> str:
    """The characters from `low` to `high`, escaped, with what of them is "true" underlined."""
    start, end = (min(max(edge, low), high) for edge in marks.get("true", (high, high)))
    before, inside, after = (html.escape(text[a:b]) for a, b in ((low, start), (start, end), (end, high)))
    return f'{before}<u class="true">{inside}</u>{after}' if inside else before + after


def _edge(text: str, place: int, left: bool) -> int:
    """The nearest blank inwards, so that no word is cut; the text's end where it is near."""
    if place <= 0 or place >= len(text):
        return 0 if left else len(text)
    blank = text.find(" ", place) + 1 if left else text.rfind(" ", 0, place)
    return blank if blank > 0 else place


def example_chips(example: QuestionExample, tokenizer: Any) -> str:
    """The example as BERT reads it: the question's tokens, then the paragraph's around its answer, both ends named."""
    encoding = encode(tokenizer, example.question, example.context, MAX_TOKENS)
    segments = encoding.token_type_ids
    answer = [
        at
        for at, (start, end) in enumerate(encoding.offsets)
        if encoding.sequence_ids[at] == 1 and start < example.end and end > example.start
    ]
    first, last = (answer[0], answer[-1]) if answer else (-1, -1)
    begun = segments.index(1) if 1 in segments else len(segments)
    low, high = (max(begun, first - CHIPS), last + CHIPS + 1) if answer else (begun, begun + 2 * CHIPS)
    rows = []
    for segment, places in enumerate((range(begun), range(low, min(high, len(encoding))))):
        before, after = (low - begun, max(0, len(encoding) - high)) if segment else (0, 0)
        chips = [_chip(encoding, at, first, last) for at in places]
        chips = [_gap(before), *chips, _gap(after)]
        rows.append(
            f'<div><span class="segment">segment {segment}</span><ol class="chips" '
            f'aria-label="{("The question", "The paragraph")[segment]}">{"".join(chips)}</ol></div>'
        )
    return f'<div class="sequences pair small">{"".join(rows)}</div>'


def _chip(encoding: Encoding, at: int, first: int, last: int) -> str:
    words = encoding.word_index
    joined = " joined" if at and words[at] is not None and words[at - 1] == words[at] else ""
    marked = " marked" if first <= at <= last else ""
    ends = " ".join(name for name, place in (("start", first), ("end", last)) if place == at)
    below = f'<span class="below">{ends}</span>' if ends else ""
    return (
        f'<li class="chip {hue(words[at])}{joined}{marked}"><span class="piece">{token_label(encoding.tokens[at])}'
        f"</span>{below}</li>"
    )


def _gap(tokens: int) -> str:
    return f'<li class="gap">… {tokens} more token{"" if tokens == 1 else "s"} …</li>' if tokens > 0 else ""
