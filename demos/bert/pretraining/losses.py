"""What a guess costs: the masked-word loss (Devlin et al. 2019, section 3.1, task 1), token by token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional as F

from demos.bert.pretraining.corruption import Corruption
from demos.bert.pretraining.guesses import Guess, Logits, guess_at


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
        losses = F.cross_entropy(logits, labels, reduction="none")  # [k]
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
                loss=float(losses[row]),
            )
            for row, place in enumerate(places)
        ),
        float(losses.mean()),
    )
