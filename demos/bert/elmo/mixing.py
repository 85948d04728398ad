"""A word's vector by ELMo: the states of all layers, weighed and added (Peters et al. 2018, equation 1)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from demos.bert.elmo.bundled import Trained
from demos.bert.elmo.lstm import lstm_steps
from demos.bert.elmo.model import LAYERS
from demos.bert.elmo.words import BEGIN, END, SPECIAL, spelled
from demos.errors import UserError

TOP = 5  # of the likeliest words
EPSILON = 1e-12
SHOWN = 8  # numbers of a vector


@dataclass(frozen=True)
class Read:
    """One sentence of n words; width d a direction. Its two ends are left out."""

    words: tuple[str, ...]
    layers: np.ndarray  # <float32>[LAYERS + 1, n, 2d]: [x ; x], then [forward ; backward] of each layer
    after: tuple[tuple[tuple[str, float], ...], ...]  # at each word the TOP next words that the forward model expects
    before: tuple[tuple[tuple[str, float], ...], ...]  # and the ones before it that the backward model expects


@torch.inference_mode()
def read(trained: Trained, words: Sequence[str]) -> Read:
    """All states of a sentence, and what each direction expects beside each word."""
    model = trained.model
    vectors = model.word_vectors(spelled([SPECIAL[BEGIN], *words, SPECIAL[END]]))
    states = model.read(vectors[None])
    both = torch.cat([states.forward, states.backward], dim=-1)[:, 0, 1:-1]
    twice = torch.cat([vectors, vectors], dim=-1)[1:-1]
    sides = (model.next_words(states)[0, 1:], model.words_before(states)[0, :-1])
    after, before = (tuple(_likeliest(trained, logits) for logits in of_side) for of_side in sides)
    return Read(tuple(words), torch.stack([twice, *both]).numpy(), after, before)


@torch.inference_mode()
def gates(trained: Trained, words: Sequence[str], at: int) -> list[tuple[str, list[float]]]:
    """The first SHOWN numbers of all that the forward LSTM of layer 1 computes for word number `at`, each named."""
    vectors = trained.model.word_vectors(spelled([SPECIAL[BEGIN], *words[: at + 1]]))
    steps = lstm_steps(trained.model.forwards[0], vectors)
    named = {
        "x: the word": vectors,
        "i: input gate": steps.input_gate,
        "f: forget gate": steps.forget_gate,
        "g: candidate": steps.candidate,
        "o: output gate": steps.output_gate,
        "c: cell": steps.cell,
        "h: state": steps.state,
    }
    return [(name, rows[-1, :SHOWN].tolist()) for name, rows in named.items()]


def _likeliest(trained: Trained, logits: torch.Tensor) -> tuple[tuple[str, float], ...]:
    """The TOP words by their probability. The first logit is no word: it was never a target in training."""
    shares, ids = logits[1:].softmax(-1).topk(TOP)
    return tuple((trained.vocabulary[at + 1], share) for at, share in zip(ids.tolist(), shares.tolist(), strict=True))


def shares_of(weights: Sequence[float]) -> np.ndarray:
    """s_0 ... s_L: weights of 0 or more, divided by their sum. Raises UserError where all are 0."""
    values = np.asarray(weights, dtype=np.float64)
    if values.shape != (LAYERS + 1,) or not np.isfinite(values).all() or (values < 0).any() or not values.sum():
        raise UserError("Give at least one layer a weight above 0.")
    return values / values.sum()


def mixed(layers: np.ndarray, shares: np.ndarray, gamma: float = 1.0) -> np.ndarray:
    """gamma * sum_l s_l h^(l): [LAYERS + 1, ..., 2d] and [LAYERS + 1] -> [..., 2d]."""
    return gamma * np.tensordot(shares, layers, axes=1)


def standardised(layers: np.ndarray) -> np.ndarray:
    """Each layer's vector with mean 0 and variance 1, [..., 2d]: LayerNorm without gain and offset.

    In some tasks it helped to do so before weighing: the layers' sizes differ (Peters et al. 2018, section 3.2).
    """
    wide = layers.astype(np.float64)
    wide -= wide.mean(-1, keepdims=True)
    return wide / np.sqrt((wide**2).mean(-1, keepdims=True) + EPSILON)
