"""Other ways to write than greedy, for any of the translators: beam search, and words drawn by chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import Tensor

from demos.bert.decoding.beam import Hypothesis, Search, beam_search
from demos.bert.decoding.sampling import Drawn, Sampling, sample
from demos.bert.translation.bundled import bundled, right
from demos.bert.translation.decoding import LONGEST, Trained
from demos.bert.translation.grammar import Pair, held_out
from demos.bert.translation.gru import BEGIN, END
from demos.bert.translation.vocabulary import padded

NO_WORDS = [0, BEGIN]  # padding and the beginning are never written


def continuations(trained: Trained, source: Sequence[str]) -> Callable[[Sequence[tuple[int, ...]]], Tensor]:
    """A function from b prefixes of equal length to the logits [b, V] of the next word of a translation of `source`."""
    ids = padded([source], trained.source)

    @torch.inference_mode()
    def logits(prefixes: Sequence[tuple[int, ...]]) -> Tensor:
        memory: Any = trained.model.read(ids.expand(len(prefixes), -1))
        words = torch.tensor([[BEGIN, *prefix] for prefix in prefixes])
        next_logits: Tensor = trained.model.write(memory, words).logits[:, -1].clone()
        next_logits[:, NO_WORDS] = -torch.inf
        return next_logits

    return logits


def search(trained: Trained, source: Sequence[str], width: int, penalty: float) -> Search:
    """Beam search for the translation of `source`."""
    logits = continuations(trained, source)
    return beam_search(lambda prefixes: logits(prefixes).log_softmax(-1), width, penalty, END, LONGEST)


def greedy(trained: Trained, source: Sequence[str]) -> Hypothesis:
    """The likeliest word at each step: a beam of one."""
    return search(trained, source, 1, 0.0).finished[0]


def drawn_words(trained: Trained, source: Sequence[str], sampling: Sampling, seed: int) -> tuple[Drawn, ...]:
    """A translation whose words are drawn one after the other."""
    logits = continuations(trained, source)
    return sample(lambda prefix: logits([prefix])[0], sampling.check(), END, LONGEST, seed)


@cache
def missed(kind: str, width: int) -> tuple[Pair, ...]:
    """The held-out pairs that this translator renders right with a beam of `width` and wrong with greedy decoding."""
    trained = bundled(kind)
    wrong = [pair for pair, is_right in zip(held_out(), right(kind), strict=True) if not is_right]
    return tuple(
        pair for pair in wrong if words_of(trained, search(trained, pair.source, width, 0.0).finished[0]) == pair.target
    )


def words_of(trained: Trained, hypothesis: Hypothesis) -> tuple[str, ...]:
    """Its words, without the end."""
    return tuple(trained.target.words[token] for token in hypothesis.tokens if token != END)
