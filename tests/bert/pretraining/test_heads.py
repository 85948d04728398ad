"""The pre-training heads against transformers' own models, from files in a temporary folder, and ours."""

import gc
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import (
    AutoModel,
    BertConfig,
    BertForPreTraining,
    DistilBertConfig,
    DistilBertForMaskedLM,
)

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import encode
from demos.bert.model.memory_budget import Budget
from demos.bert.model.models import LoadedModel, model_folder
from demos.bert.model.run import run_model
from demos.bert.pretraining import heads
from demos.bert.pretraining.guesses import guesses, masked, place_to_guess
from demos.bert.pretraining.heads import FEW, OURS, Pretrained, PretrainedModels, our_heads, own_heads
from demos.errors import UserError

VOCABULARY = 30522
Maker = Callable[[], tuple[LoadedModel, Path]]


@pytest.fixture(scope="module", params=["bert", "distilbert"])
def kept(request: pytest.FixtureRequest, bundled: LoadedModel, tmp_path_factory: pytest.TempPathFactory) -> Maker:
    """A tiny random model with its heads on disk, and its encoder loaded as the store would."""
    torch.manual_seed(3)
    if request.param == "bert":
        config = BertConfig(
            vocab_size=VOCABULARY, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
        )
        whole = BertForPreTraining(config)
        whole.cls.predictions.bias.data.normal_()
    else:
        whole = DistilBertForMaskedLM(
            DistilBertConfig(vocab_size=VOCABULARY, dim=16, n_layers=1, n_heads=2, hidden_dim=16)
        )
        whole.vocab_projector.bias.data.normal_()
    folder = tmp_path_factory.mktemp(request.param)
    whole.save_pretrained(folder)
    bert = request.param == "bert"
    spec = ModelSpec(request.param, "Tiny", "them/tiny", "", 1, 2, 16, cased=False, segments=bert, mlm=True, nsp=bert)

    def make() -> tuple[LoadedModel, Path]:
        encoder = AutoModel.from_pretrained(folder, attn_implementation="eager").eval().requires_grad_(False)
        return LoadedModel(spec, bundled.tokenizer, encoder), folder

    return make


def test_logits_and_guesses_equal_transformers_own(kept: Maker) -> None:
    loaded, folder = kept()
    found = own_heads(loaded, folder)
    encoding = encode(loaded.tokenizer, "The [MASK] crossed the river.", "It was cold.")
    hidden = torch.tensor(run_model(loaded, [encoding])[0].hidden_states[-1])
    ids, segments = (torch.tensor([values]) for values in (encoding.input_ids, encoding.token_type_ids))
    with torch.no_grad():
        if loaded.spec.nsp:
            whole = BertForPreTraining.from_pretrained(folder).eval()(input_ids=ids, token_type_ids=segments)
            theirs = whole.prediction_logits[0]
            ours = found.next_logits(hidden[None])
            np.testing.assert_allclose(ours.numpy(), whole.seq_relationship_logits.numpy(), atol=1e-5)
        else:
            theirs = DistilBertForMaskedLM.from_pretrained(folder).eval()(input_ids=ids).logits[0]
            with pytest.raises(UserError, match="not pre-trained on next sentences"):
                found.next_logits(hidden[None])
    np.testing.assert_allclose(found.word_logits(hidden).numpy(), theirs.numpy(), atol=1e-5)
    with torch.inference_mode():  # where few rows are multiplied by oneDNN
        for rows in (hidden[:0], hidden[:1], hidden[:2], hidden[:FEW], hidden[: FEW + 1], hidden[None, :3]):
            wanted = theirs[: rows.shape[-2]].view(*rows.shape[:-1], theirs.shape[-1])
            np.testing.assert_allclose(found.word_logits(rows).numpy(), wanted.numpy(), atol=1e-5)
    assert found.about == {"trained_by": "them"}

    place = place_to_guess(encoding, "[MASK]")
    assert place == 2
    best = guesses(found.word_logits, loaded.tokenizer, hidden[place].numpy())
    top = theirs[place].softmax(dim=-1).topk(5)
    assert [guess.token_id for guess in best] == top.indices.tolist()
    assert [guess.token for guess in best] == loaded.tokenizer.convert_ids_to_tokens(top.indices)
    np.testing.assert_allclose([guess.probability for guess in best], top.values.tolist(), rtol=1e-4)
    assert best[0].logit == pytest.approx(theirs[place].max().item(), abs=1e-5)


def test_only_the_heads_stay_in_memory(kept: Maker) -> None:
    loaded, folder = kept()
    found = own_heads(loaded, folder)
    assert found.encoder.model is loaded.model
    assert found.decoder.weight.data_ptr() == loaded.model.get_input_embeddings().weight.data_ptr()


