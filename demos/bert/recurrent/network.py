"""A recurrent network as a language model (Elman 1990, Mikolov et al. 2010): words in, the next word's logits out.

Row vectors; e numbers a word, d numbers a state; V words can be predicted: all but the padding and the beginning.
"""

import torch
from torch import Tensor, nn

from demos.bert.translation.gru import END, PADDING

EMBEDDING, WIDTH = 32, 48  # e and d


class RecurrentNetwork(nn.Module):
    """One recurrent layer: h' = tanh(x W + h U + b), and a linear layer on it."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, EMBEDDING, padding_idx=PADDING)
        self.recurrent = nn.RNN(EMBEDDING, WIDTH, batch_first=True)
        self.output = nn.Linear(WIDTH, words - END)

    def forward(self, ids: Tensor) -> Tensor:
        """Logits [b, m, V] of the word after each of `ids` [b, m], by torch's own recurrent layer."""
        states, _ = self.recurrent(self.words(ids))
        return self.output(states)

    def step(self, word: int, state: Tensor) -> tuple[Tensor, Tensor]:
        """(the new state [d], the logits [V] of the next word) from a word's id and the state before it [d]."""
        layer = self.recurrent
        of_word = self.words.weight[word] @ layer.weight_ih_l0.T + layer.bias_ih_l0
        of_state = state @ layer.weight_hh_l0.T + layer.bias_hh_l0
        new = torch.tanh(of_word + of_state)
        return new, self.output(new)
