"""What the page says in words and numbers of a formula or of the literature: computed anew, or no longer said."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.metrics import matthews_corrcoef
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel

from demos.bert.embeddings.word_occurrences import contrast, read_uses, use_cosines, word_states
from demos.bert.embeddings.word_senses import bundled_uses
from demos.bert.model.encoding import encode
from demos.bert.model.generators import drained
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.lessons.embeddings.word_senses.part import lines_of
from demos.training.presets import PRESETS
from demos.training.results.published import boards
from demos.widgets.tasks.registry import VIEWS

ROOT = Path(__file__).resolve().parents[1]
TEXT = "The unflappable banker counted her money on the bank of the river."


def text_of(name: str) -> str:
    """A text of the lessons on one line."""
    return " ".join((ROOT / "demos" / "lessons" / name).read_text(encoding="utf-8").split())


def everything_said() -> dict[str, str]:
    """What a reader may meet, on one line a file: the program's strings (joined) and the texts."""
    files = [file for ending in ("py", "md", "html", "txt", "js") for file in (ROOT / "demos").rglob(f"*.{ending}")]
    assert len(files) > 400
    files += [*(ROOT / "assets" / "tours").glob("*.md"), ROOT / "assets" / "glossary.yaml", ROOT / "README.md"]
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
        "distilled from BERT",  # the bundled model descends from UniLM v2 (microsoft/unilm, minilm/README.md)
        "the two curves move apart",  # the gap may shrink again in later layers
        "the decoder uses the same matrix",  # BERT's output layer for masked words is no decoder
        "every word of the other language",  # the weights are over the source sentence
        "the order of its sentences",  # that is ALBERT's task; BERT's is whether B came next
        "GPT, the decoder",  # the picture has BERT's weights
        "words were used for each French word",  # a weight is a share of a sum, no account of what was used
        "each block adds something",  # BERT normalises every sum
        "serves as well as any other",
        "which is what semi-supervised means",
        "tokens can be computed in parallel. Only attention",  # attention is parallel too: nothing is recurrent
        "is 0 for any guess",  # Matthews' correlation: on average, for random guesses
        "the settings of the BERT paper",  # which gives ranges, A.3
        "That makes the task easy. RoBERTa (2019) dropped it.",  # the first is ALBERT's reason
        "A sum treats all layers alike",  # table 7 has weighted sums
        "Training on masked words alone",  # BERT's second task, and the bundled model's distillation and tuning
        "ayer only adds",
        "the easiest to remove",  # for BERT the top layers go first (Sajjad et al., arXiv 2004.03844)
        "are enough for many tasks",  # entailment and endings hardly profit from a few hundred examples
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
        "in some layers the largest numbers of $T_4$ and $T_5$ exceed 100, where neighboring float32 numbers are "
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


def test_the_gap_between_senses_need_not_grow_with_every_layer(bundled: LoadedModel) -> None:
    labelled = bundled_uses()
    gaps = {}
    for word in dict.fromkeys(one.word for one in labelled):
        uses = read_uses(word, lines_of(word, labelled))
        found = contrast(use_cosines(drained(word_states(bundled, uses))), [use.sense for use in uses])
        assert found is not None
        gaps[word] = found.gaps
    assert np.diff(gaps["bank"][:4]).min() > 0, "in the first layers the curves move apart"
    assert gaps["bank"][5] < gaps["bank"][4], "and then the gap shrinks"
    shrinking = [word for word, gap in gaps.items() if np.diff(gap).min() < -0.003]
    assert len(shrinking) > len(gaps) / 3
    tour = " ".join((ROOT / "assets" / "tours" / "ten-minutes.md").read_text(encoding="utf-8").split())
    assert "In the first layers the curves move apart" in tour
    assert "Later the gap may shrink again" in tour


def test_random_guesses_have_a_matthews_correlation_of_0_on_average_only() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, size=(400, 40))
    guesses = rng.integers(0, 2, size=(400, 40))
    found = np.array([matthews_corrcoef(*pair) for pair in zip(truth, guesses, strict=True)])
    assert abs(found.mean()) < 0.03
    assert np.abs(found).mean() > 0.1  # a single guess is not at 0
    assert matthews_corrcoef(truth[0], np.zeros(40, dtype=int)) == 0
    said = text_of("finetune/published/formula.md")
    assert "For random guesses it is 0 on average, and it is set to 0 where all answers are the same" in said


def test_the_tasks_that_are_counted_are_those_of_the_menu() -> None:
    menu = {view.word for view in VIEWS.values()}
    assert {"Sentence", "Two sentences", "Names", "Question"} < menu
    names = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (counted,) = re.findall(r"(\w+) tasks, trained live", readme)
    assert names.index(counted.lower()) + 1 == len(menu)
    tour = (ROOT / "assets" / "tours" / "lecture-attention-to-classification.md").read_text(encoding="utf-8")
    first, more = re.findall(r"## (\w+) kinds of task.*?The menu has (\w+) more", tour, flags=re.S)[0]
    assert names.index(first.lower()) + 1 + names.index(more) + 1 == len(menu)


def test_the_sums_of_table_7_are_weighted() -> None:
    """Devlin et al. 2019: 95.5 and 95.9 are those of weighted sums; 96.1 that of four layers side by side."""
    systems = {row.values[0]: row.system for row in boards()["Names, by layer"].rows}
    assert systems[95.5] == "weighted sum of all 12 layers"
    assert systems[95.9] == "weighted sum of the last four"
    assert "there, the sums are weighted" in text_of("finetune/layer_mix/text.html")


def test_facts_are_credited_to_where_they_come_from() -> None:
    amount = text_of("finetune/learning_curve/sources.md")
    assert "Dodge" in amount
    assert "Mosbach" not in amount
    position = text_of("encoder/position/sources.md")
    assert all(name in position for name in ("Kazemnejad", "Mehreen Saeed", "d = 4 and n = 100"))
    assert "the sums are weighted" in text_of("embeddings/agreement/sources.md")
    assert "the figure of BERT-large on GLUE's test set" in text_of("embeddings/frozen_features/sources.md")
    assert "table 5" in text_of("pretraining/next_sentence/sources.md")
