"""Other ways to write than greedy, for any of the translators: beam search, and words drawn by chance."""

from collections.abc import Sequence
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
from demos.bert.translation.transformer import Transformer
from demos.bert.translation.vocabulary import padded

NO_WORDS = [0, BEGIN]  # padding and the beginning are never written


class Continuations:
    """From b prefixes of equal length to the logits [b, V] of the next word of a translation of `source`.

    The source is read once, and each prefix goes on from the decoder's state after the one that is a word shorter.
    """

    @torch.inference_mode()
    def __init__(self, trained: Trained, source: Sequence[str]) -> None:
        self._model: Any = trained.model
        self._memory = self._model.read(padded([source], trained.source))
        self._after: dict[tuple[int, ...], tuple[Tensor, list[Tensor]]] = {}  # a prefix: logits [V], the state's layers

    def __call__(self, prefixes: Sequence[tuple[int, ...]]) -> Tensor:
        self._compute(prefixes)
        return torch.stack([self._after[prefix][0] for prefix in prefixes])

    @torch.inference_mode()
    def _compute(self, prefixes: Sequence[tuple[int, ...]]) -> None:
        missing = [prefix for prefix in dict.fromkeys(prefixes) if prefix not in self._after]
        if not missing:
            return
        words = torch.tensor([[prefix[-1] if prefix else BEGIN] for prefix in missing])
        state: Any = None
        if missing[0]:
            shorter = [prefix[:-1] for prefix in missing]
            self._compute(shorter)
            state = [torch.stack(rows) for rows in zip(*(self._after[prefix][1] for prefix in shorter), strict=True)]
            state = state if isinstance(self._model, Transformer) else torch.stack(state)
        decoded = self._model.write(self._memory, words, state)
        logits = decoded.logits[:, -1].clone()
        logits[:, NO_WORDS] = -torch.inf
        for row, prefix in enumerate(missing):
            self._after[prefix] = logits[row], [layer[row] for layer in decoded.state]


def search(trained: Trained, source: Sequence[str], width: int, penalty: float) -> Search:
    """Beam search for the translation of `source`."""
    logits = Continuations(trained, source)
    return beam_search(lambda prefixes: logits(prefixes).log_softmax(-1), width, penalty, END, LONGEST)


def greedy(trained: Trained, source: Sequence[str]) -> Hypothesis:
    """The likeliest word at each step: a beam of one."""
    return search(trained, source, 1, 0.0).finished[0]


def least_sure(continuations: Continuations, tokens: Sequence[int]) -> tuple[int, Tensor]:
    """(the place, from 0, at which the likeliest word has the smallest probability; the logits [V] there)."""
    logits = torch.cat([continuations([tuple(tokens[:at])]) for at in range(len(tokens))])
    at = int(logits.softmax(-1).amax(-1).argmin())
    return at, logits[at]


def drawn_words(continuations: Continuations, sampling: Sampling, seeds: Sequence[int]) -> list[tuple[Drawn, ...]]:
    """For each seed a translation whose words are drawn one after the other."""
    return sample(continuations, sampling.check(), END, LONGEST, seeds)


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
