"""An encoder-decoder of two GRUs, with attention or without: what attention was invented for.

Bahdanau et al. 2015 (additive score), Luong et al. 2015 (dot product; the order of steps: decoder state, scores,
weights, context, [context ; state], output). Row vectors; b sentences, n source and m target words, d numbers a state.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PADDING, BEGIN, END = 0, 1, 2  # ids of what is no word
SPECIAL = ("", "<s>", "</s>")
SCORES = ("dot", "additive", "none")
EMBEDDING, WIDTH = 64, 128


@dataclass(frozen=True)
class Memory:
    """The outputs of the encoder."""

    states: Tensor  # [b, n, d], one a source word
    last: Tensor  # [b, d], both directions' ends: all that a decoder without attention is given
    absent: Tensor  # [b, n], True where there is no word


@dataclass(frozen=True)
class Decoded:
    """Each quantity of the decoder's steps, in the order in which they are computed."""

    states: Tensor  # [b, m, d], s_t
    scores: Tensor  # [b, m, n], -inf where there is no word
    weights: Tensor  # [b, m, n], softmax of the scores
    context: Tensor  # [b, m, d], the weighted sum of the encoder's states
    combined: Tensor  # [b, m, d], tanh([context ; state] W)
    logits: Tensor  # [b, m, target words]
    state: Tensor  # [1, b, d], of the decoder's GRU after the last step


class Translator(nn.Module):
    """A bidirectional GRU that reads, and one that writes."""

    def __init__(self, source_words: int, target_words: int, score: str = "dot", width: int = WIDTH) -> None:
        super().__init__()
        if score not in SCORES:
            raise ValueError(f"score is one of {SCORES}")
        self.score = score
        self.source = nn.Embedding(source_words, EMBEDDING, padding_idx=PADDING)
        self.target = nn.Embedding(target_words, EMBEDDING, padding_idx=PADDING)
        self.encoder = nn.GRU(EMBEDDING, width // 2, batch_first=True, bidirectional=True)
        self.decoder = nn.GRU(EMBEDDING, width, batch_first=True)
        if score == "additive":
            self.of_state = nn.Linear(width, width)
            self.of_memory = nn.Linear(width, width, bias=False)
            self.energy = nn.Linear(width, 1, bias=False)
        self.combine = nn.Linear(2 * width, width)
        self.output = nn.Linear(width, target_words)

    def read(self, source: Tensor) -> Memory:
        """`source` [b, n], ids; PADDING behind a sentence's end."""
        absent = source == PADDING
        lengths = (~absent).sum(1).cpu()
        packed = pack_padded_sequence(self.source(source), lengths, batch_first=True, enforce_sorted=False)
        states, ends = self.encoder(packed)
        states, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        return Memory(states, torch.cat([ends[0], ends[1]], dim=-1), absent)

    def write(self, memory: Memory, words: Tensor, state: Tensor | None = None) -> Decoded:
        """The decoder's steps for the words that it is given, [b, m]: at each one, the logits of the next.

        `state` goes on from an earlier call; without one the decoder begins with what the encoder ended with.
        """
        states, state = self.decoder(self.target(words), memory.last[None] if state is None else state)
        scores = self._scores(states, memory.states).masked_fill(memory.absent[:, None], -torch.inf)
        weights = scores.softmax(-1)
        attends = self.score != "none"
        context = weights @ memory.states if attends else memory.last[:, None].expand_as(states)
        combined = torch.tanh(self.combine(torch.cat([context, states], dim=-1)))
        return Decoded(states, scores, weights, context, combined, self.output(combined), state)

    def _scores(self, states: Tensor, memory: Tensor) -> Tensor:
        """[b, m, n]: how well each source word fits each step; all alike where there is no attention."""
        if self.score == "dot":
            return states @ memory.transpose(1, 2)
        if self.score == "additive":
            both = self.of_state(states)[:, :, None] + self.of_memory(memory)[:, None]
            energies: Tensor = self.energy(torch.tanh(both))
            return energies.squeeze(-1)
        return states.new_zeros(*states.shape[:2], memory.shape[1])

    def forward(self, source: Tensor, words: Tensor) -> Tensor:
        """Logits of the next word at each place, [b, m, target words]."""
        return self.write(self.read(source), words).logits
