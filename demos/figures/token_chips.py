"""Tokens as a learner sees them: chips, the text they came from, counts and tables (HTML, every text escaped)."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence

from demos.bert.model.encoding import Encoding
from demos.bert.tokens.counts import Counts
from demos.figures.palette import WORDS
from demos.templates import markup

UNDER = ("id", "position", "characters", "nothing")
MAX_DROPPED_SHOWN = 60
_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


@markup
def visible(text: str) -> str:
    """`text` escaped, with characters that nobody could see written as U+XXXX."""
    return "".join(
        f'<span class="code-point">U+{ord(character):04X}</span>'
        if unicodedata.category(character) in _INVISIBLE or character == "\ufffd"
        else html.escape(character)
        for character in text
    )


def hue(word_index: int | None) -> str:
    """The CSS class of a word's hue; special tokens are grey."""
    return "special" if word_index is None else f"w{word_index % len(WORDS)}"


def hue_style(encoding: Encoding, index: int) -> str:
    """The style that gives an element a token's hue."""
    word = encoding.word_index[index]
    return "--hue:var(--special)" if word is None else f"--hue:var(--word-{word % 8})"


@markup
def token_label(token: str, prefix: str = "##") -> str:
    """A token's text, escaped; the continuation mark is set apart from the letters."""
    if token.startswith(prefix) and token != prefix:
        return f'<span class="hashes">{prefix}</span><bdi>{html.escape(token.removeprefix(prefix))}</bdi>'
    return f"<bdi>{html.escape(token)}</bdi>"


@markup
def picture(encoding: Encoding, counts: Counts, unk_token: str = "[UNK]", under: str = "id") -> str:
    """The lesson's picture: each sentence's text above its chips, then what they add up to."""
    rows = []
    for segment in (0, 1):
        if segment and not encoding.text_pair:
            continue
        text = encoding.text_pair if segment else encoding.text
        rows.append(
            f'<section class="sentence" aria-label="Sentence {"AB"[segment]}">'
            f'<p class="row-name"><b>{"AB"[segment]}</b> segment {segment}</p>'
            f"{source_text(encoding, segment)}{chips(encoding, segment, unk_token, under)}</section>"
            if text or not segment
            else ""
        )
    hint = "Point at a token or a letter (or use Tab and the arrow keys) to see which belong together."
    return (
        f'<div class="tokens">{"".join(rows)}<p class="told" data-hint="{hint}">{hint}</p>'
        f"{limit_notice(encoding, counts)}{counts_strip(counts)}</div>"
    )


@markup
def chips(encoding: Encoding, segment: int, unk_token: str = "[UNK]", under: str = "id") -> str:
    """One segment's tokens as an ordered list: one hue a word, continuations joined to their word."""
    items: list[str] = []
    words = encoding.word_index
    special_words = {word for word, token in zip(words, encoding.tokens, strict=True) if _is_marker(token)}
    for i in _positions(encoding, segment):
        token, word = encoding.tokens[i], words[i]
        joined = i > 0 and word is not None and words[i - 1] == word
        classes = ["chip", hue(None if word in special_words else word)]
        classes += ["joined"] if joined else []
        classes += ["unknown"] if token == unk_token else []
        below = _below(encoding, i, under)
        items.append(
            f'<li class="{" ".join(classes)}" data-t="{i}" data-told="{html.escape(_told(encoding, i))}" '
            f'tabindex="{0 if not items else -1}"><span class="piece">{token_label(token)}</span>{below}</li>'
        )
    start = next(iter(_positions(encoding, segment)), 0)
    label = f"Tokens of sentence {'AB'[segment]}"
    return f'<ol class="chips" start="{start}" aria-label="{label}">{"".join(items)}</ol>'


@markup
def source_text(encoding: Encoding, segment: int) -> str:
    """A sentence's characters, each marked with the tokens it went into; what no token holds is shown as such."""
    text = encoding.text_pair if segment else encoding.text
    spans = [
        (i, *encoding.offsets[i])
        for i in _positions(encoding, segment)
        if encoding.sequence_ids[i] == segment and encoding.offsets[i][1] > encoding.offsets[i][0]
    ]
    lost_tokens = encoding.dropped_pair if segment else len(encoding.dropped) - encoding.dropped_pair
    kept_until = (max((end for _, _, end in spans), default=0)) if lost_tokens else len(text)
    edges = sorted({0, kept_until, *(start for _, start, _ in spans), *(end for _, _, end in spans)})
    starts_at = {edge: number for number, edge in enumerate(edges)}
    owners: list[list[int]] = [[] for _ in edges]
    for i, start, end in spans:
        for number in range(starts_at[start], starts_at[end]):
            owners[number].append(i)
    parts: list[str] = []
    first = True
    for number, start in enumerate(edges[:-1]):
        piece = text[start : edges[number + 1]]
        if owners[number]:
            colour = hue(encoding.word_index[owners[number][0]])
            linked = " ".join(map(str, owners[number]))
            parts.append(
                f'<span class="from {colour}" data-t="{linked}" tabindex="{0 if first else -1}">{visible(piece)}</span>'
            )
            first = False
        else:
            parts.append("".join(_unowned(character) for character in piece))
    if kept_until < len(text):
        parts.append(f'<span class="fell">{html.escape(text[kept_until:])}</span>')
    return f'<p class="source" dir="auto">{"".join(parts)}</p>'


