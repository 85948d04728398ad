"""Tokens of any tokenizer as labels: WordPiece marks what continues a word (##), the others what begins one (▁, Ġ)."""

from collections.abc import Sequence
from typing import Any

from demos.bert.attention.matrix_labels import Labels
from demos.bert.model.encoding import BYTES, SENTENCE_PIECE, has_letters, readable, special_ids

CONTINUES = "##"


def labels_of(tokenizer: Any, input_ids: Sequence[int]) -> Labels:
    """The tokens' names as the vocabulary has them, which are special, and the running number of each one's word.

    Bytes are written as the characters that they are, where a token holds whole ones.
    """
    tokens = tokenizer.convert_ids_to_tokens(list(input_ids))
    ids = special_ids(tokenizer)
    special = [token in ids for token in input_ids]
    backend = getattr(tokenizer, "backend_tokenizer", None)  # which a Marian tokenizer lacks
    tokens = readable(tokenizer, tokens)
    wordpiece = backend is not None and type(backend.model).__name__ == "WordPiece"
    return Labels(tuple(tokens), tuple(special), words=word_numbers(tokens, special, wordpiece))


def word_numbers(names: Sequence[str], special: Sequence[bool], wordpiece: bool) -> tuple[int | None, ...]:
    """The running number of each token's word; None for a special token. A punctuation mark is a separate word."""
    numbers: list[int | None] = []
    number, before = -1, ""  # `before` is empty where a word must begin
    for name, marked in zip(names, special, strict=True):
        if marked:
            numbers.append(None)
            before = ""
            continue
        other = before not in (SENTENCE_PIECE, BYTES) and has_letters(name) != has_letters(before)
        begins = not name.startswith(CONTINUES) if wordpiece else name.startswith((SENTENCE_PIECE, BYTES)) or other
        number += begins or not before
        numbers.append(number)
        before = name
    return tuple(numbers)
