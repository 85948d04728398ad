"""Counts of a text's splitting: characters, words, tokens, tokens per word, and the share that was unknown."""

from dataclasses import dataclass
from typing import Any

from demos.bert.model.encoding import Encoding, encode

NO_LIMIT = 2**31 - 1


@dataclass(frozen=True)
class Counts:
    """Counts over a whole input, both sentences together; special tokens are not pieces, typed ones neither."""

    characters: int
    spaced: int  # words between spaces, as people count them
    words: int  # as BERT splits them: a punctuation mark is a word
    pieces: int  # tokens of words and marks
    special: int  # [CLS] and [SEP]
    unknown: int  # pieces that are [UNK]

    @property
    def tokens(self) -> int:
        return self.pieces + self.special

    @property
    def tokens_per_word(self) -> float:
        """Fertility (Rust et al. 2021, "How Good is Your Tokenizer?"); 0 for an empty text."""
        return self.pieces / self.words if self.words else 0.0

    @property
    def share_unknown(self) -> float:
        """[UNK] among the text's own tokens, 0..1."""
        return self.unknown / self.pieces if self.pieces else 0.0


def count(tokenizer: Any, encoding: Encoding) -> Counts:
    """Count the whole input, what fell off beyond the limit included."""
    whole = encoding
    if encoding.dropped:
        whole = encode(tokenizer, encoding.text, encoding.text_pair, max_length=NO_LIMIT)
    special = sum(whole.special_tokens_mask)
    return Counts(
        characters=len(whole.text) + len(whole.text_pair),
        spaced=len(whole.text.split()) + len(whole.text_pair.split()),
        words=len(set(whole.word_index) - {None}),
        pieces=len(whole) - special,
        special=special,
        unknown=sum(token == tokenizer.unk_token for token in whole.tokens),
    )
