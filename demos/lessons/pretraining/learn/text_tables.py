"""Steps of pre-training in words and tables: losses, guesses before and after, moved words (HTML, escaped)."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from demos.figures.tables import column_heads, scrolling_table
from demos.figures.token_chips import visible
from demos.lessons.pretraining.learn.figure import NOWHERE, THERE, groups

TOP_ROWS = 15
KINDS = ("", "[MASK] instead", "a random word instead", "left as it is")  # as demos/bert/pretraining/corruption.py
MARKS = ("", "■", "◆", "●")
NEXT = ("is next", "is not next")


class AnswerLike(Protocol):
    """What a model says at a masked place."""

    @property
    def top(self) -> tuple[tuple[str, float], ...]: ...
    @property
    def probability(self) -> float: ...
    @property
    def rank(self) -> int: ...


@dataclass(frozen=True)
class AskedRow:
    """One masked sentence, and what is said of it at two times."""

    before_gap: str
    after_gap: str
    word: str  # the hidden one
    own: bool  # of the reader's text
    held_out: bool
    before: AnswerLike
    after: AnswerLike | None  # None before the first step


@dataclass(frozen=True)
class Change:
    """A mean loss at two times; NaN where there is nothing to ask."""

    name: str
    before: float
    after: float | None
    worse: str = ""  # why it may have grown


@dataclass(frozen=True)
class ReadToken:
    """One token of a corrupted sequence."""

    token: str
    kind: int  # 0, or chosen: 1 masked, 2 random, 3 kept
    truth: str = ""  # where it was chosen, the text's own token
    guess: str = ""  # and the likeliest one
    loss: float = math.nan


@dataclass(frozen=True)
class ReadSequence:
    """One instance as the step read it."""

    tokens: Sequence[ReadToken]
    following: int | None  # 0 is next, 1 is not; None where it was not asked


def chance(value: float) -> str:
    """A probability in few characters."""
    return f"{value:.2f}" if value >= 0.005 else f"{value:.0e}".replace("e-0", "e-") if value else "0"


def power(value: float) -> str:
    """A small number in few characters: 1.9e-3."""
    return f"{value:.1e}".replace("e-0", "e-").replace("e+00", "")


def step_html(step: int, masked: float, following: float, right: float, norm: float, clip: float) -> str:
    """The last step's losses as a sum, and its gradient."""
    nothing = math.isnan(following)
    parts = [f"<li><b>{masked:.2f}</b>masked words ({right:.0%} right)</li>"]
    if not nothing:
        parts.append(f"<li><b>+ {following:.2f}</b>next sentence</li><li><b>= {masked + following:.2f}</b>loss</li>")
    cut = f", cut to {clip:g}" if norm > clip else ""
    parts.append(f"<li><b>{norm:.2f}</b>length of the gradient{cut}</li>")
    return f'<p class="learn-step">Step {step:,}</p><ul class="scores">{"".join(parts)}</ul>'


def asked_html(rows: Sequence[AskedRow], changes: Sequence[Change], mask: str) -> str:
    """Each masked sentence with its three likeliest words before and after; then the mean losses."""
    trained = any(row.after is not None for row in rows)
    head = column_heads(
        ("sentence, one word hidden", "before the first step", *(["now"] if trained else []), "the hidden word")
    )
    body = "".join(_asked_row(row, mask, trained) for row in rows)
    table = scrolling_table("", head, body, name="Guesses before and after", kind="learn-asked")
    told = "".join(f"<li>{_change(one)}</li>" for one in changes if not math.isnan(one.before))
    return f'{table}<ul class="learn-changes">{told}</ul>'


def _asked_row(row: AskedRow, mask: str, trained: bool) -> str:
    kind = ("held out" if row.held_out else "trained on") if row.own else "general English"
    gap = f'<span class="gap">{html.escape(mask)}</span>'
    sentence = f"{visible(row.before_gap)}{gap}{visible(row.after_gap)} <small>{kind}</small>"
    now = f"<td>{_top(row.after, row.word)}</td>" if trained and row.after is not None else ""
    p, place = chance(row.before.probability), f"{row.before.rank:,}"
    if row.after is not None:
        p += f" → <b>{chance(row.after.probability)}</b>"
        place += f" → {row.after.rank:,}"
    return (
        f'<tr class="{"own" if row.own else "general"}"><th scope="row">{sentence}</th>'
        f"<td>{_top(row.before, row.word)}</td>{now}"
        f"<td><b>{visible(row.word)}</b> {p}<br><small>place {place}</small></td></tr>"
    )


def _top(answer: AnswerLike, word: str) -> str:
    return ", ".join(
        f"{'<b>' if token == word else ''}{visible(token)}{'</b>' if token == word else ''} "
        f"<small>{chance(probability)}</small>"
        for token, probability in answer.top
    )


def _change(one: Change) -> str:
    if one.after is None:
        return f"{html.escape(one.name)}: <b>{one.before:.2f}</b>"
    better = "nearer" if one.after < one.before else "farther"
    why = f" <small>({html.escape(one.worse)})</small>" if one.worse and better == "farther" else ""
    return f'{html.escape(one.name)}: {one.before:.2f} → <b class="{better}">{one.after:.2f}</b>{why}'


