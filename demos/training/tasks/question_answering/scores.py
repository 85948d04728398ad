"""Scores of found answers by SQuAD's rules, exact match and token F1; and the baseline without training."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from demos.training.tasks.question_answering.files import QuestionExample

BASELINE = "the first name or number of the sentence most like the question"
_SENTENCE = re.compile(r".+?(?:(?<![.!?])[.!?]+[\"'’”)]*(?=\s)|$)", re.DOTALL)
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"[^\W\d_a-z][\w'’-]*(?:\s+[^\W\d_a-z][\w'’-]*)*")
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
    """The means over questions, each with its guess and its answers; zeros without any.

    A question without answers is answered right by "", as in the evaluation script of SQuAD 2.0.
    """
    pairs = [(guess, wanted or ("",)) for guess, wanted in zip(guesses, answers, strict=True)]
    count = max(1, len(pairs))
    return SpanScores(
        sum(exact_match(guess, wanted) for guess, wanted in pairs) / count,
        sum(token_f1(guess, wanted) for guess, wanted in pairs) / count,
        len(pairs),
    )


def guess(example: QuestionExample) -> str:
    """An answer without any training.

    Of the sentence with most of the question's words (of equals the first): its first number for a "when" or "how",
    its first name (a run of words with a capital, not its first word alone, none of the question) for another; a
    number instead of a name where there is none, and the reverse; without either, the sentence.
    """
    question_words = {word.lower() for word in _WORD.findall(example.question)}
    sentences = [match.group().strip() for match in _SENTENCE.finditer(example.context) if match.group().strip()]
    if not sentences:
        return ""
    best = max(sentences, key=lambda sentence: len(question_words & {word.lower() for word in _WORD.findall(sentence)}))
    numbers = [match.group() for match in _NUMBER.finditer(best)]
    names = [
        match.group()
        for match in _NAME.finditer(best)
        if (match.start() or " " in match.group())
        and not {word.lower() for word in _WORD.findall(match.group())} & question_words
    ]
    kinds = (numbers, names) if example.word in ("when", "how") else (names, numbers)
    return next((kind[0] for kind in kinds if kind), best)
