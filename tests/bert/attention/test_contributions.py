"""Weight times length, and what stays of a token: against the same sums written out, and as the page says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.attention.contributions import (
    CONTRIBUTION,
    WEIGHT,
    Measured,
    added_norms,
    contributions,
    measured,
    staying_shares,
    value_lengths,
)
from demos.bert.attention.head_profiles import habit_sentences, measure_habit
from demos.bert.attention.patterns import is_punctuation, pattern_scores
from demos.bert.model.encoding import encode
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, run_model

LESSON = Path(__file__).resolve().parents[3] / "demos" / "lessons" / "attention"


def added(model: Any, run: Run, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
    """All vectors a_ij W^O_h v_j, summed over the heads: <float>[n, n, d]; and their lengths without a_ij, [H, n]."""
    attention = model.encoder.layer[layer].attention
    states = torch.from_numpy(run.hidden_states[layer].copy())
    heads, width = run.num_heads, states.shape[1] // run.num_heads
    vectors, lengths = [], []
    for head in range(heads):
        rows = slice(head * width, (head + 1) * width)
        value = states @ attention.self.value.weight[rows].T + attention.self.value.bias[rows]
        sent = value @ attention.output.dense.weight[:, rows].T  # [n, d]
        vectors.append(torch.from_numpy(run.attentions[layer, head].copy())[:, :, None] * sent[None])
        lengths.append(sent.norm(dim=-1))
    return torch.stack(vectors).sum(dim=0), torch.stack(lengths)


@torch.inference_mode()
def test_lengths_and_shares_are_those_of_the_vectors_written_out(bundled: LoadedModel) -> None:
    (run,) = run_model(bundled, [encode(bundled.tokenizer, "Kettles sing in the rain.", "")])
    for layer in (0, 3, 5):
        pairs, lengths = added(bundled.model, run, layer)
        np.testing.assert_allclose(value_lengths(bundled, run, layer), lengths.numpy(), rtol=1e-4)
        output, norm = (
            getattr(bundled.model.encoder.layer[layer].attention.output, name) for name in ("dense", "LayerNorm")
        )
        states = torch.from_numpy(run.hidden_states[layer].copy())
        whole = states + pairs.sum(dim=1) + output.bias
        own = states + torch.stack([pairs[i, i] for i in range(len(states))])
        others = whole - output.bias - own

        def after(part: torch.Tensor, whole: torch.Tensor = whole, norm: Any = norm) -> torch.Tensor:
            """What LayerNorm makes of a part of its input, without its offset: linear once the deviation is known."""
            deviation = (whole.var(dim=-1, unbiased=False, keepdim=True) + norm.eps).sqrt()
            return ((part - part.mean(dim=-1, keepdim=True)) / deviation * norm.weight).norm(dim=-1)

        np.testing.assert_allclose(
            staying_shares(bundled, run, layer), (after(own) / (after(own) + after(others))).numpy(), rtol=1e-4
        )
        parts = after(own + others + output.bias)  # with the bias they are all that LayerNorm gives but its offset
        np.testing.assert_allclose((norm(whole) - norm.bias).norm(dim=-1).numpy(), parts.numpy(), rtol=1e-4)


@pytest.fixture(scope="module")
def over_sentences(bundled: LoadedModel) -> dict[str, np.ndarray]:
    """By layer [6], over the 60 sentences: special tokens' share of the weight and of weight x length, what stays."""
    found: dict[str, list[list[float]]] = {"weight": [], "length": [], "stays": []}
    for text, pair in habit_sentences():
        (run,) = run_model(bundled, [encode(bundled.tokenizer, text, pair)])
        special = np.array(run.encoding.special_tokens_mask, dtype=bool)
        products = [run.attentions[layer] * value_lengths(bundled, run, layer)[:, None] for layer in range(6)]
        found["weight"].append(run.attentions[..., special].sum(axis=-1).mean(axis=(1, 2)).tolist())
        found["length"].append([float((one[..., special].sum(-1) / one.sum(-1)).mean()) for one in products])
        found["stays"].append([float(staying_shares(bundled, run, layer).mean()) for layer in range(6)])
    return {name: np.array(values).mean(axis=0) for name, values in found.items()}


