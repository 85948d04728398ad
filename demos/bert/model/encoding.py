"""Text -> token ids: what the tokenizer makes of one sentence or a pair, before any model runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from weakref import ref

from demos.bert.model.text import clean_text
from demos.errors import UserError

MAX_TOKENS = 512
SPECIAL_ROLES = ("cls", "sep", "bos", "eos", "pad")  # a mask and an unknown token stand for a word
LATELY = 64  # encodings that are remembered
SENTENCE_PIECE, BYTES = "▁", "Ġ"  # the space before a word, as SentencePiece and byte-level BPE write it


@dataclass(frozen=True)
class Encoding:
    """One tokenized input; every tuple has one entry a token (n in all), as transformers' `BatchEncoding` has."""

    text: str
    text_pair: str
    tokens: tuple[str, ...]  # those of bytes as the characters that they are (`readable`)
    input_ids: tuple[int, ...]
    token_type_ids: tuple[int, ...]  # 0 for [CLS] A [SEP], 1 for B [SEP]
    word_ids: tuple[int | None, ...]  # counted per sentence, a punctuation mark a word; None for added tokens
    sequence_ids: tuple[int | None, ...]  # 0 = from text, 1 = from text_pair, None = added by the tokenizer
    offsets: tuple[tuple[int, int], ...]  # characters [start, end) in the token's own sentence
    special_tokens_mask: tuple[int, ...]  # 1 for [CLS], [SEP] and the like, also for one that was typed
    dropped: tuple[str, ...] = ()  # tokens beyond the limit, A's then B's
    dropped_pair: int = 0  # how many of `dropped` are B's

    def __len__(self) -> int:
        return len(self.input_ids)

    @property
    def uncut(self) -> int:
        """How many tokens the input had before it was cut."""
        return len(self) + len(self.dropped)

    @cached_property
    def word_index(self) -> tuple[int | None, ...]:
        """The running number of each token's word over both sentences; None for special tokens, typed ones too."""
        seen: dict[tuple[int | None, int], int] = {}
        return tuple(
            None if word is None or special else seen.setdefault((sequence, word), len(seen))
            for sequence, word, special in zip(self.sequence_ids, self.word_ids, self.special_tokens_mask, strict=True)
        )

    @property
    def typed_special(self) -> tuple[int, ...]:
        """The places of the special tokens that were typed in the text."""
        marks = zip(self.special_tokens_mask, self.sequence_ids, strict=True)
        return tuple(place for place, (special, sequence) in enumerate(marks) if special and sequence is not None)

    @property
    def sentence_b_start(self) -> int | None:
        """Index of the first token of sentence B, or None without one (bertviz's own argument name)."""
        marked = self.token_type_ids if 1 in self.token_type_ids else self.sequence_ids  # RoBERTa has no segments
        return marked.index(1) if 1 in marked else None


