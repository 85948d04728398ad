"""The text that is written, each piece with its probability, and the distribution over the next one as bars."""

from __future__ import annotations

import math
from collections.abc import Sequence

from demos.bert.causal.writing import Candidate, LookedUp, Method, NextWord
from demos.figures.numbers import percent
from demos.figures.token_chips import token_label, visible
from demos.templates import templates

TEXT = templates(__file__)
CONTEXT = 6  # pieces of it that are named beside a word that is looked up
BEGINNING = 128  # pieces of the reader's text that are shown, the last ones


def text_html(tokens: Sequence[str], pieces: Sequence[Candidate], unread: int) -> str:
    """The reader's word pieces, then the written ones; `unread` is how many pieces the decoder no longer reads."""
    read = [{"text": visible(token.removeprefix("##")), "joined": token.startswith("##")} for token in tokens]
    cells = [
        {
            "text": visible(piece.guess.token.removeprefix("##")),
            "joined": piece.guess.token.startswith("##"),
            "chance": percent(piece.guess.probability),
            "share": 100 * piece.guess.probability,
        }
        for piece in pieces
    ]
    return TEXT.text(read[-BEGINNING:], max(0, len(read) - BEGINNING), cells, max(0, unread))


def next_html(prediction: NextWord, method: Method, largest: float) -> str:
    """The likeliest pieces as bars, the chosen one marked, with what is drawn from; the `largest` entropy is ln V."""
    widest = max(
        max(candidate.guess.probability, candidate.drawn if not method.greedy else 0.0) for candidate in prediction.best
    )
    return TEXT.next(prediction, not method.greedy, widest, largest, token_label, percent)


def looked_up_html(tokens: Sequence[str], steps: Sequence[LookedUp], words: int) -> str:
    """P(word | the text): its pieces' probabilities and ranks among `words`, and their product."""
    given = [(visible(token.removeprefix("##")), token.startswith("##")) for token in tokens[-CONTEXT:]]
    product = math.prod(step.guess.probability for step in steps)
    named = [(visible(step.guess.token.removeprefix("##")), step.guess.token.startswith("##")) for step in steps]
    odds = float(f"{1 / product:.2g}") if 0 < product < 0.001 else None  # a percentage says little of so rare a word
    return TEXT.looked_up(given, len(tokens) > CONTEXT, named, steps, product, odds, words, token_label, percent)
