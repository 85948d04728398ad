"""What a guess costs: the two pre-training losses, token by token and together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F

from demos.bert.pretraining.corruption import NO_LABEL, Corruption
from demos.bert.pretraining.guesses import Guess, Logits, guess_at


@dataclass(frozen=True)
class MaskedLosses:
    """The masked-word loss of one input or a batch, in nats."""

    each: torch.Tensor  # <float32>[k]: -log of the true token's probability, for the k chosen tokens in order
    mean: torch.Tensor  # <float32>[]: what BERT learns from; it can be differentiated


def masked_losses(logits: torch.Tensor, labels: torch.Tensor) -> MaskedLosses:
    """Cross-entropy over the vocabulary at the chosen places (Devlin et al. 2019, section 3.1, task 1).

    `logits` [..., V] and `labels` [...], NO_LABEL where nothing is asked. Raises ValueError where nothing is asked
    anywhere: the mean of no losses is no number.
    """
    asked = labels != NO_LABEL
    if not asked.any():
        raise ValueError("no token was chosen, so there is no loss")
    each = F.cross_entropy(logits[asked], labels[asked], reduction="none")
    return MaskedLosses(each, each.mean())


def next_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Mean cross-entropy of IsNext (label 0) against NotNext (label 1), <float32>[] (the same, task 2).

    `logits` [B, 2] and `labels` [B]. BERT's pre-training loss is the sum of this and the masked words' mean.
    """
    return F.cross_entropy(logits, labels)


@dataclass(frozen=True)
class Answer:
    """What the model says at one chosen place."""

    place: int
    truth: Guess  # the text's own token
    best: Guess  # the likeliest one
    rank: int  # of the truth, 1 for the likeliest
    loss: float  # nats


@dataclass(frozen=True)
class Answers:
    """All answers of one corrupted input, and what they cost together."""

    each: tuple[Answer, ...]
    mean: float  # nats a chosen token


def answers(word_logits: Logits, tokenizer: Any, hidden: torch.Tensor, corruption: Corruption) -> Answers:
    """The answers at the chosen places, from the corrupted input's last hidden states [n, d]."""
    places = corruption.chosen
    labels = torch.from_numpy(corruption.labels[places])
    with torch.inference_mode():
        logits = word_logits(hidden[torch.from_numpy(places)])  # [k, V]
        losses = masked_losses(logits, labels)
        chances = logits.softmax(dim=-1)
        best = logits.argmax(dim=-1).tolist()
        ranks = 1 + (logits > logits.gather(1, labels[:, None])).sum(dim=-1)

    return Answers(
        tuple(
            Answer(
                place=int(place),
                truth=guess_at(tokenizer, logits[row], chances[row], int(labels[row])),
                best=guess_at(tokenizer, logits[row], chances[row], best[row]),
                rank=int(ranks[row]),
                loss=float(losses.each[row]),
            )
            for row, place in enumerate(places)
        ),
        float(losses.mean),
    )
