"""An encoder in two halves against its own whole pass, and its products by oneDNN against PyTorch's own."""

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel

from demos.bert.model import linear
from demos.bert.model.linear import QuickLinear, quicken
from demos.training.learning.encoder import lower, upper

IDS = torch.tensor([[2, 7, 11, 30, 8, 3], [2, 9, 3, 0, 0, 0], [2, 5, 5, 21, 3, 0]])
SEGMENTS = torch.tensor([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 0]])
PADDED = (IDS != 0).long()


def encoder_of(kind: str, attention: str = "sdpa") -> Any:
    """A random one of 3 layers, 2 heads, width 16, without dropout."""
    torch.manual_seed(1)
    if kind == "bert":
        config = BertConfig(
            vocab_size=40,
            hidden_size=16,
            num_hidden_layers=3,
            num_attention_heads=2,
            intermediate_size=32,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            initializer_range=0.5,
        )
        model: Any = BertModel(config, add_pooling_layer=False)
    else:
        settings = DistilBertConfig(
            vocab_size=40,
            dim=16,
            n_layers=3,
            n_heads=2,
            hidden_dim=32,
            dropout=0.0,
            attention_dropout=0.0,
            initializer_range=0.5,
        )
        model = DistilBertModel(settings)
    model.set_attn_implementation(attention)
    return model.train()


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("kind", ["bert", "distilbert"])
@pytest.mark.parametrize("mask", [PADDED, torch.ones_like(PADDED)], ids=["padded", "full"])
def test_both_halves_are_the_whole_bit_for_bit(kind: str, attention: str, mask: torch.Tensor) -> None:
    encoder = encoder_of(kind, attention)
    segments = SEGMENTS if kind == "bert" else None
    named = {"token_type_ids": segments} if kind == "bert" else {}
    whole = encoder(input_ids=IDS, attention_mask=mask, **named).last_hidden_state
    assert encoder.config.num_hidden_layers == 3
    for layers in range(4):
        states = lower(encoder, layers, IDS, mask, SEGMENTS)
        assert not states.requires_grad
        last = upper(encoder, layers, states, mask)
        assert torch.equal(last, whole)
        assert last.requires_grad == (layers < 3)


def test_the_gradient_of_the_upper_half_is_the_whole_ones() -> None:
    encoder = encoder_of("bert")
    encoder(input_ids=IDS, attention_mask=PADDED).last_hidden_state.square().sum().backward()
    wanted = {name: p.grad for name, p in encoder.encoder.layer[2].named_parameters()}
    encoder.zero_grad(set_to_none=True)
    upper(encoder, 2, lower(encoder, 2, IDS, PADDED), PADDED).square().sum().backward()
    found = {name: p.grad for name, p in encoder.encoder.layer[2].named_parameters()}
    assert wanted.keys() == found.keys()
    for name, gradient in wanted.items():
        assert gradient is not None, name
        assert torch.equal(found[name], gradient), name
    assert encoder.embeddings.word_embeddings.weight.grad is None
    assert encoder.encoder.layer[1].output.dense.weight.grad is None


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_in_bfloat16_the_halves_are_the_whole_too(kind: str) -> None:
    encoder = encoder_of(kind, "eager")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        whole = encoder(input_ids=IDS, attention_mask=PADDED).last_hidden_state
        halves = upper(encoder, 1, lower(encoder, 1, IDS, PADDED), PADDED)
    assert torch.equal(halves, whole)


