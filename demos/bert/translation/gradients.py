"""The gradient of an encoder's last state by each word: how much the last word's state depends on it."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from demos.bert.translation.decoding import Trained
from demos.bert.translation.gru import Translator
from demos.bert.translation.transformer import Transformer
from demos.bert.translation.vocabulary import padded


def word_vectors(trained: Trained, source: Sequence[str]) -> Tensor:
    """[n, d]: what enters the encoder, a Transformer's positions included. Words must be in the vocabulary."""
    model, ids = trained.model, padded([source], trained.source)
    vectors: Tensor = model.read(ids).embedded.output if isinstance(model, Transformer) else model.source(ids)
    return vectors[0]


def last_state(trained: Trained, vectors: Tensor) -> Tensor:
    """[b, d]: the encoder's state of the last word, for `vectors` [b, n, d]. A GRU's is that of its forward half."""
    model = trained.model
    if isinstance(model, Transformer):
        shown = torch.zeros(1, 1, 1, vectors.shape[1], dtype=torch.bool)
        rows = vectors
        for layer in model.encoder[:-1]:
            rows = layer(rows, shown).output
        top = model.encoder[-1]  # only the last word's row of it
        attended = top.attention_norm(rows[:, -1:], top.attention(rows[:, -1:], rows, shown).output).output
        return top.feed_forward_norm(attended, top.feed_forward(attended).output).output[:, 0]
    last: Tensor = forward_half(model)(vectors)[0][:, -1]
    return last


def forward_half(model: Translator) -> nn.GRU:
    """The half of a bidirectional encoder that goes from the first word to the last, with the same weights."""
    both = model.encoder
    half = nn.GRU(both.input_size, both.hidden_size, batch_first=True, dtype=both.weight_ih_l0.dtype)
    half.load_state_dict({name: getattr(both, name) for name, _ in half.named_parameters()})
    return half.requires_grad_(False)


def gradient_norms(trained: Trained, source: Sequence[str]) -> tuple[float, ...]:
    """The Frobenius norm of d(last state) / d(word vector) for each word: one backward pass for all components."""
    with torch.inference_mode(False), torch.enable_grad():
        vectors = word_vectors(trained, source)
        width = trained.model.encoder.hidden_size if isinstance(trained.model, Translator) else vectors.shape[-1]
        copies = vectors.expand(width, -1, -1).clone().requires_grad_()  # the i-th is for the i-th component
        (jacobian,) = torch.autograd.grad(last_state(trained, copies).diagonal().sum(), copies)  # [width, n, d]
    return tuple(jacobian.square().sum((0, 2)).sqrt().tolist())


def factor_per_word(norms: Sequence[float]) -> float:
    """The factor by which each word of distance multiplies the norm: from a straight line through the logarithms.

    The last word itself is left out, since nothing lies between it and its state. Needs three words.
    """
    distances = np.arange(1, len(norms))
    return float(np.exp(np.polyfit(distances, np.log(norms[-2::-1]), 1)[0]))
