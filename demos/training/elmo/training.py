"""The training of the small ELMo: both directions' next-word losses, added, as in Peters et al. 2018, section 3.1."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from demos.bert.elmo.model import TwoWay
from demos.bert.elmo.words import UNKNOWN, spelled
from demos.training.elmo.text import Sentences

BATCH, RATE, CLIP = 512, 3e-3, 1.0  # words of a batch
WARM_UP = 0.03  # of the time
MEASURED = 400  # batches


@dataclass(frozen=True)
class Trace:
    """One step of the training."""

    number: int
    loss: float  # mean of the last steps' losses a word and a direction
    words: int  # read so far
    share: float  # of the time


def train(model: TwoWay, sentences: Sentences, words: int, seconds: float, seed: int) -> Iterator[Trace]:
    """Train for so many seconds; the rate rises, then falls to 0 along a cosine. Speed decides which words are read.

    The first `words` ids of the sentences are those of the output layer; a rarer word is read, but not predicted.
    """
    letters = spelled(sentences.types)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    began, read, number, smooth = time.monotonic(), 0, 0, math.nan
    for epoch in count():
        for batch in sentences.batches(BATCH, seed + epoch):
            share = (time.monotonic() - began) / seconds
            if share >= 1:
                return
            falling = (1 + math.cos(math.pi * share)) / 2
            for group in optimizer.param_groups:
                group["lr"] = RATE * min(share / WARM_UP, falling)
            loss = torch.stack(losses(model, letters, batch, words)).mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            read, number = read + batch.size, number + 1
            smooth = loss.item() if math.isnan(smooth) else 0.99 * smooth + 0.01 * loss.item()
            yield Trace(number, smooth, read, share)


def losses(model: TwoWay, letters: Tensor, batch: np.ndarray, words: int) -> tuple[Tensor, Tensor]:
    """(forward, backward) cross-entropy, the mean over words that the output layer knows; `batch` [b, n] of ids."""
    ids = torch.from_numpy(batch).long()
    types, places = ids.unique(return_inverse=True)  # a word's characters are read once a batch
    states = model.read(model.word_vectors(letters[types])[places])
    wanted = ids.masked_fill(ids >= words, UNKNOWN)
    ahead = cross_entropy(model.next_words(states).flatten(0, 1), wanted[:, 1:].flatten(), ignore_index=UNKNOWN)
    back = cross_entropy(model.words_before(states).flatten(0, 1), wanted[:, :-1].flatten(), ignore_index=UNKNOWN)
    return ahead, back


@torch.inference_mode()
def measure(model: TwoWay, held_out: Sentences, words: int) -> dict[str, float]:
    """Perplexity of both directions on held-out sentences, over the words that the output layer knows."""
    letters = spelled(held_out.types)
    sums, scored_words = np.zeros(2), 0
    for number, batch in enumerate(held_out.batches(BATCH, 0)):
        if number == MEASURED:
            break
        known = int((batch[:, 1:] < words).sum())
        scored_words += known
        ahead, back = losses(model, letters, batch, words)
        # Both directions predict the same words: all but the first, all but the last.
        sums += np.array([ahead.item(), back.item()]) * known
    forward, backward = np.exp(sums / scored_words)
    return {"forward": float(forward), "backward": float(backward)}
