"""Sentences packed into two spans of a fixed length, as BERT's pre-training data is made."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from demos.bert.model.text import clean_text
from demos.bert.pretraining.free_labels import NOTHING, sentences_of
from demos.errors import UserError
from demos.files import DATA

MOST_SENTENCES, MOST_CHARACTERS = 400, 20_000  # of a reader's text
SHORT = 0.1  # of the documents are packed to a shorter length, drawn at random (Devlin et al. 2019, A.2)
SPECIAL = 3  # [CLS], and [SEP] behind each span


@dataclass(frozen=True)
class Piece:
    """A sentence, or what the truncation left of it, in a span."""

    document: int
    sentence: int
    tokens: int  # of it that stay
    front: int = 0  # tokens that were cut off at its front
    back: int = 0


@dataclass(frozen=True)
class Instance:
    """One example: [CLS] A [SEP] B [SEP]."""

    first: tuple[Piece, ...]
    second: tuple[Piece, ...]
    is_next: bool
    target: int  # tokens that were aimed at, the special ones not counted

    @property
    def tokens(self) -> int:
        """With the special ones."""
        return sum(piece.tokens for piece in (*self.first, *self.second)) + SPECIAL


@cache
def other_documents() -> tuple[tuple[str, ...], ...]:
    """Documents that a second span may come from, as sentences: the paragraphs of our questions."""
    data = json.loads((DATA / "questions.json").read_text(encoding="utf-8"))["data"]
    return tuple(tuple(sentences_of(part["context"])) for article in data for part in article["paragraphs"])


def document_of(text: str) -> tuple[str, ...]:
    """The sentences of a reader's text. Raises UserError for a text without a sentence, or a too long one."""
    sentences = sentences_of(clean_text(text))
    if not sentences:
        raise UserError(NOTHING)
    if len(sentences) > MOST_SENTENCES or len(text) > MOST_CHARACTERS:
        raise UserError(
            f"The text has {len(text):,} characters in {len(sentences):,} sentences; the limit is {MOST_CHARACTERS:,} "
            f"characters and {MOST_SENTENCES} sentences."
        )
    return tuple(sentences)


def pack(
    documents: Sequence[Sequence[int]], which: int, length: int, rng: np.random.Generator, short: float = SHORT
) -> list[Instance]:
    """One document's instances of at most `length` tokens; documents are given as their sentences' token counts.

    After Google's create_pretraining_data.py (create_instances_from_document): sentences are collected until they have
    the target's length. A ends at a sentence border drawn at random. By a coin, B is the rest, or sentences from a
    random place of another document; then what was not used is collected again. The longer span loses tokens, each at
    its front or its back by a coin, until both fit. Raises ValueError for less than two documents, or too little room.
    """
    room = length - SPECIAL
    if len(documents) < 2 or room < 2:
        raise ValueError("two documents and room for two tokens are needed")
    document = documents[which]
    target = int(rng.integers(2, room + 1)) if rng.random() < short else room
    instances, chunk, at = [], list[int](), 0
    while at < len(document):
        chunk.append(at)
        if at == len(document) - 1 or sum(document[sentence] for sentence in chunk) >= target:
            border = int(rng.integers(1, len(chunk))) if len(chunk) > 1 else 1
            first = [Piece(which, sentence, document[sentence]) for sentence in chunk[:border]]
            is_next = len(chunk) > 1 and bool(rng.random() >= 0.5)
            if is_next:
                second = [Piece(which, sentence, document[sentence]) for sentence in chunk[border:]]
            else:
                second = _other(documents, which, target - sum(piece.tokens for piece in first), rng)
                at -= len(chunk) - border  # unused tokens are packed again
            instances.append(Instance(*_cut(first, second, room, rng), is_next, target))
            chunk = []
        at += 1
    return instances


def _other(documents: Sequence[Sequence[int]], which: int, wanted: int, rng: np.random.Generator) -> list[Piece]:
    """Sentences of another document from a random place on, until they have the wanted tokens."""
    other = int(rng.integers(len(documents) - 1))
    other += other >= which
    start = int(rng.integers(len(documents[other])))
    pieces = []
    for sentence in range(start, len(documents[other])):
        pieces.append(Piece(other, sentence, documents[other][sentence]))
        if sum(piece.tokens for piece in pieces) >= wanted:
            break
    return pieces


def _cut(
    first: Sequence[Piece], second: Sequence[Piece], room: int, rng: np.random.Generator
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both spans without the tokens that are too many (truncate_seq_pair): one after another from the longer span."""
    lengths = [sum(piece.tokens for piece in span) for span in (first, second)]
    lost = [[0, 0], [0, 0]]  # of each span: at the front, at the back
    while sum(lengths) > room:
        longer = 0 if lengths[0] > lengths[1] else 1
        lost[longer][0 if rng.random() < 0.5 else 1] += 1
        lengths[longer] -= 1
    return _without(first, *lost[0]), _without(second, *lost[1])


def _without(span: Sequence[Piece], front: int, back: int) -> tuple[Piece, ...]:
    total = sum(piece.tokens for piece in span)
    remaining, start = [], 0
    for piece in span:
        before = min(piece.tokens, max(0, front - start))
        behind = min(piece.tokens - before, max(0, start + piece.tokens - (total - back)))
        if piece.tokens > before + behind:
            left = piece.tokens - before - behind
            remaining.append(Piece(piece.document, piece.sentence, left, before, behind))
        start += piece.tokens
    return tuple(remaining)
