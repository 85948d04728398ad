"""Queries, keys and their scaled dot products against the model's own attention, and the layers one may ask for."""

import numpy as np
import pytest
import torch
from scipy.special import softmax

from demos.bert.attention.queries_keys import check_layer, queries_and_keys, scaled_dot_products
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import RunCache, run_model
from demos.errors import UserError

TEXT, PAIR = "A heron stood motionless beside the millrace.", "Nothing moved."


@pytest.mark.parametrize("name", ["bundled", "tiny", "distil"])
def test_softmax_of_scaled_products_is_the_models_attention(name: str, request: pytest.FixtureRequest) -> None:
    loaded: LoadedModel = request.getfixturevalue(name)
    run = RunCache().get(loaded, TEXT, PAIR)
    for layer in range(run.num_layers):
        both = queries_and_keys(loaded, run, layer)
        weights = softmax(scaled_dot_products(both.queries, both.keys), axis=-1)
        assert both.queries.shape == both.keys.shape
        assert both.queries.shape[:2] == (run.num_heads, len(run.encoding))
        np.testing.assert_allclose(weights, run.attentions[layer], atol=1e-5)


def test_queries_and_keys_are_what_the_model_computes(bundled: LoadedModel) -> None:
    encoding = encode(bundled.tokenizer, TEXT)
    caught: dict[str, torch.Tensor] = {}
    attention = bundled.model.encoder.layer[3].attention.self
    hooks = [
        getattr(attention, name).register_forward_hook(lambda _m, _i, out, name=name: caught.update({name: out}))
        for name in ("query", "key")
    ]
    try:
        (run,) = run_model(bundled, [encoding])
    finally:
        for hook in hooks:
            hook.remove()
    both = queries_and_keys(bundled, run, 3)
    width = both.queries.shape[-1]
    for name, ours in (("query", both.queries), ("key", both.keys)):
        for head in range(run.num_heads):
            theirs = caught[name][0, :, head * width : (head + 1) * width].numpy()
            np.testing.assert_allclose(ours[head], theirs, atol=1e-4)


def test_layers_count_as_transformers_attentions_do() -> None:
    assert [check_layer(layer, 6) for layer in (0, 5, -1, 2.0)] == [0, 5, 5, 2]


@pytest.mark.parametrize("layer", [6, -7, 1.5, float("nan"), True, None, "2", [1]])
def test_other_layers_are_refused_in_one_sentence(layer: object) -> None:
    with pytest.raises(UserError, match=r"There is no layer .* layers 0 to 5\.$"):
        check_layer(layer, 6)  # type: ignore[arg-type]
