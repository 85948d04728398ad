"""The vocabulary explorer's answers: how many of each kind, what a search found, what an id is (HTML, escaped)."""

from __future__ import annotations

import html

from demos.bert.tokens.vocabulary import Entry, Found, Vocabulary
from demos.figures.token_chips import token_label, visible


def kinds_strip(vocabulary: Vocabulary) -> str:
    """How many entries of each kind there are; together, all of them."""
    rows = [("entries in all", len(vocabulary)), *((f"{kind}s", count) for kind, count in vocabulary.counts.items())]
    inside = "".join(f"<div><dt>{name}</dt><dd>{count:,}</dd></div>" for name, count in rows)
    return f'<dl class="counts">{inside}</dl>'


def found_figure(found: Found, prefix: str = "##") -> str:
    """A search's first entries as chips with their ids, and how many there are in all."""
    if not found.total:
        return told("No entry of the vocabulary fits.")
    noun = "entry" if found.total == 1 else "entries"
    shown = f", the first {len(found.entries):,} by id" if found.total > len(found.entries) else ""
    return (
        f'<p class="found" role="status"><b>{found.total:,}</b> {noun}{shown}</p>'
        f"{_chips(found.entries, prefix, 'Entries found')}"
    )


def words_figure(piece: str, found: Found, prefix: str = "##") -> str:
    """Which whole words begin with a piece."""
    name = f"“{html.escape(piece)}”"
    if not found.total:
        return told(f"No whole word of the vocabulary begins with “{piece}”.")
    noun = "whole word begins" if found.total == 1 else "whole words begin"
    shown = f"; the first {len(found.entries):,}:" if found.total > len(found.entries) else ":"
    return (
        f'<p class="found"><b>{found.total:,}</b> {noun} with {name}{shown}</p>'
        f"{_chips(found.entries, prefix, 'Whole words')}"
    )


def id_figure(entry: Entry, around: tuple[Entry, ...], size: int, width: int, prefix: str = "##") -> str:
    """What an id is: the number of a row, in the vocabulary and in the model's embedding matrix alike."""
    article = "an" if entry.kind[0] in "aeiou" else "a"
    return (
        f'<p class="found">Id <b>{entry.id}</b> is <b><bdi>{visible(entry.token)}</bdi></b>, '
        f"{article} {entry.kind}. An id is nothing but a row number: row {entry.id} of the {size:,} entries here, and "
        f"row {entry.id} of the model's embedding matrix ({size:,} × {width:,}). Its neighbours by number:</p>"
        f"{_chips(around, prefix, 'Neighbours by id', entry.id)}"
    )


def told(message: str) -> str:
    """One plain sentence in an answer's place."""
    return f'<p class="aside" role="status">{html.escape(message)}</p>'


def _chips(entries: tuple[Entry, ...], prefix: str, name: str, marked: int | None = None) -> str:
    items = "".join(
        f'<li class="chip{" marked" if entry.id == marked else ""}"><span class="piece">'
        f'{token_label(entry.token, prefix)}</span><span class="below">{entry.id}</span></li>'
        for entry in entries
    )
    return f'<div class="tokens small"><ol class="chips" aria-label="{name}">{items}</ol></div>'
