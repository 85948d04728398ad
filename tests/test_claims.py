"""What the page says in words and numbers of a formula or of the literature: computed anew, or no longer said."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel

from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.training.presets import PRESETS

ROOT = Path(__file__).resolve().parents[1]
TEXT = "The unflappable banker counted her money on the bank of the river."


def text_of(name: str) -> str:
    """A text of the lessons on one line."""
    return " ".join((ROOT / "demos" / "lessons" / name).read_text(encoding="utf-8").split())


def everything_said() -> dict[str, str]:
    """What a reader may meet, on one line a file: the program's strings (joined) and the texts."""
    files = [file for ending in ("py", "md", "html", "txt", "js") for file in (ROOT / "demos").rglob(f"*.{ending}")]
    assert len(files) > 400
    said = {}
    for file in [*files, ROOT / "pyproject.toml"]:
        joined = re.sub(r'"\s*\n\s*f?"', "", file.read_text(encoding="utf-8"))
        said[file.relative_to(ROOT).as_posix()] = " ".join(joined.split())
    return said


@pytest.mark.parametrize(
    "phrase",
    [
        "a real BERT",  # the bundled model has not BERT's weights
        "more it takes",  # a weight is a share of the mix, not what is added
        "finds nothing to look at must",  # Clark et al.'s supposition
        "every other token unread",  # a masked word can only be guessed from the others
        "What pre-training taught",  # one recipe, too short for random weights
        "is made of after layer",  # rollout says what would be
        "are four times the work",
        "should have a cosine near 0",
        "point all ways",
        "pay for it, so that the weights are not arbitrary",
        "moves every token's vector a little",
        "BERT keeps that promise",
        "113,000",  # all of SWAG; 73,546 are for training
        "where the seventh digit is",
        "far above where yours began",
    ],
)
def test_what_is_not_so_is_no_longer_said(phrase: str) -> None:
    assert [file for file, said in everything_said().items() if phrase in said] == []


@pytest.mark.parametrize(("width", "heads"), [(32, 2), (48, 4)])
def test_scores_and_sums_overtake_the_rest_of_a_layer_at_six_widths(width: int, heads: int) -> None:
    length = 6 * width
    config = BertConfig(
        vocab_size=50, hidden_size=width, num_hidden_layers=1, num_attention_heads=heads, intermediate_size=4 * width,
        max_position_embeddings=length,
    )  # fmt: skip
    model = BertModel(config, add_pooling_layer=False)
    model.set_attn_implementation("eager")
    counter = FlopCounterMode(display=False)
    with torch.inference_mode(), counter:
        model(input_ids=torch.ones(1, length, dtype=torch.long))
    counts = {str(name): count for name, count in counter.get_flop_counts()["Global"].items()}
    products = counts["aten.bmm"]  # states with states: scores and sums; a multiplication and an addition are two
    assert products == 4 * length**2 * width
    assert sum(counts.values()) - products == 24 * length * width**2 == products
    said = text_of("encoder/self_attention/formula.md")
    assert "$12\\,n d^2$" in said
    assert f"at $n = 6d$: at {6 * 384:,} tokens for $d = 384$, while BERT is limited to 512" in said


def test_float32_is_coarse_where_the_block_s_numbers_are_wide(bundled: LoadedModel) -> None:
    assert (
        "in some layers the largest numbers of $T_4$ and $T_5$ exceed 100, where neighbouring float32 numbers are "
        "about $10^{-5}$ apart" in text_of("encoder/block/formula.md")
    )
    assert all(0.5e-5 < np.spacing(np.float32(value)) < 2e-5 for value in (100, 150, 200))
    widest: dict[int, list[float]] = {}
    hooks = []
    for number, layer in enumerate(bundled.model.encoder.layer):
        seen = widest.setdefault(number, [])
        hooks.append(
            layer.output.dense.register_forward_hook(lambda *call, to=seen: to.append(float(call[2].abs().max())))
        )
        hooks.append(
            layer.output.LayerNorm.register_forward_pre_hook(
                lambda _, args, to=seen: to.append(float(args[0].abs().max()))
            )
        )
    try:
        run_model(bundled, [encode(bundled.tokenizer, TEXT, "")])
    finally:
        for hook in hooks:
            hook.remove()
    assert 2 <= sum(min(values) > 100 for values in widest.values()) < len(widest), widest  # both T4 and T5


def test_without_bias_correction_the_first_step_is_about_3_2_times_as_long() -> None:
    gradient, rate, beta1, beta2, epsilon = torch.linspace(0.1, 1, 50), 1e-4, 0.9, 0.999, 1e-6
    weight = torch.nn.Parameter(torch.zeros(50))
    weight.grad = gradient.clone()
    torch.optim.AdamW([weight], lr=rate, eps=epsilon, weight_decay=0.0).step()
    moment, square = (1 - beta1) * gradient, (1 - beta2) * gradient**2  # google-research/bert, optimization.py
    theirs = rate * moment / (square.sqrt() + epsilon)
    ratio = (theirs / -weight.detach()).numpy()
    np.testing.assert_allclose(ratio, 3.16, atol=0.01)
    for name in ("finetune/train/sources.md", "pretraining/learn/sources.md"):
        assert "about 3.2 times as long" in text_of(name)
    assert "no dropout inside the encoder" in PRESETS["cls"].description
    assert "corrected for their initial values" in PRESETS["cls"].description


def test_facts_are_credited_to_where_they_come_from() -> None:
    amount = text_of("finetune/learning_curve/sources.md")
    assert "Dodge" in amount
    assert "Mosbach" not in amount
    position = text_of("encoder/position/sources.md")
    assert all(name in position for name in ("Kazemnejad", "Mehreen Saeed", "d = 4 and n = 100"))
    assert "the sums are weighted" in text_of("embeddings/agreement/sources.md")
    assert "the figure of BERT-large on GLUE's test set" in text_of("embeddings/frozen_features/sources.md")
    assert "table 5" in text_of("pretraining/next_sentence/sources.md")
