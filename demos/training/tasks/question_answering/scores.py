"""How good a found answer is by SQuAD's rules: exact match and token F1, each against the answer that fits best."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

_ARTICLES = re.compile(r"\b(a|an|the)\b", re.UNICODE)
_PUNCTUATION = str.maketrans("", "", string.punctuation)


@dataclass(frozen=True)
class SpanScores:
    """Means over the questions, from 0 to 1."""

    exact: float
    f1: float
    count: int  # questions


def normalized(text: str) -> str:
    """In small letters, without punctuation (ASCII's) and articles, one blank between words.

    Rajpurkar et al. 2016, section 6.1, and their evaluation script.
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def exact_match(guess: str, answers: Sequence[str]) -> bool:
    """Whether the guess is one of the answers, both normalized."""
    return normalized(guess) in {normalized(answer) for answer in answers}


def token_f1(guess: str, answers: Sequence[str]) -> float:
    """The F1 of the normalized words that guess and answer share, as often as both have them; the best answer's.

    Two texts of which nothing is left score 1, as in the script of SQuAD 2.0, so that F1 is never below exact match.
    """
    return max((_f1(normalized(guess).split(), normalized(answer).split()) for answer in answers), default=0.0)


def _f1(guess: Sequence[str], wanted: Sequence[str]) -> float:
    if not guess or not wanted:
        return float(guess == wanted)
    shared = sum((Counter(guess) & Counter(wanted)).values())
    return 2 * shared / (len(guess) + len(wanted))


def score_spans(guesses: Sequence[str], answers: Sequence[Sequence[str]]) -> SpanScores:
    """The means over questions, each with its guess and its answers; zeros without any."""
    pairs = list(zip(guesses, answers, strict=True))
    count = max(1, len(pairs))
    return SpanScores(
        sum(exact_match(guess, wanted) for guess, wanted in pairs) / count,
        sum(token_f1(guess, wanted) for guess, wanted in pairs) / count,
        len(pairs),
    )
