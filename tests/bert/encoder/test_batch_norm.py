"""Batch norm and layer norm against PyTorch's classes, and what another sentence changes."""

import numpy as np
import pytest
import torch

from demos.bert.encoder.batch_norm import (
    batch_normed,
    batch_states,
    batch_statistics,
    changes,
    layer_normed,
    running_statistics,
)
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel

BEFORE = ["the dog runs home", "a cat"]
AFTER = ["the dog runs home", "she saw a big old house"]


def states(loaded: LoadedModel, texts: list[str]):  # type: ignore[no-untyped-def]
    return batch_states(loaded, [encode(loaded.tokenizer, text) for text in texts])


def test_states_are_what_the_first_layer_norm_is_given(tiny: LoadedModel) -> None:
    found = states(tiny, BEFORE)
    inputs = tiny.tokenizer(BEFORE, padding=True, return_tensors="pt")
    given = []
    hook = tiny.model.embeddings.LayerNorm.register_forward_pre_hook(lambda _, args: given.append(args[0]))
    with torch.inference_mode():
        tiny.model(**inputs)
    hook.remove()
    np.testing.assert_allclose(found.values, given[0], atol=1e-6)
    assert found.real.tolist() == inputs["attention_mask"].bool().tolist()


def test_both_norms_equal_pytorchs(tiny: LoadedModel) -> None:
    found = states(tiny, BEFORE)
    x = torch.from_numpy(found.values)
    d = x.shape[-1]
    np.testing.assert_allclose(layer_normed(found.values), torch.nn.LayerNorm(d, elementwise_affine=False)(x))
    for counted in (np.ones_like(found.real), found.real):
        rows = x[torch.from_numpy(counted)]
        by_torch = torch.nn.BatchNorm1d(d, affine=False).double()(rows)
        own = batch_normed(found.values, batch_statistics(found.values, counted))
        np.testing.assert_allclose(own[counted], by_torch, atol=1e-9)


@pytest.mark.parametrize("padding", [True, False])
def test_running_statistics_equal_pytorchs(tiny: LoadedModel, padding: bool) -> None:
    batches = [states(tiny, BEFORE), states(tiny, AFTER)]
    norm = torch.nn.BatchNorm1d(batches[0].values.shape[-1], affine=False).double()
    for batch in batches:
        norm(torch.from_numpy(batch.values[np.ones_like(batch.real) if padding else batch.real]))
    running = running_statistics(batches, padding)
    np.testing.assert_allclose(running.mean, norm.running_mean, atol=1e-12)
    np.testing.assert_allclose(running.variance, norm.running_var, atol=1e-12)
    norm.eval()
    rows = batches[0].values[0]
    np.testing.assert_allclose(batch_normed(rows, running), norm(torch.from_numpy(rows)), atol=1e-9)


@pytest.mark.parametrize("padding", [True, False])
def test_only_batch_norm_in_training_depends_on_other_sentences(tiny: LoadedModel, padding: bool) -> None:
    before, after = states(tiny, BEFORE), states(tiny, AFTER)
    found = changes(before, after, running_statistics([before], padding), padding)
    assert found.tokens == before.tokens[0][: before.real[0].sum()]
    assert found.layer.max() == 0
    assert found.test.max() == 0
    assert found.train.min() > 0
    x, y = (torch.from_numpy(one.values[np.ones_like(one.real) if padding else one.real]) for one in (before, after))
    one, other = (torch.nn.BatchNorm1d(x.shape[1], affine=False).double()(rows)[: len(found.tokens)] for rows in (x, y))
    np.testing.assert_allclose(found.train, (other - one).norm(dim=1) / one.norm(dim=1), atol=1e-9)
