"""A WordPiece trace as a learner reads it: each step with what it changed, then the greedy search as a staircase."""

from __future__ import annotations

import html
import unicodedata
from itertools import groupby

from demos.bert.tokens.wordpiece import NO_PIECE, TOO_LONG, Part, Rules, Stage, Trace, Try, Word
from demos.figures.token_chips import token_label, visible

MAX_CHANGES = 12
MAX_PARTS = 60
MAX_CHARACTERS = 400  # drawn of one part
MAX_WORDS = 12  # words whose search is drawn
MAX_ROWS = 600  # tries drawn for one word; the search itself is never cut

_STEPS = {  # name: (title, what it says when nothing happened)
    "typed": ("As typed", ""),
    "special": ("Keep special tokens whole", "no special token is written here"),
    "clean_text": ("Clean: control characters out, white space to spaces", "nothing to clean"),
    "handle_chinese_chars": ("Set Chinese characters apart", "no Chinese character"),
    "strip_accents": ("Strip accents (NFD, marks dropped)", "no accent"),
    "lowercase": ("Lower-case", "nothing to lower"),
    "spaces": ("Split at white space", ""),
    "punctuation": ("Split off punctuation", ""),
}


def trace_figure(trace: Trace) -> str:
    """Every step of `trace`, in the order the tokenizer takes them."""
    rows = "".join(_stage_row(stage, before) for stage, before in _with_before(trace))
    table = (
        '<table class="plain steps"><caption>From characters to words</caption><thead><tr><th scope="col">step</th>'
        f'<th scope="col">text</th><th scope="col">what changed</th></tr></thead><tbody>{rows}</tbody></table>'
    )
    searches = "".join(search_figure(word, trace.rules) for word in trace.words[:MAX_WORDS])
    more = len(trace.words) - MAX_WORDS
    rest = f'<p class="aside">… and {more:,} more words, cut in the same way.</p>' if more > 0 else ""
    return f'<div class="trace">{table}{searches}{rest}{_result(trace)}</div>'


def search_figure(word: Word, rules: Rules) -> str:
    """The greedy search over one word: a staircase of candidates a round, misses struck out, the hit at its foot."""
    name = visible(word.text[:MAX_CHARACTERS])
    title = f'<p class="search-title"><b><bdi>{name}</bdi></b> <span>{_verdict(word, rules)}</span></p>'
    if not word.tries:
        return f'<section class="search" aria-label="Search">{title}</section>'
    rounds = []
    drawn = 0
    for number, (_, group) in enumerate(groupby(word.tries, key=lambda one: one.start), start=1):
        tries = list(group)
        room = max(0, MAX_ROWS - drawn)
        shown = [*tries[:-1][:room], tries[-1]]
        drawn += len(shown)
        hidden = len(tries) - len(shown)
        skipped = f'<li class="skipped">… {hidden} more candidates that failed …</li>' if hidden else ""
        rows = [_try_row(word.text, one) for one in shown]
        rounds.append(
            f'<li class="round"><span class="round-name">{_round_name(number, tries, rules)}</span>'
            f'<ol class="stairs">{"".join(rows[:-1])}{skipped}{rows[-1]}</ol></li>'
        )
    label = html.escape(f"The search in {word.text}"[:80])
    return (
        f'<section class="search" aria-label="Search">{title}<div class="scroll" tabindex="0" role="region" '
        f'aria-label="{label}"><ol class="rounds">{"".join(rounds)}</ol></div></section>'
    )


def why_unknown(word: Word, rules: Rules) -> str:
    """Why a word ended as [UNK], in one plain sentence (not escaped); empty where it did not."""
    if word.why_unknown == TOO_LONG:
        return (
            f"{len(word.text):,} characters are more than {rules.max_characters}, "
            f"so the word becomes {rules.unk_token} without a single try."
        )
    if word.why_unknown == NO_PIECE:
        shortest = (rules.prefix if word.stuck_at else "") + word.text[word.stuck_at]
        lost = ", and the pieces found before it are lost" if word.stuck_at else ""
        return f"Not even “{shortest}” is in the vocabulary, so the whole word becomes {rules.unk_token}{lost}."
    return ""


def _verdict(word: Word, rules: Rules) -> str:
    if word.special:
        return "a special token: never split"
    if word.why_unknown:
        return html.escape(why_unknown(word, rules))
    if not word.tries:
        return "→ " + " ".join(token_label(piece, rules.prefix) for piece in word.pieces)
    if len(word.pieces) == 1:
        return "is in the vocabulary as it stands: one token"
    return f"{len(word.pieces)} pieces after {len(word.tries)} look-ups"