def rows_html(moved: np.ndarray, in_input: np.ndarray, asked: np.ndarray, steps: int, first: bool, limit: float) -> str:
    """How many rows moved in these `steps`, and how far each group's typical one did.

    `first`: they are the copy's very first step, in which none moves farther than `limit`, the learning rate × √d.
    """
    total, some = len(moved), int((moved > 0).sum())
    found = groups(in_input, asked)
    middle = {name: float(np.median(moved[members])) for name, members in found.items() if members.any()}
    said = [
        f"<b>{some:,} of {total:,} rows moved</b>, although only {int((in_input > 0).sum()):,} stood in the input: the "
        "matrix is the decoder’s too, and there each wrong word is pushed down a little, by its probability."
    ]
    if len(middle) == 2 and middle[NOWHERE]:
        times = middle[THERE] / middle[NOWHERE]
        many = f"{times:,.0f}" if times >= 10 else f"{times:.1f}"
        said.append(
            f"A row of the batch{'es' * (steps > 1)} moved {power(middle[THERE])} (the median), {many} times as far as "
            f"one that stood nowhere in it ({power(middle[NOWHERE])})."
        )
    if first:
        said.append(
            f"None moves farther than {power(limit)}, the learning rate × √d: AdamW’s first step divides each number "
            "of the gradient by its own size."
        )
    elif steps == 1:
        said.append("AdamW keeps running averages of the gradient, so what earlier steps asked for moves rows too.")
    far = far_first(moved)
    absent = int(found[NOWHERE][far].sum())
    if absent and steps > 1:
        said.append(
            f"Of the {len(far)} that moved farthest, {absent} never occurred: the decoder alone moves these, away from "
            "each place where they were believed in, and under AdamW a steady push adds up, however small."
        )
    return f"<p>{'</p><p>'.join(said)}</p>"


def top_rows_html(
    tokens: Sequence[str],
    places: np.ndarray,
    moved: np.ndarray,
    in_input: np.ndarray,
    asked: np.ndarray,
    wrongly: np.ndarray,
    gradients: tuple[np.ndarray, np.ndarray, np.ndarray] | None,
) -> str:
    """The rows at `places`, the farthest moved first; `tokens` are theirs, the arrays are over the vocabulary."""
    names = ["word", "moved", "in the input", "right answer", "believed in wrongly"]
    names += ["gradient", "by the input", "by the decoder"] if gradients else []
    body = ""
    for token, at in zip(tokens, places, strict=True):
        cells = [f"{moved[at]:.2e}".replace("e-0", "e-"), f"{in_input[at]} ×", f"{asked[at]} ×", f"{wrongly[at]:.3f}"]
        cells += [f"{part[at]:.3f}" for part in gradients] if gradients else []
        body += f'<tr><th scope="row">{visible(token)}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
    return scrolling_table(f"The {len(tokens)} words whose embeddings moved farthest", column_heads(names), body)


def far_first(moved: np.ndarray, count: int = TOP_ROWS) -> np.ndarray:
    """The rows that moved farthest, the farthest first."""
    return np.argsort(-moved, kind="stable")[:count]


def batch_html(sequences: Sequence[ReadSequence], step: int, more: int) -> str:
    """What a step reads: chosen tokens marked, with the true one, and the guess and its loss where there is one."""
    items = ""
    for one in sequences:
        words = " ".join(_read_token(token) for token in one.tokens)
        asked = "" if one.following is None else f' <small class="asked-next">B {NEXT[one.following]}</small>'
        items += f"<li>{words}{asked}</li>"
    rest = f'<p class="aside">… and {more} more sequences.</p>' if more else ""
    return (
        f'<p class="aside">Step {step:,} reads (■ masked, ◆ random word, ● kept; the true word and, once the step is '
        f'taken, the guess and its loss):</p><ol class="learn-batch">{items}</ol>{rest}'
    )


def _read_token(one: ReadToken) -> str:
    if not one.kind:
        return f"<span>{visible(one.token)}</span>"
    guess = ""
    if one.guess:
        mark = "✓" if one.guess == one.truth else visible(one.guess)
        guess = f", {mark} {one.loss:.2f}"
    return (
        f'<span class="chosen" title="{KINDS[one.kind]}">{MARKS[one.kind]} {visible(one.token)} '
        f"<small>{visible(one.truth)}{guess}</small></span>"
    )


def numbers_html(points: Sequence[Sequence[float]], caption: str) -> str:
    """Every step: its number, both losses, the gradient's norm, the share right, and the loss from random weights."""
    names = ("step", "masked words", "next sentence", "gradient", "right", "from random weights")

    def cell(value: float) -> str:
        return "–" if math.isnan(value) else f"{value:.3f}"

    body = "".join(
        f'<tr><th scope="row">{int(step)}</th>{"".join(f"<td>{cell(value)}</td>" for value in rest)}</tr>'
        for step, *rest in points
    )
    return scrolling_table(caption, column_heads(names), body)


def sentences_html(train: int, held_out: int, pairs: bool, why_not: str) -> str:
    """What the text is cut into, and which tasks it sets."""
    held = f"; the last {held_out} held out, never trained on" if held_out > 1 else ""
    held = "; the last one held out, never trained on" if held_out == 1 else held
    none = "" if held_out else "; too few to hold one out, so what it says of them is no test"
    tasks = "Masked words and next sentences." if pairs else f"Masked words only: {html.escape(why_not)}"
    return f'<p class="aside">{train} sentence{"s" * (train != 1)} to train on{held}{none}. {tasks}</p>'
