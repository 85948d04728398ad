"""The training of the recurrent network on the grammar's English sentences, and how well it predicts the others."""

import math
import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch.nn.functional import cross_entropy

from demos.bert.recurrent.bundled import Trained
from demos.bert.recurrent.network import RecurrentNetwork
from demos.bert.translation.grammar import HELD_OUT, SEED, sentences
from demos.bert.translation.gru import BEGIN, END, PADDING, SPECIAL
from demos.bert.translation.vocabulary import Vocabulary, shifted

TRAINED_ON = 8_000  # sentences, after those held out
STEPS, BATCH, RATE, CLIP, FIRST_SEED = 900, 64, 1e-2, 1.0, 1
ADDED = 0.1  # to each count of a pair of words, so that none has a probability of 0
Sentences = Sequence[Sequence[str]]


def texts() -> tuple[Sentences, Sentences]:
    """(the sentences that are trained on, those held out): the English halves of the translators' pairs."""
    english = [pair.source for pair in sentences(HELD_OUT + TRAINED_ON, SEED)]
    return english[HELD_OUT:], english[:HELD_OUT]


def train(steps: int = STEPS) -> Trained:
    """The network after so many batches, with Adam and a rate that rises and falls; nothing measured yet."""
    train_on, held_out = texts()
    vocabulary, draw = Vocabulary.of([*train_on, *held_out]), random.Random(FIRST_SEED)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(FIRST_SEED)
        trained = Trained(RecurrentNetwork(len(vocabulary)), vocabulary, {})
    weights = list(trained.network.parameters())
    optimizer = torch.optim.Adam(weights, lr=RATE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps + 1)
    for _ in range(steps):
        loss = cross_entropy_of(trained, draw.sample(train_on, BATCH))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, CLIP)
        optimizer.step()
        schedule.step()
    return trained


def cross_entropy_of(trained: Trained, of: Sentences) -> torch.Tensor:
    """The mean of −ln p over all words of the sentences, their ends included."""
    inputs, targets = shifted(of, trained.vocabulary)
    logits = trained.network(inputs)
    return cross_entropy(logits.flatten(0, 1), targets.flatten() - END, ignore_index=PADDING - END)


def cross_entropy_of_pairs(vocabulary: Vocabulary, train_on: Sentences, of: Sentences) -> float:
    """The same mean for the counts of pairs of neighbors in `train_on` (a bigram model), ADDED to each."""
    pairs = Counter(pair for sentence in train_on for pair in pairs_of(sentence))
    firsts: Counter[str] = Counter()
    for (first, _), count in pairs.items():
        firsts[first] += count
    words = len(vocabulary) - END
    costs = [
        -math.log((pairs[pair] + ADDED) / (firsts[pair[0]] + ADDED * words))
        for sentence in of
        for pair in pairs_of(sentence)
    ]
    return sum(costs) / len(costs)


def pairs_of(sentence: Sequence[str]) -> list[tuple[str, str]]:
    """The neighbors in a sentence, with its beginning and its end."""
    return list(pairwise([SPECIAL[BEGIN], *sentence, SPECIAL[END]]))


@torch.inference_mode()
def measured(trained: Trained) -> dict[str, float]:
    """The cross-entropy of the network and of the bigram model on the sentences held out; and how many there are."""
    train_on, held_out = texts()
    return {
        "cross_entropy": cross_entropy_of(trained, held_out).item(),
        "of_pairs": cross_entropy_of_pairs(trained.vocabulary, train_on, held_out),
        "held_out": len(held_out),
        "trained_on": len(train_on),
    }
