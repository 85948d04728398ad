"""Batches of pre-training: pairs of sentences drawn from a passage, corrupted as the paper does, and padded."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from demos.bert.pretraining.corruption import NO_LABEL, Corruption, corrupt
from demos.bert.pretraining.next_sentence import IS_NEXT, NOT_NEXT
from demos.training.pretraining.passage import MAX_LENGTH, Passage
from demos.training.tasks.task import pair_ids, token_ids


@dataclass(frozen=True)
class Instance:
    """One sequence: [CLS] A [SEP] B [SEP], or [CLS] A [SEP] if next sentences are not predicted."""

    corruption: Corruption  # n tokens
    segments: tuple[int, ...]  # token_type_ids [n]
    following: int | None  # IS_NEXT or NOT_NEXT; None where it is not predicted


@dataclass(frozen=True)
class PretrainingBatch:
    """Instances as padded tensors: B rows, n tokens."""

    input_ids: torch.Tensor  # [B, n]
    attention_mask: torch.Tensor  # [B, n]: 1 for a token, 0 for padding
    token_type_ids: torch.Tensor  # [B, n]
    labels: torch.Tensor  # [B, n]: the true token where one must be predicted, else NO_LABEL
    following: torch.Tensor | None  # [B]; None where it is not predicted


def draw(passage: Passage, tokenizer: Any, seed: int, step: int, size: int, pairs: bool) -> tuple[Instance, ...]:
    """The `size` instances of step number `step` (1 is the first); the same for the same seed and step.

    Each with a chance of one half: A and the sentence after it, or A and any other sentence (Devlin et al. 2019, A.1,
    take the other one from another document; here there is one). Then 15% of the tokens are corrupted. Without
    `pairs`, one sentence a sequence.
    """
    rng = np.random.default_rng([seed, step])
    sequences = _paired(passage, tokenizer, rng, size) if pairs else _single(passage, tokenizer, rng, size)
    return tuple(
        Instance(corrupt(tokenizer, ids, rng), tuple(segments), following) for ids, segments, following in sequences
    )


def _paired(passage: Passage, tokenizer: Any, rng: np.random.Generator, size: int) -> list[tuple[Any, Any, int]]:
    sentences, pairs = passage.train, []
    count = len(sentences)
    for _ in range(size):
        if rng.random() < 0.5:
            first = int(rng.integers(count - 1))
            pairs.append((sentences[first], sentences[first + 1], IS_NEXT))
        else:  # of two sentences only the last has another one that does not follow it
            first = int(rng.integers(count)) if count > 2 else 1
            second = int(rng.choice([at for at in range(count) if at not in (first, first + 1)]))
            pairs.append((sentences[first], sentences[second], NOT_NEXT))
    rows = pair_ids(tokenizer, [(first, second) for first, second, _ in pairs], MAX_LENGTH)
    return [(ids, segments, pair[2]) for (ids, segments, _), pair in zip(rows, pairs, strict=True)]


def _single(passage: Passage, tokenizer: Any, rng: np.random.Generator, size: int) -> list[tuple[Any, Any, None]]:
    chosen = [passage.train[int(rng.integers(len(passage.train)))] for _ in range(size)]
    return [(ids, [0] * len(ids), None) for ids, _ in token_ids(tokenizer, chosen, MAX_LENGTH)]


def collate(instances: Sequence[Instance], padding: int) -> PretrainingBatch:
    """A padded batch of these instances."""

    def padded(rows: Iterable[Any], filler: int) -> torch.Tensor:
        return pad_sequence([torch.as_tensor(row) for row in rows], batch_first=True, padding_value=filler)

    following = [instance.following for instance in instances if instance.following is not None]
    return PretrainingBatch(
        input_ids=padded([instance.corruption.input_ids for instance in instances], padding),
        attention_mask=padded([torch.ones(len(instance.segments), dtype=torch.long) for instance in instances], 0),
        token_type_ids=padded([instance.segments for instance in instances], 0),
        labels=padded([instance.corruption.labels for instance in instances], NO_LABEL),
        following=torch.tensor(following) if following else None,
    )
