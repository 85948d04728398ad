"""Many sentences as token ids: tokenized in lots, held as one array, and cut into batches of much the same length."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demos.bert.model.encoding import MAX_TOKENS
from demos.bert.model.text import clean_text

BATCH_TOKENS = 512  # a pass of MiniLM takes 50 ms and its activations stay in the cache; twice as many are no quicker
SMALLEST_BATCH = 128  # tokens; below, the cores wait for Python
CHUNK_CHARACTERS = 100_000  # tokenized at a time: the tokenizer's own records weigh a hundred times the token ids
SENTENCE_CHARACTERS = 50  # added to each sentence's number of characters, also to that of an empty one


def padded_batches(lengths: Sequence[int], most_tokens: int) -> list[list[int]]:
    """Every index once, the shortest first, as many as fit into `most_tokens` once padded (at least one).

    None is padded to more than twice its length.
    """
    batches: list[list[int]] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        fits = batches and (len(batches[-1]) + 1) * lengths[index] <= most_tokens
        if fits and lengths[index] <= 2 * lengths[batches[-1][0]]:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


@dataclass(frozen=True)
class TokenLists:
    """m sentences' token ids end to end: four bytes a token."""

    ids: np.ndarray  # <int32>[T]
    starts: np.ndarray  # <int64>[m + 1]: where each sentence begins, and the end

    @property
    def lengths(self) -> np.ndarray:
        """<int64>[m]"""
        return np.diff(self.starts)

    def of(self, rows: np.ndarray) -> np.ndarray:
        """The token ids of these sentences, end to end: <int64>."""
        return np.concatenate([self.ids[self.starts[row] : self.starts[row + 1]] for row in rows]).astype(np.int64)

    def batches(self, threads: int) -> Iterator[np.ndarray]:
        """The sentences' numbers, the longest first, in lots of at most BATCH_TOKENS, and work for all threads."""
        lengths = self.lengths
        most = min(BATCH_TOKENS, max(SMALLEST_BATCH, -(-len(self.ids) // threads)))
        order = np.argsort(-lengths, kind="stable")
        first = tokens = 0
        for at, row in enumerate(order):
            if at > first and tokens + lengths[row] > most:
                yield order[first:at]
                first, tokens = at, 0
            tokens += lengths[row]
        if first < len(order):
            yield order[first:]


def tokenized(
    tokenizer: Any,
    sentences: Sequence[str],
    look: Callable[[], None] = lambda: None,
    most_tokens: int = MAX_TOKENS,
) -> TokenLists:
    """The tokens of `encode` for each sentence: cleaned, and cut to `most_tokens` with [SEP] kept.

    `look` is called now and then.

    Raises UserError as `encode` does, with the sentence's number.
    """
    parts: list[np.ndarray] = []
    lengths: list[int] = []
    for texts in _chunks(sentences):
        look()
        # Never with truncation=... or padding=...: these change the tokenizer, which all threads share.
        rows = tokenizer(texts, return_attention_mask=False, return_token_type_ids=False, verbose=False)["input_ids"]
        cut = [row if len(row) <= most_tokens else [*row[: most_tokens - 1], row[-1]] for row in rows]
        lengths += [len(row) for row in cut]
        parts.append(np.fromiter((token for row in cut for token in row), np.int32))
    ids = np.concatenate(parts) if parts else np.empty(0, np.int32)
    return TokenLists(ids, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))


def _chunks(sentences: Sequence[str]) -> Iterator[list[str]]:
    """The sentences in order, cleaned, in lists of about CHUNK_CHARACTERS."""
    chunk: list[str] = []
    characters = 0
    for number, sentence in enumerate(sentences, start=1):
        text = clean_text(sentence, f"Sentence {number:,}")
        if chunk and characters + len(text) > CHUNK_CHARACTERS:
            yield chunk
            chunk, characters = [], 0
        chunk.append(text)
        characters += len(text) + SENTENCE_CHARACTERS
    if chunk:
        yield chunk
