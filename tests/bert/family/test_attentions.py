"""The family's attention is transformers' own; our translator's and decoder's are their own arithmetic's."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from demos.bert.attention.matrix_labels import Labels
from demos.bert.causal.decoder import our_decoder
from demos.bert.family.attentions import (
    MOST_TOKENS,
    Attention,
    Reading,
    of_both_stacks,
    of_one_stack,
    of_our_decoder,
    of_our_translator,
)
from demos.bert.family.members import AGREEMENT, BOTH, MEMBERS
from demos.bert.model.models import LoadedModel
from demos.bert.translation.bundled import bundled as bundled_translator
from demos.bert.translation.grammar import example
from demos.bert.translation.transformer_places import CROSS, DECODER, ENCODER, Place, attended_at, translated
from demos.bert.translation.translators import TRANSFORMER
from demos.errors import UserError
from tests.bert.family.tiny_family import KINDS, member, write

TEXT = "The agreement was signed."


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, Any]]:
    """A model and its tokenizer of each kind."""
    folder = tmp_path_factory.mktemp("family")
    return {kind: write(kind, folder / kind) for kind in KINDS}


def eager(model: Any) -> Any:
    model.set_attn_implementation("eager")
    return model


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind] != BOTH])
def test_one_stack_is_transformers_own(kind: str, tiny: dict[str, tuple[Any, Any]]) -> None:
    model, tokenizer = tiny[kind]
    reading = of_one_stack(member(kind), eager(model), tokenizer, TEXT)
    (attention,) = reading.kinds.values()
    inputs = tokenizer(TEXT, return_tensors="pt")
    with torch.inference_mode():
        expected = model(**inputs, output_attentions=True).attentions
    np.testing.assert_allclose(attention.weights, torch.cat(expected), atol=1e-6)
    np.testing.assert_allclose(attention.weights.sum(-1), 1, atol=1e-5)
    assert attention.kind == KINDS[kind]
    assert attention.rows == attention.columns
    assert (attention.later == 0) == (kind == "gpt2")
    assert len(attention.rows) == inputs["input_ids"].shape[1]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if KINDS[kind] == BOTH])
@pytest.mark.parametrize("target", ["", "un café été"])
def test_both_stacks_are_transformers_own(kind: str, target: str, tiny: dict[str, tuple[Any, Any]]) -> None:
    model, tokenizer = tiny[kind]
    reading = of_both_stacks(member(kind), eager(model), tokenizer, TEXT, target)
    inputs = tokenizer(member(kind).prefix + TEXT, return_tensors="pt")
    with torch.inference_mode():
        if target:
            labels = torch.tensor([tokenizer(text_target=target)["input_ids"]])
            found = model(**inputs, labels=labels, output_attentions=True)  # it shifts them itself
            assert list(reading.writes) == tokenizer.convert_ids_to_tokens(labels[0].tolist())
        else:
            made = model.generate(**inputs, max_new_tokens=MOST_TOKENS, num_beams=1, do_sample=False)
            found = model(**inputs, decoder_input_ids=made[:, :-1], output_attentions=True)
            assert list(reading.writes) == tokenizer.convert_ids_to_tokens(made[0, 1:].tolist())
            assert found.logits.argmax(-1).equal(made[:, 1:])
    expected = (found.encoder_attentions, found.decoder_attentions, found.cross_attentions)
    for name, layers in zip((ENCODER, DECODER, CROSS), expected, strict=True):
        np.testing.assert_allclose(reading.kinds[name].weights, torch.cat(layers), atol=1e-6)
    cross = reading.kinds[CROSS]
    assert (cross.rows, cross.columns) == (reading.kinds[DECODER].rows, reading.kinds[ENCODER].rows)
    assert cross.weights.shape[2:] == (len(cross.rows), len(cross.columns))
    assert reading.kinds[DECODER].later == 0
    assert reading.chosen == (not target)
    assert len(reading.writes) == len(cross.rows)


def test_our_translator_is_its_own_arithmetic() -> None:
    reading = of_our_translator(AGREEMENT)
    written, encoded, computed = translated(bundled_translator(TRANSFORMER), example().source)
    assert reading.writes == written
    for kind, attention in reading.kinds.items():
        for layer, weights in enumerate(attention.weights):
            expected = attended_at(Place(kind, layer), encoded, computed).weights[0]
            np.testing.assert_allclose(weights, expected, atol=1e-6)
    typed = of_our_translator(AGREEMENT, " ".join(written[:-1]))
    assert typed.writes == reading.writes
    assert not typed.chosen
    np.testing.assert_allclose(typed.kinds[CROSS].weights, reading.kinds[CROSS].weights, atol=1e-6)


def test_words_are_read_in_the_order_of_the_source() -> None:
    reading = of_our_translator(AGREEMENT)
    cross = reading.kinds[CROSS]
    reads = [cross.columns.names[column] for column, _ in cross.most_read(1)]
    found = dict(zip(reading.writes, reads, strict=True))
    assert [found[word] for word in ("zone", "économique", "européenne")] == ["area", "economic", "european"]


def test_our_decoder_reads_no_later_token(bundled: LoadedModel) -> None:
    decoder = our_decoder(bundled)
    (attention,) = of_our_decoder(decoder, TEXT).kinds.values()
    assert attention.later == 0
    assert attention.rows.names == ("[CLS]", "the", "agreement", "was", "signed", ".")
    longer = of_our_decoder(decoder, f"{TEXT} Then they left.").kinds[DECODER].weights
    n = len(attention.rows)
    np.testing.assert_allclose(longer[:, :, :n, :n], attention.weights, atol=1e-5)


def test_facts_of_a_matrix_made_by_hand() -> None:
    weights = np.array([[[[0.2, 0.8], [0.5, 0.5]], [[0.6, 0.4], [0.1, 0.9]]]], np.float32)  # 1 layer, 2 heads
    labels = Labels(("a", "b"), (False, False))
    attention = Attention(ENCODER, weights, labels, labels)
    assert attention.later == pytest.approx((0.8 + 0.4) / 4)
    (first, share), (second, other) = attention.most_read(0)
    assert (first, second) == (1, 1)
    assert (share, other) == (pytest.approx(0.6), pytest.approx(0.7))
    assert Reading({ENCODER: attention}).nbytes == 8 * 4


def test_labels_are_the_vocabulary_s_and_words_keep_a_number(tiny: dict[str, tuple[Any, Any]]) -> None:
    model, tokenizer = tiny["gpt2"]
    labels = of_one_stack(member("gpt2"), eager(model), tokenizer, "The café was signed.").kinds[DECODER].rows
    assert "".join(labels.names) == "TheĠcaféĠwasĠsigned."
    assert max(number for number in labels.words if number is not None) == 4  # the full stop is a word of its own
    for kind in ("roberta", "xlm-roberta", "albert"):
        model, tokenizer = tiny[kind]
        labels = of_one_stack(member(kind), eager(model), tokenizer, TEXT).kinds[ENCODER].rows
        assert labels.special == (True, *[False] * (len(labels) - 2), True)
        assert [labels.words[0], labels.words[1], labels.words[-2]] == [None, 0, 4]


def test_what_can_not_be_read_is_refused_in_a_sentence(tiny: dict[str, tuple[Any, Any]]) -> None:
    model, tokenizer = tiny["t5"]
    t5 = (member("t5"), eager(model), tokenizer)
    with pytest.raises(UserError, match=r"^Type a text\.$"):
        of_both_stacks(*t5, "  ")
    with pytest.raises(UserError, match="at most 300 characters"):
        of_both_stacks(*t5, "a" * 301)
    with pytest.raises(UserError, match=r"The text has .* tokens; at most 40"):
        of_both_stacks(*t5, "the " * 41)
    with pytest.raises(UserError, match=r"The target text has .* tokens; at most 40"):
        of_both_stacks(*t5, TEXT, "the " * 41)
    with pytest.raises(UserError, match=r"“zebra” is not among the .* English words"):
        of_our_translator("the zebra sleeps")
    with pytest.raises(UserError, match="“zèbre” is not among the French words"):
        of_our_translator("the dog sleeps", "le zèbre dort")


def test_each_member_of_the_hub_is_pinned_and_bounded() -> None:
    for one in MEMBERS.values():
        if one.hub_id:
            assert len(one.revision) == 40
            assert int(one.revision, 16)
            assert one.size_mb <= 1_200
            assert not any(name.endswith((".bin", ".py", ".h5")) for name in one.files)
        else:
            assert not one.model_type


def test_hostile_text_stays_text(tiny: dict[str, tuple[Any, Any]]) -> None:
    model, tokenizer = tiny["roberta"]
    hostile = "</script><img src=x>\u202e"
    labels = of_one_stack(member("roberta"), eager(model), tokenizer, hostile).kinds[ENCODER].rows
    assert "script" in "".join(labels.names)


def test_a_folder_of_tiny_models_has_the_files_that_are_asked_for(tmp_path: Path) -> None:
    for kind in ("gpt2", "marian"):
        write(kind, tmp_path / kind)
        there = {file.name for file in (tmp_path / kind).iterdir()}
        assert set(member(kind).files) - {"generation_config.json"} <= there
