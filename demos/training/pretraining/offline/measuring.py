"""A model's scores at its two pre-training tasks, on held-out text, compared with baselines that ignore context."""

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
    """The model's outputs for these instances. The model must have both heads."""
    ranks, losses, masked, margins = [], [], [], []
    for rows in batches_of(instances):
        batch = collate(rows, tokenizer.pad_token_id)
        chosen = batch.labels != NO_LABEL
        with torch.inference_mode():
            hidden = parts.states(batch.input_ids, batch.attention_mask, batch.token_type_ids)
            logits, answers = parts.word_logits(hidden[chosen]).float(), batch.labels[chosen]
            own = logits.gather(1, answers[:, None])
            ranks += (logits > own).sum(dim=1).tolist()
            losses += torch.nn.functional.cross_entropy(logits, answers, reduction="none").tolist()
            margins += margins_of(parts.next_logits(hidden)).tolist()
        masked += [kind == MASK for instance in rows for kind in instance.corruption.kinds[instance.corruption.chosen]]
    following = np.array([instance.following for instance in instances])
    right = (np.array(margins) > 0) == (following == IS_NEXT)
    return summary(np.array(ranks), np.array(losses), np.array(masked), following, right)


def summary(
    ranks: np.ndarray, losses: np.ndarray, masked: np.ndarray, following: np.ndarray, right: np.ndarray
) -> Measured:
    """`right` says of each sequence whether its next-sentence label, in `following`, was predicted correctly."""
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


def margins_of(logits: torch.Tensor) -> torch.Tensor:
    """Logits [B, 2] -> [B]: how much higher IsNext scores than NotNext; above 0 the answer is IsNext."""
    return logits[:, IS_NEXT] - logits[:, NOT_NEXT]


def batches_of(instances: list[Instance]) -> Iterator[list[Instance]]:
    """ROWS at a time."""
    for start in range(0, len(instances), ROWS):
        yield instances[start : start + ROWS]
