"""The ledger closes: each step against the model's own tensors, read by this file's own hooks, and against torch."""

import copy
import math
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from demos.bert.encoder.layer_trace import CLOSES, LayerLedger, difference, layer_ledger
from demos.bert.encoder.self_attention import head_shares
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, run_model
from demos.errors import UserError

SAID = "a the old miller river bank money counted twice quickly unbelievable don't , ! ? 42 naïve 東京 xylophonist"
WORDS = SAID.split()
# Where each step is, by the modules' own names: (module, its input or its output).
BERT_NAMES = {
    "query": ("attention.self.query", "out"),
    "key": ("attention.self.key", "out"),
    "value": ("attention.self.value", "out"),
    "concat": ("attention.output.dense", "in"),
    "t1": ("attention.output.dense", "out"),
    "t2": ("attention.output.LayerNorm", "in"),
    "t3": ("attention.output.LayerNorm", "out"),
    "inner": ("intermediate.dense", "out"),
    "active": ("output.dense", "in"),
    "t4": ("output.dense", "out"),
    "t5": ("output.LayerNorm", "in"),
    "h": ("output.LayerNorm", "out"),
}
DISTIL_NAMES = {
    "query": ("attention.q_lin", "out"),
    "key": ("attention.k_lin", "out"),
    "value": ("attention.v_lin", "out"),
    "concat": ("attention.out_lin", "in"),
    "t1": ("attention.out_lin", "out"),
    "t2": ("sa_layer_norm", "in"),
    "t3": ("sa_layer_norm", "out"),
    "inner": ("ffn.lin1", "out"),
    "active": ("ffn.lin2", "in"),
    "t4": ("ffn.lin2", "out"),
    "t5": ("output_layer_norm", "in"),
    "h": ("output_layer_norm", "out"),
}


@pytest.fixture(scope="module")
def bert(tiny: LoadedModel) -> LoadedModel:
    return _lively(tiny)


@pytest.fixture(scope="module")
def distil(distil: LoadedModel) -> LoadedModel:
    return _lively(distil)


@pytest.fixture(params=["bert", "distil", "bundled"])
def any_model(request: pytest.FixtureRequest) -> LoadedModel:
    loaded: LoadedModel = request.getfixturevalue(request.param)
    return loaded


def _lively(loaded: LoadedModel) -> LoadedModel:
    """Fresh models have gains of 1, offsets and biases of 0 and small weights: errors in them could not be seen."""
    generator, model = torch.Generator().manual_seed(5), copy.deepcopy(loaded.model)
    for parameter in model.parameters():
        if parameter.ndim == 1:
            parameter += 0.3 * torch.randn(parameter.shape, generator=generator)
        elif len(parameter) < 1_000:
            parameter *= 8
    return replace(loaded, model=model)


def sentences(count: int, seed: int = 0) -> list[str]:
    draw = random.Random(seed)
    return ["", "word " * 40, *(" ".join(draw.choices(WORDS, k=draw.randint(1, 24))) for _ in range(count - 2))]


def run_of(loaded: LoadedModel, text: str, pair: str = "") -> Run:
    return run_model(loaded, [encode(loaded.tokenizer, text, pair)])[0]


def hooked(loaded: LoadedModel) -> Callable[[Run], list[dict[str, np.ndarray]]]:
    """A function that gives every layer's own tensors, from one forward pass of a deep copy of the whole model.

    Its modules are found by their names in the weights' file.
    """
    model = copy.deepcopy(loaded.model)
    layers = model.encoder.layer if loaded.spec.segments else model.transformer.layer
    names = BERT_NAMES if loaded.spec.segments else DISTIL_NAMES
    seen: list[dict[str, np.ndarray]] = [{} for _ in layers]

    def keep(into: dict[str, np.ndarray], step: str, side: str) -> Callable[..., None]:
        def hook(_module: Any, inputs: tuple[torch.Tensor, ...], result: torch.Tensor) -> None:
            into[step] = (inputs[0] if side == "in" else result)[0].clone().numpy()

        return hook

    for layer, into in zip(layers, seen, strict=True):
        for step, (name, side) in names.items():
            layer.get_submodule(name).register_forward_hook(keep(into, step, side))

    def own(run: Run) -> list[dict[str, np.ndarray]]:
        inputs = {"input_ids": torch.tensor([run.encoding.input_ids])}
        if loaded.spec.segments:
            inputs["token_type_ids"] = torch.tensor([run.encoding.token_type_ids])
        with torch.inference_mode():
            attentions = model(**inputs, output_attentions=True).attentions
        for into, weights in zip(seen, attentions, strict=True):
            into["weights"] = weights[0].numpy()
            for step in ("query", "key", "value"):  # [n, d] -> [H, n, d_k]
                into[step] = np.stack(np.split(into[step], loaded.spec.num_heads, axis=1))
        return seen

    return own


