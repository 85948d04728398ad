"""Writing with the recurrent network: word by word, each from the state that the words before have left."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from demos.bert.recurrent.bundled import Trained
from demos.bert.recurrent.network import WIDTH
from demos.bert.translation.gru import BEGIN, END
from demos.bert.translation.vocabulary import words_in

MOST_TYPED, LONGEST = 16, 30  # words that a reader types; steps in all


@dataclass(frozen=True)
class Step:
    """One step of the network."""

    word: str  # its input
    state: Tensor  # [d], h after this word
    probabilities: Tensor  # [V], of the next word
    tempered: Tensor  # [V], the same of logits divided by the temperature
    following: int  # the next word as an index of the V words
    typed: bool  # whether the reader has typed the next word; else it was chosen here


def read_beginning(trained: Trained, text: str) -> tuple[str, ...]:
    """The words of a typed beginning, perhaps none. Raises UserError for too many, and for a word that is not known."""
    return words_in(text, trained.vocabulary, MOST_TYPED, "network")


@torch.inference_mode()
def write(trained: Trained, typed: Sequence[str], temperature: float | None = None, seed: int = 0) -> list[Step]:
    """The steps of the typed words and of those that are written after them, up to the end or LONGEST.

    The likeliest word is written; with a `temperature`, a random one of the tempered distribution.
    """
    ids, words = trained.vocabulary.ids, trained.vocabulary.words
    draw = torch.Generator().manual_seed(seed)
    state, word = torch.zeros(WIDTH), BEGIN
    steps: list[Step] = []
    while word != END and len(steps) < LONGEST:
        state, logits = trained.network.step(word, state)
        tempered = (logits / (temperature or 1.0)).softmax(-1)
        is_typed = len(steps) < len(typed)
        if is_typed:
            following = ids[typed[len(steps)]] - END
        else:
            chosen = logits.argmax() if temperature is None else torch.multinomial(tempered, 1, generator=draw)
            following = int(chosen)
        steps.append(Step(words[word], state, logits.softmax(-1), tempered, following, is_typed))
        word = following + END
    return steps
