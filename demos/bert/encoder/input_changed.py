"""The input spoilt on purpose: no positions, no segments, words shuffled; and how far that moves the model's output."""

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demos.bert.attention.matrix_labels import word_starts
from demos.bert.embeddings.similarity import cosine
from demos.bert.encoder.input import InputLedger, Tables, input_states
from demos.bert.encoder.norm_and_feed_forward import layer_norm
from demos.bert.model.encoding import Encoding
from demos.bert.model.models import LoadedModel


@dataclass(frozen=True)
class Change:
    """The effect of one change of the input on the n tokens' final states."""

    name: str  # "positions", "segments", "order", "bag"
    cosine: np.ndarray  # <float64>[n]: of each token's final state before and after, by its number before
    sentence: float  # cosine of the mean of all final states before and after
    largest: float  # the furthest that any number of any final state moved


@dataclass(frozen=True)
class Changes:
    """All changes of one input, and the order of the shuffled words."""

    order: tuple[int, ...]  # position j of the shuffled input holds the token that was at order[j] before
    changes: tuple[Change, ...]


def shuffled(encoding: Encoding, seed: int) -> tuple[int, ...]:
    """The tokens' numbers with the words of each sentence in another order, which the seed alone decides.

    Word pieces stay with their word; [CLS], [SEP] and each sentence keep their place. A sentence of two or more
    different words does change: the order that leaves the ids unchanged is skipped. If every order leaves them
    unchanged, each token stays in its place: equal words are not exchanged.
    """
    starts = word_starts(encoding)
    words = [list(range(a, b)) for a, b in zip(starts, [*starts[1:], len(encoding)], strict=True)]
    generator = random.Random(seed)
    for _ in range(20):
        mixed = list(words)
        for sentence in (0, 1):
            places = [
                place
                for place, word in enumerate(words)
                if encoding.sequence_ids[word[0]] == sentence and not encoding.special_tokens_mask[word[0]]
            ]
            drawn = generator.sample(places, len(places))
            for place, other in zip(places, drawn, strict=True):
                mixed[place] = words[other]
        order = tuple(number for word in mixed for number in word)
        if tuple(encoding.input_ids[number] for number in order) != encoding.input_ids:
            return order
    return tuple(range(len(encoding)))


def final_states(model: Any, inputs: np.ndarray) -> np.ndarray:
    """The encoder's layers run on inputs <float32>[batch, n, d] of our own: [batch, n, d], the last hidden state.

    The layers above the embeddings in transformers' forward pass, called directly: no padding, no mask. The model
    is only read, so other threads may use it meanwhile.
    """
    encoder = model.transformer if hasattr(model, "transformer") else model.encoder  # DistilBERT; BERT
    with torch.inference_mode():
        return encoder(torch.from_numpy(inputs)).last_hidden_state.numpy()


def change_input(loaded: LoadedModel, encoding: Encoding, tables: Tables, ledger: InputLedger, seed: int) -> Changes:
    """Each change in one pass of a batch, compared with the unchanged sentence, which is in the batch too.

    positions: none is added. segments: none is added (left out where the model has none). order: words shuffled.
    bag: words shuffled and no positions, compared with the unshuffled input without positions; Vaswani et al. 2017,
    section 3.5, say why nothing can change then.
    """
    order = shuffled(encoding, seed)
    back = np.argsort(order)  # where each token went
    segment = np.zeros_like(ledger.word) if ledger.segment is None else ledger.segment
    moved = (ledger.word + segment)[list(order)]  # a shuffled word keeps its sentence, so its segment too
    sums = {"positions": ledger.word + segment, "order": moved + ledger.position, "bag": moved}
    if ledger.segment is not None:
        sums["segments"] = ledger.word + ledger.position
    inputs = [layer_norm(tables.norm, total).result for total in sums.values()]
    *changed, unchanged = final_states(loaded.model, np.stack([*inputs, input_states(loaded, encoding)]))
    states = dict(zip(sums, changed, strict=True))
    for name in ("order", "bag"):
        states[name] = states[name][back]
    before = {name: states["positions"] if name == "bag" else unchanged for name in states}
    shown = [name for name in ("positions", "segments", "order", "bag") if name in states]
    return Changes(order, tuple(compare(name, before[name], states[name]) for name in shown))


def compare(name: str, before: np.ndarray, after: np.ndarray) -> Change:
    """Final states [n, d] of the same tokens before and after."""
    return Change(
        name=name,
        cosine=cosine(before, after),
        sentence=float(cosine(before.mean(axis=0, dtype=np.float64), after.mean(axis=0, dtype=np.float64))),
        largest=float(np.abs(before - after).max()),
    )
