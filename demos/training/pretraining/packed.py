"""A batch of packed spans, as BERT's pre-training has them, and both losses of it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from demos.bert.pretraining.corruption import corrupt
from demos.bert.pretraining.free_labels import NOTHING
from demos.bert.pretraining.heads import Pretrained
from demos.bert.pretraining.next_sentence import IS_NEXT, NOT_NEXT
from demos.bert.pretraining.spans import Instance as Spans
from demos.bert.pretraining.spans import other_documents, pack
from demos.errors import UserError
from demos.training.pretraining.batches import Instance, collate
from demos.training.pretraining.model_parts import Parts

CACHED_TOKENIZERS = 8
Ids = list[list[int]]  # of a document: the ids of each sentence


@dataclass(frozen=True)
class Packed:
    """One sequence of n tokens: [CLS] A [SEP] B [SEP], the places of its spans, and the corrupted input."""

    spans: Spans
    instance: Instance
    original: tuple[int, ...]  # [n]: the ids before the corruption

    def __len__(self) -> int:
        return len(self.original)


@dataclass(frozen=True)
class BatchLosses:
    """The losses of a batch, for each chosen token and for each sequence (cross-entropy, natural logarithm)."""

    each: tuple[tuple[float, ...], ...]  # of each sequence: of its chosen tokens, in the text's order
    guesses: tuple[tuple[int, ...], ...]  # the same: the likeliest id
    following: tuple[float, ...] | None  # of each sequence; None for a model without a next-sentence head

    @property
    def chosen(self) -> int:
        """The number of chosen tokens."""
        return sum(map(len, self.each))

    @property
    def masked(self) -> float:
        """The mean over the chosen tokens of all sequences."""
        return sum(map(sum, self.each)) / self.chosen

    @property
    def next_sentence(self) -> float | None:
        """The mean over the sequences."""
        return None if self.following is None else sum(self.following) / len(self.following)

    @property
    def total(self) -> float:
        """The loss of pre-training: the sum of both means (Devlin et al. 2019, A.2)."""
        return self.masked + (self.next_sentence or 0.0)


def packed_batch(
    tokenizer: Any, document: Sequence[str], length: int, size: int, seed: int, pairs: bool = True
) -> tuple[Packed, ...]:
    """`size` sequences of at most `length` tokens: those of `document`, then those of other texts, drawn at random.

    The spans are packed as `spans.pack` does, but no document is packed shorter; then 15% of the tokens are corrupted.
    The same for the same seed. Without `pairs` the sequences carry no next-sentence label.
    Raises UserError for a document without a word.
    """
    rng = np.random.default_rng(seed)
    documents = [_ids(tokenizer, document), *_ids_of_others(tokenizer)]
    counts = [[len(ids) for ids in sentences] for sentences in documents]
    if not sum(counts[0]):
        raise UserError(NOTHING)
    sequences: list[Packed] = []
    for which in (0, *(rng.permutation(len(documents) - 1) + 1).tolist()):
        for spans in pack(counts, which, length, rng, short=0.0):
            sequences.append(_made(tokenizer, documents, spans, rng, pairs))
            if len(sequences) == size:
                return tuple(sequences)
    return tuple(sequences)


def _made(tokenizer: Any, documents: Sequence[Ids], spans: Spans, rng: np.random.Generator, pairs: bool) -> Packed:
    first, second = (list(_tokens(documents, span)) for span in (spans.first, spans.second))
    separator = tokenizer.sep_token_id
    ids = [tokenizer.cls_token_id, *first, separator, *second, separator]
    segments = (0,) * (len(first) + 2) + (1,) * (len(second) + 1)
    following = (IS_NEXT if spans.is_next else NOT_NEXT) if pairs else None
    return Packed(spans, Instance(corrupt(tokenizer, ids, rng), segments, following), tuple(ids))


def _tokens(documents: Sequence[Ids], span: Sequence[Any]) -> Iterator[int]:
    """The ids of a span, without those that were cut off."""
    for piece in span:
        yield from documents[piece.document][piece.sentence][piece.front :][: piece.tokens]


def _ids(tokenizer: Any, sentences: Sequence[str]) -> Ids:
    return tokenizer(list(sentences), add_special_tokens=False, truncation=False, verbose=False)["input_ids"]


@lru_cache(maxsize=CACHED_TOKENIZERS)
def _ids_of_others(tokenizer: Any) -> list[Ids]:
    return [_ids(tokenizer, document) for document in other_documents()]


def batch_losses(pretrained: Pretrained, batch: Sequence[Packed]) -> BatchLosses:
    """Both losses, a sequence at a time, so that short ones need no padding; no gradient, no dropout."""
    parts, padding = Parts.of(pretrained), pretrained.tokenizer.pad_token_id
    with torch.inference_mode():
        losses = [parts.losses(collate([sequence.instance], padding)) for sequence in batch]
    following = [loss.following.item() for loss in losses if loss.following is not None]
    return BatchLosses(
        tuple(tuple(loss.each.tolist()) for loss in losses),
        tuple(tuple(loss.logits.argmax(dim=-1).tolist()) for loss in losses),
        tuple(following) if following else None,
    )