def test_every_step_of_every_layer_and_head_is_the_models_own(any_model: LoadedModel) -> None:
    own_of = hooked(any_model)
    for text in sentences(4 if any_model.spec.key == "minilm" else 30):
        run = run_of(any_model, text, "A second one." if len(text) % 3 == 0 else "")
        own = own_of(run)
        for layer in range(run.num_layers):
            ledger = layer_ledger(any_model, run, layer)
            assert ledger.steps.keys() == own[layer].keys() == ledger.differences.keys()
            for name, ours in ledger.steps.items():
                assert difference(ours, own[layer][name]) <= CLOSES, (text, layer, name)
            assert ledger.largest <= CLOSES
            assert difference(ledger.block.h, run.hidden_states[layer + 1]) <= CLOSES
            assert difference(ledger.attention.weights, run.attentions[layer]) <= CLOSES


def test_the_steps_follow_from_each_other(bundled: LoadedModel) -> None:
    run = run_of(bundled, "The kettle boiled dry.")
    ledger = layer_ledger(bundled, run, 2)
    one, block = ledger.attention, ledger.block
    n, heads, width = len(run.encoding), 12, 32
    assert one.query.shape == one.key.shape == one.value.shape == one.z.shape == (heads, n, width)
    assert one.scores.shape == one.scaled.shape == one.weights.shape == (heads, n, n)
    assert one.scores[3, 1, 4] == pytest.approx(
        sum(float(a) * float(b) for a, b in zip(one.query[3, 1], one.key[3, 4], strict=True))
    )
    np.testing.assert_allclose(one.scaled, one.scores / math.sqrt(32), rtol=1e-6)
    np.testing.assert_allclose(one.weights.sum(axis=-1), 1, atol=1e-6)
    np.testing.assert_allclose(one.z[5, 2], (one.weights[5, 2][:, None] * one.value[5]).sum(axis=0), atol=1e-6)
    assert np.array_equal(one.concat[2, 5 * width : 6 * width], one.z[5, 2])
    assert np.array_equal(block.t1, one.output)
    assert np.array_equal(block.t2, block.x + block.t1)
    assert np.array_equal(block.t5, block.t3 + block.t4)
    assert block.inner.shape == block.active.shape == (n, 4 * 384)
    for norm, of in ((block.norm3, block.t2), (block.norm_out, block.t5)):
        np.testing.assert_allclose(norm.mean, of.mean(axis=1), atol=1e-5)
        np.testing.assert_allclose(norm.deviation, of.astype(np.float64).std(axis=1), rtol=1e-5)
        np.testing.assert_allclose(norm.result, norm.gain * norm.normalised + norm.offset, atol=1e-5)


def test_a_wrong_number_is_seen(bert: LoadedModel) -> None:
    ledger = layer_ledger(bert, run_of(bert, "Rain fell."), 0)
    assert ledger.largest <= CLOSES
    off = replace(ledger, read_own=lambda: {**ledger.own, "t4": ledger.own["t4"] + np.float32(1e-3)})
    assert off.largest == pytest.approx(1e-3, rel=0.1)
    assert max(off.differences, key=off.differences.__getitem__) == "t4"
    assert difference(np.array([200.0, 0.5]), np.array([200.001, 0.5])) == pytest.approx(5e-6, rel=1e-3)
    assert difference(np.array([0.001, 0.5]), np.array([0.002, 0.5])) == pytest.approx(1e-3)


def test_the_shared_model_gets_no_hook(bert: LoadedModel) -> None:
    run = run_of(bert, "Rain fell.")

    def hooks() -> list[int]:  # transformers keeps some of its own
        return [len(module._forward_hooks) + len(module._forward_pre_hooks) for module in bert.model.modules()]

    before = hooks()
    layer_ledger(bert, run, 1, causal=True, padding=2)
    assert hooks() == before