def test_the_cache_reads_once_and_is_bounded(kept: Maker) -> None:
    loaded, folder = kept()
    asked: list[str] = []

    def folder_of(key: str) -> Path:
        asked.append(key)
        return folder

    models = PretrainedModels(Budget(loaded.nbytes))  # room to read a model, and no heads beside it
    first, second = models.get(loaded, folder_of), models.get(loaded, folder_of)
    assert first.transform is second.transform
    assert first.decoder.weight is second.decoder.weight is loaded.model.get_input_embeddings().weight
    assert asked == [loaded.spec.key]
    del first, second
    other = LoadedModel(ModelSpec("other", "Other", "", "", 1, 2, 16, cased=False, mlm=True), None, kept()[0].model)
    models.get(other, folder_of)
    models.get(loaded, folder_of)
    assert asked == [loaded.spec.key, "other", loaded.spec.key]


def test_a_model_that_the_store_let_go_is_let_go_here_too(kept: Maker) -> None:
    models = PretrainedModels()
    loaded, folder = kept()
    read: list[str] = []

    def folder_of(key: str) -> Path:
        read.append(key)
        return folder

    models.get(loaded, folder_of)
    old, table = weakref.ref(loaded.model), weakref.ref(loaded.model.get_input_embeddings().weight)
    again, _ = kept()  # as the store reads it once more
    found = models.get(again, folder_of)
    assert found.encoder.model is again.model
    assert found.decoder.weight is again.model.get_input_embeddings().weight
    older = models.get(loaded, folder_of)  # who still holds the old one is answered by it
    assert older.decoder.weight is loaded.model.get_input_embeddings().weight
    assert read == [loaded.spec.key]  # the heads outlive the model that they were read for
    del loaded, older
    gc.collect()
    assert old() is None
    assert table() is None


def test_heads_are_read_once_and_nobody_else_waits(kept: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    (loaded, folder), (ready, _) = kept(), kept()
    ready = LoadedModel(ModelSpec("ready", "Ready", "", "", 1, 2, 16, cased=False, mlm=True), None, ready.model)
    models = PretrainedModels()
    models.get(ready, lambda key: folder)
    began, go_on, read = threading.Event(), threading.Event(), []

    def slow(loaded: LoadedModel, folder: Path) -> Pretrained:
        read.append(loaded.spec.key)
        began.set()
        assert go_on.wait(timeout=30)
        return own_heads(loaded, folder)

    monkeypatch.setattr(heads, "own_heads", slow)
    with ThreadPoolExecutor() as pool:
        try:
            asked = [pool.submit(models.get, loaded, lambda key: folder) for _ in range(3)]
            assert began.wait(timeout=30)
            assert pool.submit(models.get, ready, lambda key: folder).result(timeout=30).encoder is ready
            assert not any(one.done() for one in asked)
        finally:
            go_on.set()
        first, *others = [one.result(timeout=30) for one in asked]
    assert all(other.transform is first.transform for other in others)
    assert read == [loaded.spec.key]


def test_no_head_is_made_up(bundled: LoadedModel, tiny: LoadedModel) -> None:
    with pytest.raises(UserError, match="has no masked-word head"):
        PretrainedModels().get(tiny, lambda key: Path(key))
    with pytest.raises(UserError, match="contain no pre-training heads"):
        own_heads(bundled, model_folder(bundled.spec))


def test_ours_know_words_and_what_follows(bundled: LoadedModel) -> None:
    before = {name: value.clone() for name, value in bundled.model.state_dict().items()}
    found = our_heads(bundled)
    assert found.about["trained_by"] == OURS
    assert found.decoder.weight.data_ptr() == found.encoder.model.get_input_embeddings().weight.data_ptr()
    assert all(torch.equal(value, before[name]) for name, value in bundled.model.state_dict().items())
    run = run_model(found.encoder, [encode(found.tokenizer, "She opened the [MASK] and walked into the room.")])[0]
    assert guesses(found.word_logits, found.tokenizer, run.hidden_states[-1, 4])[0].token == "door"
    follows = []
    for text in ("It purred and fell asleep.", "The stock market fell sharply."):
        run = run_model(found.encoder, [encode(found.tokenizer, "The cat sat on the mat.", text)])[0]
        follows.append(found.next_logits(torch.tensor(run.hidden_states[-1:])).softmax(dim=-1)[0, 0].item())
    assert follows[0] > 0.8 > 0.2 > follows[1]


def test_a_word_is_hidden_and_the_rest_stays(bundled: LoadedModel) -> None:
    encoding = encode(bundled.tokenizer, "He and the miller slept late, unflappable.")
    place = place_to_guess(encoding, "[MASK]")
    assert place is not None
    assert encoding.tokens[place] == "slept"
    hidden = masked(bundled.tokenizer, encoding, place)
    assert hidden.tokens == (*encoding.tokens[:place], "[MASK]", *encoding.tokens[place + 1 :])
    assert hidden.input_ids[place] == bundled.tokenizer.mask_token_id
    assert hidden.word_index == encoding.word_index
    for index in (0, len(encoding) - 1, len(encoding), -1):
        with pytest.raises(UserError, match="not a word that can be masked"):
            masked(bundled.tokenizer, encoding, index)
    for text, word in {
        "The unflappable banker counted her money on the bank of the river.": "money",
        "A [MASK] slept.": "[MASK]",
        "So it is.": "it",
        "?!": None,
    }.items():
        encoding = encode(bundled.tokenizer, text)
        place = place_to_guess(encoding, "[MASK]")
        assert (place and encoding.tokens[place]) == word