def encode(
    tokenizer: Any,
    text: str | None,
    text_pair: str | None = None,
    max_length: int = MAX_TOKENS,
    lengths: tuple[int, int] | None = None,
) -> Encoding:
    """Tokenize one sentence, or `[CLS] A [SEP] B [SEP]` when `text_pair` has any character that is not a space.

    Cuts to `max_length` tokens as transformers' `truncation="longest_first"` does and keeps what fell off. `lengths`
    is how many tokens of A and of B to keep instead, special tokens apart, where an input was cut by another rule.
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
    # Never with truncation=...: that changes a setting inside the tokenizer, which all threads share.
    full = tokenizer(first, pair, truncation=False, **options)
    tokens, sequences = readable(tokenizer, full.tokens()), full.sequence_ids()
    words = _words(tokenizer, tokens, full.word_ids())
    special = special_ids(tokenizer)
    remaining, lost = _cut(sequences, lengths or _longest_first(sequences, max_length))
    return Encoding(
        text=first,
        text_pair=second if pair is not None else "",
        tokens=tuple(tokens[i] for i in remaining),
        input_ids=tuple(full["input_ids"][i] for i in remaining),
        token_type_ids=tuple(full["token_type_ids"][i] for i in remaining),
        word_ids=tuple(words[i] for i in remaining),
        sequence_ids=tuple(sequences[i] for i in remaining),
        offsets=tuple(tuple(full["offset_mapping"][i]) for i in remaining),
        special_tokens_mask=tuple(
            int(full["special_tokens_mask"][i] or full["input_ids"][i] in special) for i in remaining
        ),
        dropped=tuple(tokens[i] for i in lost),
        dropped_pair=sum(sequences[i] == 1 for i in lost),
    )


def encode_lately(tokenizer: Any, text: str | None, text_pair: str | None = None) -> Encoding:
    """As `encode`; the last results are remembered, since every drawing of a sentence needs them.

    For a tokenizer that nobody changes. Raises what `encode` raises.
    """
    if not (isinstance(text, str | None) and isinstance(text_pair, str | None)):
        return encode(tokenizer, text, text_pair)  # which refuses it
    return _remembered(ref(tokenizer), text, text_pair)


@lru_cache(maxsize=LATELY)
def _remembered(tokenizer: ref[Any], text: str | None, text_pair: str | None) -> Encoding:
    """The tokenizer is held weakly: a model that is not kept any more takes no memory here."""
    return encode(tokenizer(), text, text_pair)


def special_ids(tokenizer: Any) -> frozenset[int]:
    """The ids of [CLS], [SEP], [PAD] and the like: special tokens wherever they are, also where somebody typed one.

    [MASK] and [UNK] stand for a word, so they are none.
    """
    ids = (getattr(tokenizer, f"{role}_token_id") for role in SPECIAL_ROLES)
    return frozenset(number for number in ids if number is not None)


def readable(tokenizer: Any, tokens: Sequence[str]) -> Sequence[str]:
    """Tokens of bytes (RoBERTa's) as the characters that they are, their space still marked; others as they are.

    A token that does not hold whole characters stays as the vocabulary has it. The tokenizer adds the space before a
    special token to its name, as in " [MASK]"; a few tokens of ModernBERT are spaces alone.
    """
    backend = getattr(tokenizer, "backend_tokenizer", None)  # which a Marian tokenizer lacks
    if backend is None or type(backend.decoder).__name__ != "ByteLevel":
        return tokens
    tokens = [token.strip(" ") or token.replace(" ", BYTES) for token in tokens]
    texts = [str(tokenizer.convert_tokens_to_string([token])) for token in tokens]
    return [
        text.replace(" ", BYTES) if text.strip() and "\ufffd" not in text else token
        for text, token in zip(texts, tokens, strict=True)
    ]


def has_letters(token: str) -> bool:
    """Whether a token has a letter or a digit; the mark of the space before a word is none."""
    return any(map(str.isalnum, token.removeprefix(BYTES)))


def _words(tokenizer: Any, tokens: Sequence[str], word_ids: Sequence[int | None]) -> Sequence[int | None]:
    """The tokens' words. SentencePiece splits at spaces alone: there a punctuation mark is made a separate word."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None or type(backend.model).__name__ != "Unigram":
        return word_ids
    numbers: list[int | None] = []
    number = -1  # a sentence begins behind a special token
    for index, word in enumerate(word_ids):
        if word is None:
            number = -1
        else:
            before = tokens[index - 1] if index else ""
            other = before != SENTENCE_PIECE and has_letters(before) != has_letters(tokens[index])
            number += number < 0 or word != word_ids[index - 1] or other
        numbers.append(None if word is None else number)
    return numbers


def _longest_first(sequences: Sequence[int | None], max_length: int) -> tuple[int, int]:
    """The numbers of tokens of A and B that `max_length` tokens keep as `truncation="longest_first"` cuts them.

    The longer sentence gives way first; once both are as long, both do. Source: tokenizers, `truncate_encodings`.
    """
    first, second = (sum(sequence == side for sequence in sequences) for side in (0, 1))
    room = max(0, max_length - (len(sequences) - first - second))  # special tokens always stay
    if first + second <= room:
        return first, second
    shorter = min(first, second)
    longer = max(shorter, room - shorter) if shorter <= room else shorter
    if shorter + longer > room:
        shorter, longer = room // 2, room // 2 + room % 2
    return (shorter, longer) if first <= second else (longer, shorter)


def _cut(sequences: Sequence[int | None], lengths: tuple[int, int]) -> tuple[list[int], list[int]]:
    """Positions kept and lost when so many tokens of each sentence are kept."""
    remaining: list[int] = []
    lost: list[int] = []
    seen = [0, 0]
    for position, sequence in enumerate(sequences):
        if sequence is not None:
            seen[sequence] += 1
        (remaining if sequence is None or seen[sequence] <= lengths[sequence] else lost).append(position)
    return remaining, lost


def check_length(encoding: Encoding, most: int) -> None:
    """Raises UserError for an input of more than `most` tokens, where a part computes something for fewer than 512."""
    if encoding.uncut > most:
        raise UserError(f"The input has {encoding.uncut:,} tokens; here the limit is {most}.")


def truncation_notice(encoding: Encoding) -> str:
    """A sentence on the part that was cut; "" where everything fits."""
    if not encoding.dropped:
        return ""
    limit, lost = len(encoding), len(encoding.dropped)
    where = "first from the end of the longer sentence" if encoding.text_pair else "from its end"
    return f"The input has {encoding.uncut:,} tokens; the limit is {limit}, so {lost:,} were removed, {where}."