def test_causal_attention_is_torchs_own(any_model: LoadedModel) -> None:
    for text in sentences(3 if any_model.spec.key == "minilm" else 6, seed=2):
        run = run_of(any_model, text)
        ledger = layer_ledger(any_model, run, run.num_layers - 1, causal=True)
        one = ledger.attention
        q, k, v = (torch.from_numpy(part) for part in (one.query, one.key, one.value))
        theirs = F.scaled_dot_product_attention(q, k, v, is_causal=True).numpy()
        np.testing.assert_allclose(one.z, theirs, atol=1e-5)
        above = np.triu_indices(len(run.encoding), k=1)
        assert (one.weights[:, above[0], above[1]] == 0).all()
        assert np.isneginf(one.scaled[:, above[0], above[1]]).all()
        np.testing.assert_allclose(one.weights[:, 0, 0], 1)  # the first token sees itself alone
        assert ledger.largest <= CLOSES  # the model's own layer, given the same mask


@pytest.mark.parametrize(
    ("any_model", "pads"),
    [("bert", 1), ("bert", 5), ("distil", 1), ("distil", 5), ("bundled", 5)],
    indirect=["any_model"],
)
def test_padding_is_the_models_own_and_changes_no_real_token(any_model: LoadedModel, pads: int) -> None:
    run = run_of(any_model, "Two mice ran off with the unbelievable cheese.", "And then?")
    n = len(run.encoding)
    inputs = {
        "input_ids": torch.tensor([[*run.encoding.input_ids, *[0] * pads]]),  # [PAD] is 0 in BERT's vocabulary
        "attention_mask": torch.tensor([[1] * n + [0] * pads]),
    }
    if any_model.spec.segments:
        inputs["token_type_ids"] = torch.tensor([[*run.encoding.token_type_ids, *[0] * pads]])
    with torch.inference_mode():
        theirs = any_model.model(**inputs, output_hidden_states=True, output_attentions=True)
    for layer in range(run.num_layers):
        ledger = layer_ledger(any_model, run, layer, padding=pads)
        plain = layer_ledger(any_model, run, layer)
        assert (ledger.padding, len(ledger.block.h)) == (pads, n + pads)
        assert (ledger.attention.weights[:, :, n:] == 0).all()
        assert difference(ledger.attention.weights, theirs.attentions[layer][0].numpy()) <= CLOSES
        assert difference(ledger.block.h[:n], theirs.hidden_states[layer + 1][0, :n].numpy()) <= CLOSES
        assert difference(ledger.block.h[:n], plain.block.h) <= CLOSES
        assert difference(ledger.attention.z[:, :n], plain.attention.z) <= CLOSES


def test_padding_stops_at_the_models_length(bert: LoadedModel) -> None:
    run = run_of(bert, "word " * 509)
    assert len(run.encoding) == 511
    assert layer_ledger(bert, run, 0, padding=8).padding == 1


def test_head_shares_add_up_and_are_what_the_model_makes_of_one_head_alone(any_model: LoadedModel) -> None:
    run = run_of(any_model, "The old miller counted his sacks twice.")
    for layer in range(run.num_layers):
        ledger = layer_ledger(any_model, run, layer)
        shares = head_shares(ledger.weights, ledger.attention, 3)
        t1 = ledger.block.t1[3]
        np.testing.assert_allclose(shares.contributions.sum(axis=0) + shares.bias, t1, atol=1e-5)
        assert float(shares.shares.sum()) + shares.bias_share == pytest.approx(1, abs=1e-5)
        weight, bias = torch.from_numpy(ledger.weights.output.weight), torch.from_numpy(ledger.weights.output.bias)
        for head in range(run.num_heads):
            alone = np.zeros_like(ledger.attention.z[:, 3])
            alone[head] = ledger.attention.z[head, 3]
            theirs = F.linear(torch.from_numpy(alone.reshape(-1)), weight).numpy()
            np.testing.assert_allclose(shares.contributions[head], theirs, atol=1e-5)
            assert shares.norms[head] == pytest.approx(np.linalg.norm(theirs), rel=1e-4)
            assert shares.shares[head] == pytest.approx(float(theirs @ t1 / (t1 @ t1)), abs=1e-5)
        assert shares.bias_share == pytest.approx(float(bias.numpy() @ t1 / (t1 @ t1)), abs=1e-5)


def test_an_unknown_activation_is_told(bert: LoadedModel) -> None:
    model = copy.deepcopy(bert.model)
    model.config.hidden_act = "silu"
    with pytest.raises(UserError, match="'silu'"):
        layer_ledger(replace(bert, model=model), run_of(bert, "Rain."), 0)


def test_a_ledger_is_frozen(bert: LoadedModel) -> None:
    ledger = layer_ledger(bert, run_of(bert, "Rain."), 0)
    assert isinstance(ledger, LayerLedger)
    with pytest.raises(AttributeError):
        ledger.layer = 1  # type: ignore[misc]
