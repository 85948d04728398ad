"""ModernBERT opened from a folder: transformers' own numbers, its windows, and the configurations that are refused."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, AutoTokenizer, ModernBertConfig, ModernBertForMaskedLM

from demos.bert.model.by_name.model_checks import Limits, check_config
from demos.bert.model.catalogue import CATALOGUE
from demos.bert.model.encoding import encode
from demos.bert.model.local_layers import kind_said, kinds_note, reaches
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.own_folder import read_catalogue
from demos.bert.model.run import run_model
from demos.errors import UserError
from tests.bert.family.tiny_family import write
from tests.bert.model.other_encoders import SIZES, far_apart

LIMITS = Limits(24, 16, 1024, 1e9)
LONG = "The agreement was signed in August, un café été. "
PUBLISHED = {  # of config.json of answerdotai/ModernBERT-base, what says how it computes
    "architectures": ["ModernBertForMaskedLM"], "attention_bias": False, "bos_token_id": 50281, "cls_token_id": 50281,
    "eos_token_id": 50282, "global_attn_every_n_layers": 3, "global_rope_theta": 160_000.0, "hidden_activation": "gelu",
    "hidden_size": 768, "intermediate_size": 1152, "layer_norm_eps": 1e-05, "local_attention": 128,
    "local_rope_theta": 10_000.0, "max_position_embeddings": 8192, "mlp_bias": False, "model_type": "modernbert",
    "norm_bias": False, "norm_eps": 1e-05, "num_attention_heads": 12, "num_hidden_layers": 22, "pad_token_id": 50283,
    "position_embedding_type": "absolute", "sep_token_id": 50282, "tie_word_embeddings": True, "vocab_size": 50368,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four layers, of which the first and the third are global; the others reach four tokens on each side."""
    path = tmp_path_factory.mktemp("modern") / "modern"
    write("modernbert", path, **SIZES | {"num_hidden_layers": 4})
    return path


@pytest.fixture(scope="module")
def loaded(folder: Path) -> LoadedModel:
    """It as `--model-folder` opens it."""
    return ModelStore(read_catalogue(folder)).get("folder-modern")


@pytest.mark.parametrize("texts", [("signed",), (LONG,), (LONG, "un café [SEP]"), (LONG * 30,)])
def test_states_and_weights_are_transformers_own(texts: tuple[str, ...], folder: Path, loaded: LoadedModel) -> None:
    inputs = AutoTokenizer.from_pretrained(folder)(*texts, return_tensors="pt", truncation=True, max_length=512)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        expected = model(**inputs, output_hidden_states=True, output_attentions=True)
    encoding = encode(loaded.tokenizer, *texts)
    (run,) = run_model(loaded, [encoding])
    assert list(encoding.input_ids) == inputs["input_ids"][0].tolist()
    np.testing.assert_allclose(run.hidden_states, torch.stack(expected.hidden_states)[:, 0].numpy(), atol=1e-6)
    np.testing.assert_allclose(run.attentions, torch.stack(expected.attentions)[:, 0].numpy(), atol=1e-6)
    np.testing.assert_allclose(run.attentions.sum(axis=-1), 1, atol=1e-5)
    for layer in range(4):
        far = far_apart(loaded, len(encoding), layer).numpy()
        assert (run.attentions[layer][:, far] == 0).all()
        assert (run.attentions[layer][:, ~far] > 0).all()
        assert far.any() == (layer in (1, 3) and len(encoding) > 5)


def test_a_file_with_a_masked_word_head_has_the_same_encoder(folder: Path, loaded: LoadedModel, tmp_path: Path) -> None:
    """As the published one. The head is not offered, as of other encoders than BERT's."""
    whole = ModernBertForMaskedLM(loaded.model.config).eval()
    whole.save_pretrained(tmp_path / "whole")
    loaded.tokenizer.save_pretrained(tmp_path / "whole")
    ours = ModelStore(read_catalogue(tmp_path / "whole")).get("folder-whole")
    assert (ours.spec.mlm, ours.spec.nsp, ours.spec.segments) == (False, False, False)
    encoding = encode(ours.tokenizer, LONG)
    with torch.inference_mode():
        expected = whole.model(torch.tensor([encoding.input_ids])).last_hidden_state[0]
    np.testing.assert_allclose(run_model(ours, [encoding])[0].hidden_states[-1], expected.numpy(), atol=1e-6)


def test_the_space_before_a_mask_is_not_in_its_name(loaded: LoadedModel) -> None:
    tokens = encode(loaded.tokenizer, "un [MASK] été").tokens
    assert tokens[0] == "[CLS]"
    assert "[MASK]" in tokens
    assert "été" in "".join(tokens)


def test_the_catalogue_says_what_the_published_configuration_says() -> None:
    spec = CATALOGUE["modernbert-base"]
    config = check_config("a/b", PUBLISHED, LIMITS)
    assert (config.num_hidden_layers, config.num_attention_heads, config.hidden_size) == (
        spec.num_layers, spec.num_heads, spec.width,
    )  # fmt: skip
    assert kinds_note(reaches(config)) == spec.note
    assert [reach for reach in reaches(config) if reach is not None] == [64] * 14
    assert re.fullmatch("[0-9a-f]{40}", spec.revision)


@pytest.mark.parametrize(
    "change",
    [
        {"layer_types": ["full_attention"]},
        {"layer_types": ["chunked_attention"] * 22},
        {"local_attention": 0},
        {"local_attention": "wide"},
        {"pad_token_id": 60_000},
        {"num_attention_heads": 256},  # heads three wide can't be rotated
        {"global_attn_every_n_layers": 0},
        {"num_hidden_layers": 10**12},
        {"rope_scaling": {"rope_type": "linear", "factor": 2.0}},
        {"global_rope_theta": 0.0},
        {"global_rope_theta": "x"},
    ],
    ids=str,
)
def test_another_computation_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(
        UserError, match=r"^a/b can't be opened here: its config.json does not describe a ModernBERT\.$"
    ):
        check_config("a/b", PUBLISHED | change, LIMITS)


def test_a_head_of_another_width_is_refused() -> None:
    with pytest.raises(UserError, match="head_dim = '32', which is not supported here"):
        check_config("a/b", PUBLISHED | {"head_dim": 32}, LIMITS)


def test_what_is_said_of_layers() -> None:
    config = ModernBertConfig(num_hidden_layers=4, global_attn_every_n_layers=2, local_attention=6)
    of_layers = reaches(config)
    assert of_layers == (None, 3, None, 3)
    assert kind_said(of_layers, 0, 9) == "Layer 1 is global: each token can attend to all tokens."
    near = "Layer 2 is local: each token attends to itself and to at most 3 tokens on each side"
    assert kind_said(of_layers, 1, 4) == f"{near}. This input has 4 tokens, so all of them are within this distance."
    assert kind_said(of_layers, 1, 5) == f"{near}; all other weights are exactly 0."
    assert kind_said(of_layers, 1, 5, dashed=True).endswith(
        "0. Dashed lines in the heatmap mark the edges of this window."
    )
    assert kind_said(of_layers, None, 5).startswith(
        "Layers 1 and 3 are global: each token attends to all tokens. The other"
    )
    assert kinds_note((None, 2)).startswith("Layer 1 is global")
    assert kinds_note((2, 2)).startswith("All of its layers are local: each token")
    assert (kinds_note((None, None)), kinds_note(()), kind_said((), 0, 5)) == ("", "", "")
