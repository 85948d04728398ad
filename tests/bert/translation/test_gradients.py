"""The norms of gradients against PyTorch's own Jacobian, and against finite differences of the model itself."""

import copy
from typing import Any

import pytest
import torch
from torch import Tensor

from demos.bert.translation.bundled import FOLDER, bundled, load
from demos.bert.translation.gradients import factor_per_word, gradient_norms, last_state, word_vectors
from demos.bert.translation.grammar import held_out
from demos.bert.translation.translators import TRANSFORMER
from demos.bert.translation.vocabulary import padded

KINDS = ["additive", "none", TRANSFORMER]
SOURCE = held_out()[3].source


@pytest.mark.parametrize("kind", KINDS)
def test_norms_are_those_of_the_jacobian(kind: str) -> None:
    with torch.inference_mode():  # as on the page, which may load it so, too
        trained = load(FOLDER / f"{kind}.safetensors")
        norms = gradient_norms(trained, SOURCE)
    jacobian = torch.autograd.functional.jacobian(
        lambda vectors: last_state(trained, vectors[None])[0], word_vectors(trained, SOURCE)
    )  # [width, n, d]
    assert len(norms) == len(SOURCE) == jacobian.shape[1]
    torch.testing.assert_close(torch.tensor(norms), torch.linalg.matrix_norm(jacobian.transpose(0, 1)))


@pytest.mark.parametrize("kind", KINDS)
def test_norms_are_those_of_finite_differences(kind: str) -> None:
    """In double precision, through the encoder as it translates: its whole stack, and both directions."""
    trained = copy.deepcopy(bundled(kind))
    model: Any = trained.model.double()
    vectors, small = word_vectors(trained, SOURCE), 1e-6

    def encoded(changed: Tensor) -> Tensor:
        if kind != TRANSFORMER:
            return model.encoder(changed[None])[0][0, -1, : model.encoder.hidden_size]
        rows = changed[None]
        for layer in model.encoder:
            rows = layer(rows, padded([SOURCE], trained.source)[:, None, None] == 0).output
        return rows[0, -1]

    expected = []
    for place in range(len(SOURCE)):
        columns = []
        for component in range(vectors.shape[1]):
            step = torch.zeros_like(vectors)
            step[place, component] = small
            columns.append((encoded(vectors + step) - encoded(vectors - step)) / (2 * small))
        expected.append(torch.stack(columns).norm().item())
    assert gradient_norms(trained, SOURCE) == pytest.approx(expected, rel=1e-5)


def test_the_factor_is_that_of_a_geometric_fall() -> None:
    assert factor_per_word([0.25, 0.5, 1.0, 9.0]) == pytest.approx(0.5)
    assert factor_per_word([3.0, 3.0, 3.0, 0.1]) == pytest.approx(1)


def test_recurrent_gradients_fall_and_the_transformers_do_not() -> None:
    """Of the held-out sentences of 12 words and more, in the mean."""
    long = [pair.source for pair in held_out()[:40] if len(pair.source) >= 12]
    assert len(long) > 5
    factors = {
        kind: sum(factor_per_word(gradient_norms(bundled(kind), source)) for source in long) / len(long)
        for kind in KINDS
    }
    assert factors["additive"] < factors["none"] < 0.85
    assert factors[TRANSFORMER] > 0.9