def _round_name(number: int, tries: list[Try], rules: Rules) -> str:
    misses = sum(one.id is None for one in tries)
    failed = f"{misses} {'miss' if misses == 1 else 'misses'}" if misses else "found at once"
    where = f"from character {tries[0].start + 1}" + (f", with {rules.prefix}" if tries[0].start else "")
    return html.escape(f"Piece {number}: {where} ({failed})")


def _try_row(word: str, one: Try) -> str:
    past, candidate, rest = word[: one.start], word[one.start : one.end], word[one.end :]
    hit = one.id is not None
    mark = f"✓ id {one.id}" if hit else "✗"
    said = "found" if hit else "not in the vocabulary"
    hashes = '<span class="hashes">##</span>' if one.start else ""
    return (
        f'<li class="{"hit" if hit else "miss"}"><span class="past">{html.escape(past)}</span>'
        f'<span class="candidate">{hashes}{html.escape(candidate)}</span>'
        f'<span class="rest">{html.escape(rest)}</span> <span class="mark" title="{said}">{mark}</span></li>'
    )


def _with_before(trace: Trace) -> list[tuple[Stage, tuple[Part, ...]]]:
    before = [(), *[stage.parts for stage in trace.stages[:-1]]]
    return list(zip(trace.stages, before, strict=True))


def _stage_row(stage: Stage, before: tuple[Part, ...]) -> str:
    title, quiet = _STEPS[stage.name]
    if not stage.on and stage.name != "special":
        note, same = "this tokenizer skips the step", True
    elif stage.changes:
        note, same = _changes(stage.changes), False
    elif stage.name in ("spaces", "punctuation"):
        count = len(stage.parts)
        same = count == len(before)
        what = "words" if stage.name == "punctuation" else "stretches"
        note = "nothing to split" if same else f"{count:,} {what}"
    elif stage.name == "special" and stage.on:
        note, same = "special tokens go through untouched", False
    else:
        note, same = quiet, stage.name != "typed"
    parts = "".join(
        f'<span class="part{" special" if part.special else ""}"><bdi>{visible(part.text[:MAX_CHARACTERS])}</bdi>'
        f"{'…' if len(part.text) > MAX_CHARACTERS else ''}</span>"
        for part in stage.parts[:MAX_PARTS]
    )
    more = len(stage.parts) - MAX_PARTS
    parts += f" … and {more:,} more" if more > 0 else ""
    return (
        f'<tr class="{"same" if same else "changed"}"><th scope="row">{title}</th>'
        f'<td class="result">{parts}</td><td>{note}</td></tr>'
    )


def _changes(changes: tuple[tuple[str, str], ...]) -> str:
    shown = ", ".join(f"{_character(old)} → {_character(new)}" for old, new in changes[:MAX_CHANGES])
    more = len(changes) - MAX_CHANGES
    return shown + (f" and {more:,} more" if more > 0 else "")


def _character(text: str) -> str:
    """One change's side: a character, or a word for what can't be seen."""
    if not text:
        return "<i>nothing</i>"
    if text.isspace() and text == " ":
        return "<i>space</i>"
    if len(text) == 3 and text[0] == text[2] == " ":
        return f"<bdi>␣{visible(text[1])}␣</bdi>"
    if len(text) == 1 and unicodedata.combining(text):
        return f"<bdi>◌{text}</bdi>"
    return f"<bdi>{visible(text)}</bdi>"


def _result(trace: Trace) -> str:
    if not trace.words:
        return '<p class="aside">Nothing is left to cut.</p>'
    tokens = "".join(
        f'<li class="chip {"special" if word.special else "unknown" if word.why_unknown else ""}'
        f'{" joined" if number else ""}"><span class="piece">{token_label(piece, trace.rules.prefix)}</span>'
        f'<span class="below">{word.ids[number]}</span></li>'
        for word in trace.words[:MAX_PARTS]
        for number, piece in enumerate(word.pieces)
    )
    more = len(trace.words) - MAX_PARTS
    rest = f'<p class="aside">… and {more:,} more words.</p>' if more > 0 else ""
    return f'<p class="row-name"><b>Result</b></p><ol class="chips" aria-label="Tokens">{tokens}</ol>{rest}'
