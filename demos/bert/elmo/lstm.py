"""The steps of an LSTM, gate by gate (Hochreiter and Schmidhuber 1997; with the forget gate of Gers et al. 2000)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Steps:
    """Each quantity of n steps, in the order in which they are computed; [n, d] each."""

    input_gate: Tensor  # i, how much of the candidate is let in
    forget_gate: Tensor  # f, how much of the cell before is kept
    candidate: Tensor  # g
    output_gate: Tensor  # o, how much of the cell is shown
    cell: Tensor  # c = f * (c before) + i * g
    state: Tensor  # h = o * tanh(c)


def lstm_steps(lstm: nn.LSTM, inputs: Tensor) -> Steps:
    """The outputs of one layer for `inputs` [n, d], from states of zeros. Equal to `torch.nn.LSTM`."""
    state = cell = inputs.new_zeros(lstm.hidden_size)
    rows: list[tuple[Tensor, ...]] = []
    for x in inputs:
        sums = lstm.weight_ih_l0 @ x + lstm.bias_ih_l0 + lstm.weight_hh_l0 @ state + lstm.bias_hh_l0
        i, f, g, o = sums.chunk(4)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        cell = f * cell + i * g
        state = o * cell.tanh()
        rows.append((i, f, g, o, cell, state))
    return Steps(*(torch.stack(of_name) for of_name in zip(*rows, strict=True)))
