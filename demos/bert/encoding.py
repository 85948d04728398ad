"""Text -> token ids: what the tokenizer makes of one sentence or a pair, before any model runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from demos.bert.text import clean_text

MAX_TOKENS = 512


@dataclass(frozen=True)
class Encoding:
    """One tokenized input; every tuple has one entry a token (n in all), as transformers' `BatchEncoding` has."""

    text: str
    text_pair: str
    tokens: tuple[str, ...]
    input_ids: tuple[int, ...]
    token_type_ids: tuple[int, ...]  # 0 for [CLS] A [SEP], 1 for B [SEP]
    word_ids: tuple[int | None, ...]  # counted per sentence; None for special tokens
    sequence_ids: tuple[int | None, ...]  # 0 = from text, 1 = from text_pair, None = special
    offsets: tuple[tuple[int, int], ...]  # characters [start, end) in the token's own sentence
    special_tokens_mask: tuple[int, ...]
    dropped: tuple[str, ...] = ()  # tokens beyond the limit, A's then B's
    dropped_pair: int = 0  # how many of `dropped` are B's

    def __len__(self) -> int:
        return len(self.input_ids)

    @property
    def word_index(self) -> tuple[int | None, ...]:
        """The running number of each token's word over both sentences: what a word's hue is picked by."""
        seen: dict[tuple[int | None, int], int] = {}
        return tuple(
            None if word is None else seen.setdefault((sequence, word), len(seen))
            for sequence, word in zip(self.sequence_ids, self.word_ids, strict=True)
        )

    @property
    def sentence_b_start(self) -> int | None:
        """Index of the first token of sentence B, or None without one (bertviz's own argument name)."""
        return self.token_type_ids.index(1) if 1 in self.token_type_ids else None


def encode(tokenizer: Any, text: str | None, text_pair: str | None = None, max_length: int = MAX_TOKENS) -> Encoding:
    """Tokenize one sentence, or `[CLS] A [SEP] B [SEP]` when `text_pair` has any character that is not a space.

    Cuts to `max_length` tokens as transformers' `truncation="longest_first"` does and keeps what fell off.
    Raises UserError for a text over the character limit.
    """
    first, second = clean_text(text, "The sentence"), clean_text(text_pair, "The second sentence")
    pair = second if second.strip() else None
    options = {
        "return_offsets_mapping": True,
        "return_special_tokens_mask": True,
        "return_token_type_ids": True,
        "verbose": False,
    }
    full = tokenizer(first, pair, truncation=False, **options)
    kept = full
    dropped: list[str] = []
    dropped_pair = 0
    if len(full["input_ids"]) > max_length:
        kept = tokenizer(first, pair, truncation="longest_first", max_length=max_length, **options)
        for sequence in (0, 1):
            everything = [i for i, s in enumerate(full.sequence_ids()) if s == sequence]
            survivors = sum(s == sequence for s in kept.sequence_ids())
            lost = [full.tokens()[i] for i in everything[survivors:]]
            dropped += lost
            dropped_pair = len(lost) if sequence else 0
    return Encoding(
        text=first,
        text_pair=second if pair is not None else "",
        tokens=tuple(kept.tokens()),
        input_ids=tuple(kept["input_ids"]),
        token_type_ids=tuple(kept["token_type_ids"]),
        word_ids=tuple(kept.word_ids()),
        sequence_ids=tuple(kept.sequence_ids()),
        offsets=tuple((start, end) for start, end in kept["offset_mapping"]),
        special_tokens_mask=tuple(kept["special_tokens_mask"]),
        dropped=tuple(dropped),
        dropped_pair=dropped_pair,
    )