@pytest.fixture(params=[True, False], ids=["oneDNN", "PyTorch's own"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each library in turn, whichever is quicker here."""
    monkeypatch.setattr(linear, "onednn_is_quicker", lambda: request.param and linear._has_onednn())


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("kind", ["bert", "distilbert"])
def test_a_quickened_encoder_is_the_plain_one_in_every_gradient(kind: str) -> None:
    plain = encoder_of(kind)
    quick = quicken(copy.deepcopy(plain))
    assert any(isinstance(module, QuickLinear) for module in quick.modules())
    assert not any(isinstance(module, QuickLinear) for module in plain.modules())
    assert list(quick.state_dict()) == list(plain.state_dict())
    outputs = [model(input_ids=IDS, attention_mask=PADDED).last_hidden_state for model in (plain, quick)]
    assert torch.allclose(outputs[0], outputs[1], atol=1e-5)
    for output in outputs:
        (output * PADDED.unsqueeze(-1)).pow(3).sum().backward()
    for (name, wanted), found in zip(plain.named_parameters(), quick.parameters(), strict=True):
        if name.endswith(("key.bias", "k_lin.bias")):  # softmax does not see it: its true gradient is 0
            continue
        assert wanted.grad is not None, name
        assert torch.allclose(found.grad, wanted.grad, rtol=1e-4, atol=1e-5 * float(wanted.grad.abs().max())), name


@pytest.mark.usefixtures("library")
def test_a_quick_linear_is_checked_by_finite_differences() -> None:
    """Against nothing of PyTorch's products: (L(w + e) - L(w - e)) / 2e, for the input, the weight and the bias."""
    torch.manual_seed(0)
    module = nn.Linear(5, 3)
    states = torch.randn(2, 4, 5, requires_grad=True)
    module.__class__ = QuickLinear
    module(states).sin().sum().backward()
    for values in (states, module.weight, module.bias):
        gradient = values.grad.flatten()
        for place in range(0, values.numel(), 3):
            sums = []
            for shift in (0.01, -0.01):
                with torch.no_grad():
                    values.view(-1)[place] += shift
                    y = states.double() @ module.weight.double().t() + module.bias.double()
                    sums.append(y.sin().sum().item())
                    values.view(-1)[place] -= shift
            assert gradient[place].item() == pytest.approx((sums[0] - sums[1]) / 0.02, abs=1e-3)


def test_a_quick_linear_steps_aside_and_spares_what_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "onednn_is_quicker", linear._has_onednn)
    module = nn.Linear(6, 4, bias=False)
    module.__class__ = QuickLinear
    states = torch.randn(3, 6, generator=torch.Generator().manual_seed(0))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert module(states).dtype == torch.bfloat16
    assert module.double()(states.double()).dtype == torch.float64
    module.float().weight.requires_grad_(False)
    assert not module(states).requires_grad
    states.requires_grad_()
    module(states).sum().backward()
    assert states.grad is not None
    assert module.weight.grad is None
    assert torch.allclose(states.grad, module.weight.sum(0).expand(3, 6), atol=1e-6)
    monkeypatch.setattr(linear, "onednn_is_quicker", lambda: False)
    assert torch.equal(module(states), states @ module.weight.t())
    assert module(states).grad_fn.name() != "_ProductBackward"


@pytest.mark.parametrize(
    ("system", "cpuinfo", "processor", "maker"),
    [
        ("linux", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n", "", "AuthenticAMD"),
        ("linux", "processor\t: 0\nvendor_id\t: GenuineIntel\n", "", "GenuineIntel"),
        ("linux", "processor\t: 0\nCPU implementer\t: 0x41\n", "", ""),
        ("darwin", None, "arm", ""),
        ("win32", None, "AMD64 Family 25 Model 1 Stepping 1, AuthenticAMD", "AuthenticAMD"),
        ("win32", None, "Intel64 Family 6 Model 154 Stepping 3, GenuineIntel", "GenuineIntel"),
    ],
)
@pytest.mark.parametrize("vectors", ["AVX512", "AVX2", "DEFAULT"])
def test_the_library_is_chosen_by_who_made_the_cpu_and_its_vectors(
    system: str,
    cpuinfo: str | None,
    processor: str,
    maker: str,
    vectors: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "cpuinfo"
    if cpuinfo is not None:
        file.write_text(cpuinfo, encoding="utf-8")
    monkeypatch.setattr(linear, "CPU", file)
    monkeypatch.setattr(linear.sys, "platform", system)
    monkeypatch.setattr(linear.platform, "processor", lambda: processor)
    assert linear._maker() == maker
    monkeypatch.setattr(linear.torch.backends.cpu, "get_cpu_capability", lambda: vectors)
    expected = maker == "AuthenticAMD" and vectors == "AVX512" and linear._has_onednn()
    assert linear.onednn_is_quicker.__wrapped__() == expected


def test_a_quickened_encoder_is_copied_and_kept_as_the_plain_one(tmp_path: Path) -> None:
    quick = quicken(encoder_of("bert"))
    for twin in (copy.deepcopy(quick), pickle.loads(pickle.dumps(quick))):
        assert torch.equal(
            twin(input_ids=IDS, attention_mask=PADDED).last_hidden_state,
            quick(input_ids=IDS, attention_mask=PADDED).last_hidden_state,
        )
    quick.save_pretrained(tmp_path)
    again = BertModel.from_pretrained(tmp_path, add_pooling_layer=False)
    assert type(again.encoder.layer[0].output.dense) is nn.Linear
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in quick.state_dict().items())
