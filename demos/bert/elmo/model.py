"""A two-way language model of LSTMs with a word's characters as its input, as ELMo is (Peters et al. 2018, section 3).

Row vectors; b sentences of n words (the two ends of the sentence included), d numbers a state and a direction, C
characters a word. The forward model predicts each word from those before it, the backward model from those behind it;
they share the characters' convolutions and the output layer, and nothing else.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import max_pool1d

from demos.bert.elmo.words import CHARACTER_COUNT, SPECIAL

WIDTH, LAYERS = 96, 2
CHARACTER_WIDTH = 16
FILTERS = {1: 16, 2: 32, 3: 48, 4: 32}  # how many of each length, in characters


@dataclass(frozen=True)
class States:
    """The outputs of the two LSTMs for b sentences."""

    words: Tensor  # [b, n, d], x: from the characters alone
    forward: Tensor  # [layers, b, n, d], after the words up to this one
    backward: Tensor  # [layers, b, n, d], after the words from the last down to this one


class TwoWay(nn.Module):
    """The language model. Sentences of a batch have the same length; nothing is padded but a word's characters."""

    def __init__(self, vocabulary: int, width: int = WIDTH) -> None:
        super().__init__()
        self.characters = nn.Embedding(CHARACTER_COUNT + len(SPECIAL) - 1, CHARACTER_WIDTH, padding_idx=0)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(CHARACTER_WIDTH, count, length) for length, count in FILTERS.items()
        )
        self.project = nn.Linear(sum(FILTERS.values()), width)
        self.forwards = nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(LAYERS))
        self.backwards = nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(LAYERS))
        self.output = nn.Linear(width, vocabulary)

    def word_vectors(self, spelled: Tensor) -> Tensor:
        """[m, d] from the characters of m words, [m, C]: each filter's largest answer along the word, then a layer."""
        letters = self.characters(spelled).transpose(1, 2)
        answers = [convolution(letters) for convolution in self.convolutions]
        largest = torch.cat([max_pool1d(answer, answer.shape[-1]).squeeze(-1) for answer in answers], dim=-1)
        return self.project(torch.relu(largest))

    def read(self, words: Tensor) -> States:
        """All states for word vectors [b, n, d]. The second layer's output has its input added, as in ELMo."""
        forward, backward = [], []
        ahead, back = words, words.flip(1)
        for number, (forwards, backwards) in enumerate(zip(self.forwards, self.backwards, strict=True)):
            ahead = forwards(ahead)[0] + (ahead if number else 0)
            back = backwards(back)[0] + (back if number else 0)
            forward.append(ahead)
            backward.append(back.flip(1))
        return States(words, torch.stack(forward), torch.stack(backward))

    def next_words(self, states: States) -> Tensor:
        """Logits [b, n - 1, vocabulary]: at place t of word t + 1, from the words up to t."""
        return self.output(states.forward[-1, :, :-1])

    def words_before(self, states: States) -> Tensor:
        """Logits [b, n - 1, vocabulary]: at place t of word t, from the words behind it."""
        return self.output(states.backward[-1, :, 1:])
