"""The masked-word head against transformers' own masked-word models, from files in a temporary folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    AutoModelForMaskedLM,
    BertConfig,
    BertForMaskedLM,
    DistilBertConfig,
    DistilBertForMaskedLM,
)

from demos.bert.catalogue import ModelSpec
from demos.bert.encoding import encode
from demos.bert.models import LoadedModel, model_folder
from demos.bert.predictions import PredictionHeads, masked, place_to_guess, read_prediction_head
from demos.bert.run import run_model
from demos.errors import UserError

VOCABULARY = 30522
Maker = Callable[[], tuple[LoadedModel, Path]]


@pytest.fixture(scope="module", params=["bert", "distilbert"])
def kept(request: pytest.FixtureRequest, bundled: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Maker:
    """A tiny random masked-word model on disk, and its encoder loaded as the store would."""
    torch.manual_seed(3)
    if request.param == "bert":
        config = BertConfig(
            vocab_size=VOCABULARY, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
        )
        whole = BertForMaskedLM(config)
        whole.cls.predictions.bias.data.normal_()
    else:
        whole = DistilBertForMaskedLM(
            DistilBertConfig(vocab_size=VOCABULARY, dim=16, n_layers=1, n_heads=2, hidden_dim=16)
        )
        whole.vocab_projector.bias.data.normal_()
    folder = tmp_path_factory.mktemp(request.param)
    whole.save_pretrained(folder)
    spec = ModelSpec(request.param, "Tiny", "", "", 1, 2, 16, cased=False, segments=False, mlm=True)

    def make() -> tuple[LoadedModel, Path]:
        encoder = AutoModel.from_pretrained(folder, attn_implementation="eager").eval().requires_grad_(False)
        return LoadedModel(spec, bundled.tokenizer, encoder), folder

    return make


def test_logits_and_guesses_equal_transformers_own(kept: Maker) -> None:
    loaded, folder = kept()
    head = read_prediction_head(loaded, folder)
    encoding = encode(loaded.tokenizer, "The [MASK] crossed the river.")
    run = run_model(loaded, [encoding])[0]
    whole = AutoModelForMaskedLM.from_pretrained(folder).eval()
    with torch.no_grad():
        theirs = whole(torch.tensor([encoding.input_ids])).logits[0]
    ours = head.logits(torch.tensor(run.hidden_states[-1]))
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), atol=1e-5)

    place = place_to_guess(encoding, "[MASK]")
    assert place == 2
    guesses = head.guesses(loaded.tokenizer, run.hidden_states[-1, place])
    top = theirs[place].softmax(dim=-1).topk(5)
    assert [guess.token_id for guess in guesses] == top.indices.tolist()
    assert [guess.token for guess in guesses] == loaded.tokenizer.convert_ids_to_tokens(top.indices)
    np.testing.assert_allclose([guess.probability for guess in guesses], top.values.tolist(), rtol=1e-4)
    assert guesses[0].logit == pytest.approx(theirs[place].max().item(), abs=1e-5)


def test_only_the_head_stays_in_memory(kept: Maker) -> None:
    loaded, folder = kept()
    module = read_prediction_head(loaded, folder).module
    words = loaded.model.get_input_embeddings().weight
    matrices = [parameter for parameter in module.parameters() if parameter.numel() >= words.numel()]
    assert [matrix.data_ptr() for matrix in matrices] == [words.data_ptr()]


def test_the_cache_reads_once_and_is_bounded(kept: Maker) -> None:
    loaded, folder = kept()
    asked: list[str] = []

    def folder_of(key: str) -> Path:
        asked.append(key)
        return folder

    heads = PredictionHeads(folder_of, max_heads=1)
    assert heads.get(loaded) is heads.get(loaded)
    assert asked == [loaded.spec.key]
    other = LoadedModel(ModelSpec("other", "Other", "", "", 1, 2, 16, cased=False, mlm=True), None, loaded.model)
    heads.get(other)
    heads.get(loaded)
    assert asked == [loaded.spec.key, "other", loaded.spec.key]


def test_no_head_is_made_up(bundled: LoadedModel) -> None:
    assert PredictionHeads(lambda key: Path(key)).get(bundled) is None
    with pytest.raises(UserError, match="no masked-word head in its files"):
        read_prediction_head(bundled, model_folder(bundled.spec))


def test_a_word_is_hidden_and_the_rest_stays(bundled: LoadedModel) -> None:
    encoding = encode(bundled.tokenizer, "The miller slept, unflappable.")
    place = place_to_guess(encoding, "[MASK]")
    assert place is not None
    assert encoding.tokens[place] == "slept"
    hidden = masked(bundled.tokenizer, encoding, place)
    assert hidden.tokens == (*encoding.tokens[:place], "[MASK]", *encoding.tokens[place + 1 :])
    assert hidden.input_ids[place] == bundled.tokenizer.mask_token_id
    assert hidden.word_index == encoding.word_index
    for index in (0, len(encoding) - 1, len(encoding), -1):
        with pytest.raises(UserError, match="no word at token"):
            masked(bundled.tokenizer, encoding, index)
    assert place_to_guess(encode(bundled.tokenizer, "?!"), "[MASK]") is None