def test_special_tokens_get_much_weight_and_add_little(over_sentences: dict[str, np.ndarray]) -> None:
    told = " ".join((LESSON / "heads" / "sources.md").read_text(encoding="utf-8").split())
    weight, length = (over_sentences[name][1:5] for name in ("weight", "length"))
    assert (
        f"in layers 2 to 5, [CLS] and [SEP] together receive {weight.min() * 100:.0f} to {weight.max():.0%} of the "
        f"weight, but only {length.min() * 100:.0f} to {length.max():.0%} of the summed lengths"
    ) in told


def test_far_more_than_half_stays(over_sentences: dict[str, np.ndarray]) -> None:
    told = " ".join((LESSON / "rollout" / "formula.md").read_text(encoding="utf-8").split())
    stays = over_sentences["stays"]
    assert f"{stays.min() * 100:.0f} to {stays.max():.0%}, depending on the layer" in told


@pytest.mark.parametrize("kind", ["bundled", "tiny", "distil"])
@torch.inference_mode()
def test_shares_and_norms_are_those_of_what_transformers_own_modules_hand_on(
    kind: str, request: pytest.FixtureRequest, tiny: LoadedModel
) -> None:
    """The vectors that make up each token are put through transformers' own LayerNorm, and add up to its output."""
    loaded = request.getfixturevalue(kind)
    blocks = loaded.model.transformer.layer if kind == "distil" else loaded.model.encoder.layer
    norms = [block.sa_layer_norm if kind == "distil" else block.attention.output.LayerNorm for block in blocks]
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []
    hooks = [
        norm.register_forward_hook(lambda module, given, out: seen.append((given[0][0], out[0]))) for norm in norms
    ]
    (run,) = run_model(loaded, [encode(loaded.tokenizer, "Kettles sing, in the rain.", "Do they?")])
    for hook in hooks:
        hook.remove()
    n = len(run.encoding)
    for layer, (norm, (given, out)) in enumerate(zip(norms, seen, strict=True)):
        vectors = contributions(loaded, run, layer).transformed[:, None] * run.attentions[layer][..., None]
        parts = torch.from_numpy(vectors.sum(axis=0))  # [n, n, d]: what j adds to i
        residual = torch.from_numpy(run.hidden_states[layer].copy())
        bias = given - parts.sum(dim=1) - residual  # W_O's, the same for all tokens
        torch.testing.assert_close(bias, bias[:1].expand_as(bias), atol=2e-5, rtol=0)

        def after(part: torch.Tensor, i: int, norm: Any = norm, given: torch.Tensor = given) -> torch.Tensor:
            """What a part of token i's sum is behind LayerNorm: linear in the part, as the deviation is that of all."""
            deviation = (given[i].var(unbiased=False) + norm.eps).sqrt()
            return norm.weight * (part - part.mean(dim=-1, keepdim=True)) / deviation

        pairs, own = added_norms(loaded, run, layer), staying_shares(loaded, run, layer)
        for i in range(n):
            whole = after(parts[i], i).sum(dim=0) + after(residual[i], i) + after(bias[i], i) + norm.bias
            torch.testing.assert_close(whole, out[i], atol=1e-4, rtol=1e-4)
            np.testing.assert_allclose(pairs[i], after(parts[i], i).norm(dim=-1).numpy(), rtol=1e-3, atol=1e-5)
            itself = after(parts[i, i] + residual[i], i).norm()
            others = after(parts[i, [j for j in range(n) if j != i]].sum(dim=0), i).norm()
            assert own[i] == pytest.approx(float(itself / (itself + others)), rel=1e-4)


