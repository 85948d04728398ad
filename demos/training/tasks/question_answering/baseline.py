"""What a trained model should beat: the first name or number of the sentence that is most like the question."""

from __future__ import annotations

import re

from demos.training.tasks.question_answering.files import QuestionExample

BASELINE = "the first name or number of the sentence most like the question"
_SENTENCE = re.compile(r".+?(?:[.!?]+[\"'’”)]*(?=\s)|$)", re.DOTALL)
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"[^\W\d_a-z][\w'’-]*(?:\s+[^\W\d_a-z][\w'’-]*)*")


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
