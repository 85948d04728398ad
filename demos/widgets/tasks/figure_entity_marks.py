"""Named entities in a text: pieces with their labels, words marked with their type, true beside found (HTML)."""

from __future__ import annotations

import html
from collections.abc import Sequence

from demos.figures.palette import CLASSES
from demos.figures.token_chips import hue, token_label
from demos.training.tasks.entities.events import TagMistake
from demos.training.tasks.entities.scores import Span, verdict_of
from demos.training.tasks.entities.task import CutSentence

MOST_WORDS = 60  # of one sentence

Mark = tuple[int, int, str, str]  # first word, one past the last, type, what is written behind the type


def kind_colour(types: Sequence[str], kind: str) -> str:
    """A type's hue, by its place among the types; beyond the palette's eight they repeat, and the names must do."""
    return CLASSES[types.index(kind) % len(CLASSES)] if kind in types else CLASSES[-1]


def pieces_html(sentence: CutSentence, types: Sequence[str]) -> str:
    """One sentence's pieces as chips in their words' hues, under each the label that is asked there."""
    items = []
    for at, (token, word, label) in enumerate(zip(sentence.tokens, sentence.word, sentence.labels, strict=True)):
        joined = " joined" if word is not None and at and sentence.word[at - 1] == word else ""
        if label[1:2] == "-":
            colour = kind_colour(types, label[2:])
            below = f'<span class="below kind" style="--kind:{colour}">{cut_text(label, 20)}</span>'
        else:
            below = f'<span class="below">{label or ("-100" if word is None else "X")}</span>'
        items.append(
            f'<li class="chip {hue(word)}{joined}"><span class="piece">{token_label(token)}</span>{below}</li>'
        )
    return f'<div class="small"><ol class="chips" aria-label="Pieces and their labels">{"".join(items)}</ol></div>'


def mistake_html(one: TagMistake, types: Sequence[str]) -> str:
    """A test sentence twice: with what is there, and below it with what was found and how it is wrong."""
    found = [(span.start, span.end, span.kind) for span in one.found]
    true_marks = [(*span, _unless_right(verdict_of(span, found), ("missed",))) for span in one.true]
    found_marks = [
        (*span, f"{whole.probability:.0%} {_unless_right(_found_verdict(span, one.true))}".strip())
        for span, whole in zip(found, one.found, strict=True)
    ]
    wrong = [start for start, *_ in set(one.true) ^ set(found)]
    first = max(0, min(wrong) - 10) if len(one.words) > MOST_WORDS else 0
    lines = "".join(
        f'<p><span class="which">{which}</span><span>{marked_html(one.words, marks, types, first)}</span></p>'
        for which, marks in (("true", true_marks), ("found", found_marks))
    )
    return f"<li>{lines}</li>"


def _found_verdict(span: Span, true: Sequence[Span]) -> str:
    verdict = verdict_of(span, true)
    return "invented" if verdict == "missed" else verdict


def _unless_right(verdict: str, told_here: Sequence[str] = ("invented", "wrong border", "wrong type")) -> str:
    return verdict if verdict in told_here else ""


def marked_html(words: Sequence[str], marks: Sequence[Mark], types: Sequence[str], first: int = 0) -> str:
    """MOST_WORDS words from `first` on, escaped, with the marked ones in their type's colour and its name beside."""
    first = min([first, *(start for start, end, *_ in marks if start < first < end)])
    last = min(len(words), first + MOST_WORDS)
    begun = {start: (end, kind, note) for start, end, kind, note in marks}
    parts = ["…"] if first else []
    at = first
    while at < last:
        if at in begun:
            end, kind, note = begun[at]
            wrong = " wrong" if any(one.isalpha() for one in note) else ""
            parts.append(
                f'<mark class="entity{wrong}" style="--hue:{kind_colour(types, kind)}">'
                f"{cut_text(' '.join(words[at:end]), 200)} <b>{cut_text(kind, 24)}</b>"
                f"{f' <i>{html.escape(note)}</i>' if note else ''}</mark>"
            )
            at = end
        else:
            parts.append(cut_text(words[at], 60))
            at += 1
    return " ".join([*parts, *["…"] * (last < len(words))])


def cut_text(text: str, length: int) -> str:
    """At most `length` characters on one line, escaped."""
    line = " ".join(text.split())
    return html.escape(line if len(line) <= length else line[: length - 1] + "…")