@pytest.mark.parametrize("kind", ["bundled", "tiny", "distil"])
def test_all_contributions_add_up_to_what_the_output_projection_returns(
    kind: str, request: pytest.FixtureRequest, tiny: LoadedModel
) -> None:
    loaded = request.getfixturevalue(kind)
    blocks = loaded.model.transformer.layer if kind == "distil" else loaded.model.encoder.layer
    outputs: list[np.ndarray] = []
    hooks = [
        (block.attention.out_lin if kind == "distil" else block.attention.output.dense).register_forward_hook(
            lambda module, given, result: outputs.append(result[0].numpy())
        )
        for block in blocks
    ]
    (run,) = run_model(loaded, [encode(loaded.tokenizer, "Kettles sing, in the rain.", "Do they?")])
    for hook in hooks:
        hook.remove()
    assert len(outputs) == len(blocks) == run.num_layers
    for layer, theirs in enumerate(outputs):
        ours = contributions(loaded, run, layer)
        np.testing.assert_allclose(ours.added, theirs, atol=2e-5)
        vectors = run.attentions[layer][..., None] * ours.transformed[:, None]  # [H, n, n, d]
        np.testing.assert_allclose(ours.norms, np.linalg.norm(vectors, axis=-1), rtol=1e-5, atol=1e-7)
        bias = outputs[layer] - vectors.sum(axis=(0, 2))  # what is left is W_O's bias: the same for all tokens
        np.testing.assert_allclose(bias, np.broadcast_to(bias[0], bias.shape), atol=2e-5)


def test_by_contribution_amounts_are_norms_and_shares_sum_to_1(tiny: LoadedModel) -> None:
    (run,) = run_model(tiny, [encode(tiny.tokenizer, "A cat, a dog.", "A cat.")])
    weights, norms = (measured(tiny, run, name) for name in (WEIGHT, CONTRIBUTION))
    assert (weights.measure, norms.measure) == (WEIGHT, CONTRIBUTION)
    assert measured(tiny, run, "<b>").lengths is None
    shares = np.stack([norms.shares(layer) for layer in range(2)])
    for layer in range(2):
        np.testing.assert_array_equal(weights.shares(layer), run.attentions[layer])
        np.testing.assert_array_equal(weights.amounts(layer), run.attentions[layer])
        np.testing.assert_allclose(norms.amounts(layer), contributions(tiny, run, layer).norms, rtol=1e-6)
        np.testing.assert_allclose(
            shares[layer] * norms.amounts(layer).sum(-1, keepdims=True), norms.amounts(layer), rtol=1e-5
        )
    np.testing.assert_allclose(shares.sum(axis=-1), 1, atol=1e-5)
    for by, rows in ((weights, run.attentions), (norms, shares)):
        for name, scores in pattern_scores(rows, run.encoding).items():
            np.testing.assert_allclose(by.scores()[name], scores, rtol=1e-5)
    habit = drained(measure_habit(tiny, [("A cat, a dog.", "A cat.")], CONTRIBUTION))
    np.testing.assert_allclose(habit.scores["same_word"], norms.scores()["same_word"], rtol=1e-4)
    assert habit.measure == CONTRIBUTION


def test_vectors_of_length_0_have_no_share(tiny: LoadedModel) -> None:
    (run,) = run_model(tiny, [encode(tiny.tokenizer, "One")])
    assert (Measured(run, np.zeros((2, 4, 3), np.float32)).shares(1) == 0).all()


@pytest.mark.slow
def test_what_the_sources_say_of_punctuation(bundled: LoadedModel) -> None:
    told = " ".join((LESSON / "heads" / "sources.md").read_text(encoding="utf-8").split())
    found = []
    for text, pair in habit_sentences():
        (run,) = run_model(bundled, [encode(bundled.tokenizer, text, pair)])
        marks = np.array(list(map(is_punctuation, run.encoding.tokens)))
        if marks.any():
            both = [measured(bundled, run, name) for name in (WEIGHT, CONTRIBUTION)]
            found.append([np.mean([by.shares(at)[..., marks].sum(-1).mean() for at in range(6)]) for by in both])
    weight, share = np.mean(found, axis=0)
    assert share > weight
    assert f"receive {weight * 100:.1f}% of the weight and make up {share * 100:.1f}% of the contributions" in told
