"""The rows of the word embeddings that training moved, how far, and why: the input or the tied output layer."""

from dataclasses import dataclass

import numpy as np
import torch


@dataclass(frozen=True)
class Rows:
    """One entry a row: V word pieces. The matrix is the embeddings and, transposed, the decoder."""

    moved: np.ndarray  # <float32>[V]: Euclidean distance between before and after
    in_input: np.ndarray  # <int64>[V]: how often it was in an input
    as_answer: np.ndarray  # <int64>[V]: how often it was the right answer
    wrongly: np.ndarray  # <float32>[V]: the probability it was given where another was right, summed
    gradient: (
        np.ndarray | None
    )  # <float32>[V]: norm of the gradient's row, of the last step; None where it was not looked at
    by_input: np.ndarray | None  # <float32>[V]: norm of the part that came back through the layers; exactly 0 without
    by_decoder: np.ndarray | None  # <float32>[V]: norm of the part from the decoder's logits


class RowCounter:
    """Counts while steps are taken; then compares the matrix with what it was."""

    def __init__(self, matrix: torch.Tensor, padding: int, closely: bool = False) -> None:
        """`closely` looks at the last step's gradient too, which takes half as long again."""
        self.closely = closely
        self._before = matrix.detach().clone()  # [V, d]
        self._padding = padding
        self._input, self._answers = (torch.zeros(len(matrix), dtype=torch.long) for _ in range(2))
        self._wrongly = torch.zeros(len(matrix))
        self._gradients: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None

    def count(self, input_ids: torch.Tensor, logits: torch.Tensor, answers: torch.Tensor) -> None:
        """One batch: [B, n] ids as the model read them, logits [M, V] and right answers [M] of the chosen tokens."""
        size = len(self._before)
        # The padding's embedding is never trained: PyTorch keeps its gradient from the input at zero.
        self._input += torch.bincount(input_ids[input_ids != self._padding], minlength=size)
        self._answers += torch.bincount(answers, minlength=size)
        chances = logits.detach().softmax(dim=-1)
        chances[torch.arange(len(answers)), answers] = 0
        self._wrongly += chances.sum(dim=0)

    def gradients(self, matrix: torch.Tensor, transformed: torch.Tensor, of_logits: torch.Tensor) -> None:
        """Split the matrix's gradient [V, d]: the decoder's share is dlogits^T [V, M] times its inputs [M, d]."""
        assert matrix.grad is not None
        by_decoder = of_logits.T @ transformed.detach()
        by_input = matrix.grad - by_decoder
        by_input[self._input == 0] = 0  # there the difference is rounding alone
        self._gradients = tuple(rows.norm(dim=1).numpy() for rows in (matrix.grad, by_input, by_decoder))

    def rows(self, matrix: torch.Tensor) -> Rows:
        """The current state of each row."""
        moved = (matrix.detach() - self._before).norm(dim=1).numpy()
        whole, by_input, by_decoder = self._gradients or (None, None, None)
        counts = (self._input.numpy(), self._answers.numpy(), self._wrongly.numpy())
        return Rows(moved, *counts, whole, by_input, by_decoder)