@markup
def counts_strip(counts: Counts) -> str:
    """Five numbers with their names; a share of nothing is no number."""
    rows = (
        ("characters", f"{counts.characters:,}"),
        ("words and marks", f"{counts.words:,}"),
        ("tokens", f"{counts.tokens:,}"),
        ("tokens per word", f"{counts.tokens_per_word:.2f}" if counts.words else "–"),
        ("unknown", f"{counts.share_unknown:.0%}" if counts.pieces else "–"),
    )
    inside = "".join(f"<div><dt>{name}</dt><dd>{number}</dd></div>" for name, number in rows)
    return f'<dl class="counts">{inside}</dl>'


@markup
def limit_notice(encoding: Encoding, counts: Counts) -> str:
    """What fell off beyond the limit, shown; empty while everything fits."""
    if not encoding.dropped:
        return ""
    shown = "".join(
        f'<li class="chip fell">{token_label(token)}</li>' for token in encoding.dropped[:MAX_DROPPED_SHOWN]
    )
    more = len(encoding.dropped) - MAX_DROPPED_SHOWN
    rest = f'<p class="more">… and {more:,} more.</p>' if more > 0 else ""
    return (
        f'<div class="limit"><p><b>BERT reads {len(encoding)} tokens; this input has {counts.tokens:,}.</b> '
        f"{len(encoding.dropped):,} tokens fall off before the model sees them:</p>"
        f'<ol class="chips" aria-label="Tokens that fall off">{shown}</ol>{rest}</div>'
    )


@markup
def numbers_table(encoding: Encoding) -> str:
    """Everything the tokenizer hands to the model, one row a token."""
    names = ("position", "token", "id", "segment", "attention mask", "word", "characters", "special")
    rows = [
        (
            str(i),
            encoding.tokens[i],
            str(encoding.input_ids[i]),
            str(encoding.token_type_ids[i]),
            "1",
            "–" if encoding.word_ids[i] is None else str(encoding.word_ids[i]),
            _span(encoding, i) or "–",
            "yes" if encoding.special_tokens_mask[i] else "",
        )
        for i in range(len(encoding))
    ]
    return table(names, rows, "The tokenizer's output, token by token")


@markup
def table(names: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """A plain table, every cell escaped, in a box that scrolls sideways where the screen is narrow."""
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    name = html.escape(caption)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{name}"><table class="plain">'
        f"<caption>{name}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


@markup
def comparison(rows: Sequence[tuple[Sequence[str], Encoding, Counts]], absent: Sequence[str]) -> str:
    """The same input under several tokenizers: (the models that cut it this way, its tokens, its counts) a row."""
    parts = []
    for titles, encoding, counts in rows:
        names = html.escape(", ".join(titles))
        segments = (0, 1) if encoding.text_pair else (0,)
        lists = "".join(chips(encoding, segment) for segment in segments)
        told = "all of them added"
        if counts.pieces:
            told = f"{counts.tokens_per_word:.2f} per word, {counts.share_unknown:.0%} unknown"
        parts.append(
            f'<section class="tokenizer" aria-label="{names}"><p class="row-name"><b>{names}</b> '
            f"{counts.tokens:,} tokens, {told}</p>{lists}</section>"
        )
    if absent:
        listed = html.escape("; ".join(absent))
        parts.append(f'<p class="aside">Not on this machine yet: {listed}. Pick one in the bar above to fetch it.</p>')
    return f'<div class="tokens">{"".join(parts)}</div>'


def _positions(encoding: Encoding, segment: int) -> range:
    """The tokens of one segment, which lie together: [CLS] A [SEP], then B [SEP]."""
    border = encoding.sentence_b_start or len(encoding)
    return range(border, len(encoding)) if segment else range(border)


def _is_marker(token: str) -> bool:
    """A special token, also where someone wrote it into the text; [UNK] stands for a word and keeps its hue."""
    return token in ("[CLS]", "[SEP]", "[MASK]", "[PAD]")


def _span(encoding: Encoding, i: int) -> str:
    start, end = encoding.offsets[i]
    return f"{start}–{end}" if encoding.sequence_ids[i] is not None else ""


def _below(encoding: Encoding, i: int, under: str) -> str:
    if under == "nothing":
        return ""
    text = {"id": str(encoding.input_ids[i]), "position": str(i), "characters": _span(encoding, i) or "–"}[under]
    return f'<span class="below">{text}</span>'


def _told(encoding: Encoding, i: int) -> str:
    """One line about a token, shown while it is pointed at."""
    said = (
        f"{encoding.tokens[i]}  ·  position {i}  ·  id {encoding.input_ids[i]}  ·  segment {encoding.token_type_ids[i]}"
    )
    if encoding.sequence_ids[i] is None:
        return f"{said}  ·  added by the tokenizer"
    start, end = encoding.offsets[i]
    text = encoding.text_pair if encoding.sequence_ids[i] else encoding.text
    return f"{said}  ·  from characters {start} to {end}: {text[start:end]}"


def _unowned(character: str) -> str:
    """A character that went into no token: white space stays, anything else is shown as removed."""
    if character.isspace() and unicodedata.category(character) not in ("Zl", "Zp"):
        return html.escape(character)
    shown = visible(character) if not unicodedata.combining(character) else f"◌{character}"
    return f'<span class="lost" title="removed by the tokenizer">{shown}</span>'
