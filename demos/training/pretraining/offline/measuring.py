"""How good a model is at its two pre-training tasks, on text that it has not seen, beside what knows no context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.pretraining.corruption import MASK, NO_LABEL
from demos.bert.pretraining.next_sentence import IS_NEXT, NOT_NEXT
from demos.training.pretraining.batches import Instance, collate
from demos.training.pretraining.model_parts import Parts
from demos.training.pretraining.offline.corpus import Corpus, draw_instance

ROWS = 32  # sequences in one pass


@dataclass(frozen=True)
class Measured:
    """Shares from 0 to 1 over all chosen tokens (masked, replaced and kept), as pre-training scores them."""

    top1: float
    top5: float
    cross_entropy: float  # nats a chosen token
    top1_masked: float  # over those alone that read [MASK]
    following: float  # next-sentence accuracy over the sequences
    following_recall: tuple[float, float]  # the same over the true second parts alone, and over the false ones
    chosen: int
    sequences: int


def draw_instances(corpus: Corpus, tokenizer: Any, sequences: int, max_length: int, seed: int) -> list[Instance]:
    """The same for the same seed."""
    rng = np.random.default_rng(seed)
    return [draw_instance(corpus, tokenizer, rng, max_length) for _ in range(sequences)]


def measure(parts: Parts, tokenizer: Any, instances: list[Instance]) -> Measured:
    """What the model makes of these instances. The model must have both heads."""
    ranks, losses, masked, margins = [], [], [], []
    for rows in _batches(instances):
        batch = collate(rows, tokenizer.pad_token_id)
        asked = batch.labels != NO_LABEL
        with torch.inference_mode():
            hidden = parts.states(batch.input_ids, batch.attention_mask, batch.token_type_ids)
            logits, answers = parts.word_logits(hidden[asked]).float(), batch.labels[asked]
            own = logits.gather(1, answers[:, None])
            ranks += (logits > own).sum(dim=1).tolist()
            losses += torch.nn.functional.cross_entropy(logits, answers, reduction="none").tolist()
            margins += _margins(parts.next_logits(hidden))
        masked += [kind == MASK for instance in rows for kind in instance.corruption.kinds[instance.corruption.chosen]]
    following = np.array([instance.following for instance in instances])
    right = (np.array(margins) > 0) == (following == IS_NEXT)
    return _summary(np.array(ranks), np.array(losses), np.array(masked), following, right)


def margins_of(parts: Parts, tokenizer: Any, instances: list[Instance]) -> np.ndarray:
    """How much higher IsNext scores than NotNext in each instance, <float64>[S]; above 0 the answer is IsNext."""
    margins: list[float] = []
    for rows in _batches(instances):
        batch = collate(rows, tokenizer.pad_token_id)
        with torch.inference_mode():
            hidden = parts.states(batch.input_ids, batch.attention_mask, batch.token_type_ids)
            margins += _margins(parts.next_logits(hidden))
    return np.array(margins)


def threshold_of(margins: np.ndarray, following: np.ndarray) -> tuple[float, float]:
    """(threshold, accuracy): the margin above which IsNext is said to be right most often on these S pairs.

    `margins` is <float>[S] as `margins_of` gives them, `following` <int>[S] their labels. A threshold fitted so on
    other text than it is used on tells whether the head leans to one answer everywhere.
    """
    order = np.argsort(margins)
    is_next = following[order] == IS_NEXT
    # A cut behind the k lowest margins is right about the false parts below it and the true ones above.
    right = np.concatenate([[0], np.cumsum(~is_next)]) + np.concatenate([np.cumsum(is_next[::-1])[::-1], [0]])
    cut = int(np.argmax(right))
    bounds = np.concatenate([[-np.inf], margins[order], [np.inf]])
    return float(bounds[cut : cut + 2].mean()), float(right[cut] / len(margins))


def by_frequency(instances: list[Instance]) -> Measured:
    """What the commonest tokens of these very answers reach: the best that a guess without context could do.

    Its cross-entropy is the entropy of the answers, and its next-sentence accuracy that of the commoner label.
    """
    answers = np.concatenate([instance.corruption.labels[instance.corruption.chosen] for instance in instances])
    kinds = np.concatenate([instance.corruption.kinds[instance.corruption.chosen] for instance in instances])
    ids, counts = np.unique(answers, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rank_of = dict(zip(ids[order].tolist(), range(len(ids)), strict=True))
    share_of = dict(zip(ids.tolist(), (counts / counts.sum()).tolist(), strict=True))
    ranks = np.array([rank_of[instance] for instance in answers.tolist()])
    losses = -np.log([share_of[instance] for instance in answers.tolist()])
    following = np.array([instance.following for instance in instances])
    commoner = IS_NEXT if 2 * int((following == IS_NEXT).sum()) >= len(following) else NOT_NEXT
    return _summary(ranks, losses, kinds == MASK, following, following == commoner)


def _summary(
    ranks: np.ndarray, losses: np.ndarray, masked: np.ndarray, following: np.ndarray, right: np.ndarray
) -> Measured:
    """`right` says of each sequence whether its next-sentence label, in `following`, was told."""
    recall = [float(right[following == label].mean()) for label in (IS_NEXT, NOT_NEXT)]
    return Measured(
        top1=float((ranks == 0).mean()),
        top5=float((ranks < 5).mean()),
        cross_entropy=float(losses.mean()),
        top1_masked=float((ranks[masked] == 0).mean()),
        following=float(right.mean()),
        following_recall=(recall[0], recall[1]),
        chosen=len(ranks),
        sequences=len(following),
    )


def _margins(logits: torch.Tensor) -> list[float]:
    """Logits [B, 2] -> [B]."""
    margins: list[float] = (logits[:, IS_NEXT] - logits[:, NOT_NEXT]).tolist()
    return margins


def _batches(instances: list[Instance]) -> Iterator[list[Instance]]:
    for start in range(0, len(instances), ROWS):
        yield instances[start : start + ROWS]
