"""How good a model is at its two pre-training tasks, on text that it has not seen, beside what knows no context."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.pretraining.corruption import MASK, NO_LABEL
from demos.training.pretraining.batches import Instance, collate
from demos.training.pretraining.corpus import Corpus, draw_instance
from demos.training.pretraining.parts import Parts

ROWS = 32  # sequences in one pass


@dataclass(frozen=True)
class Measured:
    """Shares from 0 to 1 over all chosen tokens (masked, replaced and kept), as pre-training scores them."""

    top1: float
    top5: float
    cross_entropy: float  # nats a chosen token
    top1_masked: float  # over those alone that read [MASK]
    following: float  # next-sentence accuracy over the sequences
    chosen: int
    sequences: int


def draw_instances(corpus: Corpus, tokenizer: Any, sequences: int, max_length: int, seed: int) -> list[Instance]:
    """The same for the same seed."""
    rng = np.random.default_rng(seed)
    return [draw_instance(corpus, tokenizer, rng, max_length) for _ in range(sequences)]


def measure(parts: Parts, tokenizer: Any, instances: list[Instance]) -> Measured:
    """What the model makes of these instances. The model must have both heads."""
    assert parts.pooler is not None
    assert parts.relation is not None
    ranks, losses, masked, right = [], [], [], 0
    for some in _batches(instances):
        batch = collate(some, tokenizer.pad_token_id)
        asked = batch.labels != NO_LABEL
        with torch.inference_mode():
            hidden = parts.states(batch.input_ids, batch.attention_mask, batch.token_type_ids)
            logits, answers = parts.word_logits(hidden[asked]).float(), batch.labels[asked]
            own = logits.gather(1, answers[:, None])
            ranks += (logits > own).sum(dim=1).tolist()
            losses += torch.nn.functional.cross_entropy(logits, answers, reduction="none").tolist()
            following = parts.relation(parts.pooler(hidden)).argmax(dim=1)
        right += int((following == batch.following).sum())
        masked += [kind == MASK for one in some for kind in one.corruption.kinds[one.corruption.chosen]]
    return _summary(np.array(ranks), np.array(losses), np.array(masked), right / len(instances), len(instances))


def by_frequency(instances: list[Instance]) -> Measured:
    """What the commonest tokens of these very answers reach: the best that a guess without context could do.

    Its cross-entropy is the entropy of the answers, and its next-sentence accuracy that of the commoner label.
    """
    answers = np.concatenate([one.corruption.labels[one.corruption.chosen] for one in instances])
    kinds = np.concatenate([one.corruption.kinds[one.corruption.chosen] for one in instances])
    ids, counts = np.unique(answers, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rank_of = dict(zip(ids[order].tolist(), range(len(ids)), strict=True))
    share_of = dict(zip(ids.tolist(), (counts / counts.sum()).tolist(), strict=True))
    ranks = np.array([rank_of[one] for one in answers.tolist()])
    losses = -np.log([share_of[one] for one in answers.tolist()])
    following = float(np.mean([one.following for one in instances]))
    return _summary(ranks, losses, kinds == MASK, max(following, 1 - following), len(instances))


def _summary(ranks: np.ndarray, losses: np.ndarray, masked: np.ndarray, following: float, sequences: int) -> Measured:
    return Measured(
        top1=float((ranks == 0).mean()),
        top5=float((ranks < 5).mean()),
        cross_entropy=float(losses.mean()),
        top1_masked=float((ranks[masked] == 0).mean()),
        following=following,
        chosen=len(ranks),
        sequences=sequences,
    )


def _batches(instances: list[Instance]) -> Iterator[list[Instance]]:
    for start in range(0, len(instances), ROWS):
        yield instances[start : start + ROWS]
