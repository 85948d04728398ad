"""Tokens as a learner sees them: chips, the text they came from, counts and tables (HTML, every text escaped)."""

import unicodedata
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from markupsafe import Markup

from demos.bert.model.encoding import Encoding
from demos.bert.tokens.counts import Counts
from demos.figures.palette import WORDS
from demos.templates import templates

TEXT = templates(__file__, "text_chips.html")
UNDER = ("id", "position", "characters", "nothing")
MAX_DROPPED_SHOWN = 60
MASKS = ("[MASK]", "<mask>")  # grey as special tokens are; [UNK] keeps its word's hue
_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


class Stretch(NamedTuple):
    text: str
    tokens: Sequence[int] = ()  # into which its characters went
    hue: str = ""
    lost: bool = False


def visible(text: str) -> Markup:
    """`text` escaped, with characters that nobody could see written as U+XXXX."""
    if text.isprintable() and "\ufffd" not in text:
        return Markup.escape(text)
    return Markup().join(
        TEXT.code_point(ord(character))
        if unicodedata.category(character) in _INVISIBLE or character == "\ufffd"
        else character
        for character in text
    )


def hue(word_index: int | None) -> str:
    """The CSS class of a word's hue; special tokens are grey."""
    return "special" if word_index is None else f"w{word_index % len(WORDS)}"


def hue_style(encoding: Encoding, index: int) -> str:
    """The style that gives an element a token's hue."""
    word = encoding.word_index[index]
    return "--hue:var(--special)" if word is None else f"--hue:var(--word-{word % len(WORDS)})"


@lru_cache(maxsize=10_000)
def token_label(token: str, prefix: str = "##") -> Markup:
    """A token's text, escaped; the continuation mark is set apart from the letters."""
    return TEXT.token_label(token, prefix)


def picture(encoding: Encoding, counts: Counts, unk_token: str = "[UNK]", under: str = "id") -> Markup:
    """The Tokens lesson's picture: each sentence's text above its chips, then what they add up to."""
    sentences = [
        _chips(encoding, segment, unk_token, under) | {"source": source_text(encoding, segment)}
        for segment in _segments(encoding)
    ]
    return TEXT.picture(sentences, encoding, counts, MAX_DROPPED_SHOWN)


def source_text(encoding: Encoding, segment: int) -> Markup:
    """A sentence's characters, each marked with the tokens it went into; what no token holds is shown as such."""
    text = encoding.text_pair if segment else encoding.text
    spans = [
        (i, *encoding.offsets[i])
        for i in _positions(encoding, segment)
        if encoding.sequence_ids[i] == segment and encoding.offsets[i][1] > encoding.offsets[i][0]
    ]
    dropped = encoding.dropped_pair if segment else len(encoding.dropped) - encoding.dropped_pair
    end = max((end for _, _, end in spans), default=0) if dropped else len(text)
    edges = sorted({0, end, *(start for _, start, _ in spans), *(end for _, _, end in spans)})
    owners: list[list[int]] = [[] for _ in edges]
    for i, first, last in spans:
        for tokens in owners[bisect_left(edges, first) : bisect_left(edges, last)]:
            tokens.append(i)
    stretches: list[Stretch] = []
    for start, stop, tokens in zip(edges, edges[1:], owners, strict=False):
        if tokens:
            colour = hue(encoding.word_index[tokens[0]])
            stretches.append(Stretch(visible(text[start:stop]), tokens, colour))
        else:
            stretches += [_unowned(character) for character in text[start:stop]]
    return TEXT.source(stretches, text[end:])


def numbers_table(encoding: Encoding) -> Markup:
    """Everything the tokenizer hands to the model, one row per token."""
    words = ["–" if word is None else word for word in encoding.word_ids]
    spans = [_span(encoding, i) for i in range(len(encoding))]
    special = ["yes" if mark else "" for mark in encoding.special_tokens_mask]
    n, ids = len(encoding), (encoding.input_ids, encoding.token_type_ids)
    return TEXT.numbers(list(zip(range(n), encoding.tokens, *ids, [1] * n, words, spans, special, strict=True)))


def comparison(rows: Sequence[tuple[Sequence[str], Encoding, Counts]], absent: Sequence[str]) -> Markup:
    """The same input under several tokenizers: (the models that cut it this way, its tokens, its counts) a row."""
    shown = []
    for titles, encoding, counts in rows:
        sentences = [_chips(encoding, segment) for segment in _segments(encoding)]
        shown.append({"titles": titles, "counts": counts, "sentences": sentences})
    return TEXT.comparison(shown, absent)


def _segments(encoding: Encoding) -> tuple[int, ...]:
    return (0, 1) if encoding.text_pair else (0,)


def _positions(encoding: Encoding, segment: int) -> range:
    """The tokens of one segment, which are consecutive: [CLS] A [SEP], then B [SEP]."""
    border = encoding.sentence_b_start or len(encoding)
    return range(border, len(encoding)) if segment else range(border)


def _chips(encoding: Encoding, segment: int, unk_token: str = "[UNK]", under: str = "id") -> dict[str, object]:
    """One segment's tokens: one hue per word, continuations joined to their word."""
    words, text = encoding.word_index, encoding.text_pair if segment else encoding.text
    marked = {word for word, token in zip(words, encoding.tokens, strict=True) if token in MASKS}
    positions = _positions(encoding, segment)
    chips = []
    for i in positions:
        span = encoding.offsets[i] if encoding.sequence_ids[i] is not None else None
        kinds = [hue(None if words[i] in marked else words[i])]
        if i > 0 and words[i] is not None and words[i - 1] == words[i]:
            kinds.append("joined")
        if encoding.tokens[i] == unk_token:
            kinds.append("unknown")
        below = {"id": encoding.input_ids[i], "position": i, "characters": _span(encoding, i)}
        chips.append(
            {
                "token": i,
                "text": encoding.tokens[i],
                "kind": " ".join(kinds),
                "below": below.get(under),
                "id": encoding.input_ids[i],
                "segment": encoding.token_type_ids[i],
                "span": span,
                "characters": text[slice(*span)] if span else "",
            }
        )
    return {"letter": "AB"[segment], "start": positions.start, "chips": chips}


def _unowned(character: str) -> Stretch:
    """A character that went into no token: white space stays, anything else is shown as removed."""
    if character.isspace() and unicodedata.category(character) not in ("Zl", "Zp"):
        return Stretch(character)
    shown = f"◌{character}" if unicodedata.combining(character) else visible(character)
    return Stretch(shown, lost=True)


def _span(encoding: Encoding, i: int) -> str:
    """The characters of a token in its sentence; a dash for one that the tokenizer added."""
    start, end = encoding.offsets[i]
    return f"{start}–{end}" if encoding.sequence_ids[i] is not None else "–"
