"""Other encoders than BERT opened by name: what the lessons compute with them is transformers' own."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from tokenizers import Regex
from tokenizers.pre_tokenizers import Sequence, Split
from transformers import AutoModel, AutoTokenizer

from demos.bert.attention.ablation import run_without
from demos.bert.attention.contributions import contributions
from demos.bert.attention.queries_keys import queries_and_keys, scaled_dot_products
from demos.bert.embeddings.late_interaction import token_vectors
from demos.bert.embeddings.pooling import Choice
from demos.bert.embeddings.vector_cache import VectorCache
from demos.bert.model.batches.packing import all_states
from demos.bert.model.by_name import model_checks
from demos.bert.model.catalogue import check_bert
from demos.bert.model.encoding import encode
from demos.bert.model.layer_weights import layer_of, layer_parts
from demos.bert.model.models import LoadedModel, ModelStore
from demos.bert.model.run import run_model
from demos.errors import UserError
from tests.bert.model.other_encoders import KINDS, far_apart, opened, own_arguments

TEXT, PAIR = "The agreement was signed in August, 1992.", "un café été <pad> </s>"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ModelStore, Mapping[str, LoadedModel]]]:
    with pytest.MonkeyPatch.context() as patch, opened(tmp_path_factory.mktemp("others"), patch) as found:
        yield found


@pytest.fixture(params=KINDS)
def loaded(request: pytest.FixtureRequest, models: tuple[ModelStore, Mapping[str, LoadedModel]]) -> LoadedModel:
    return models[1][request.param]


def reference(
    models: tuple[ModelStore, Mapping[str, LoadedModel]], loaded: LoadedModel, *texts: str
) -> tuple[Any, Any]:
    """(transformers' tokens, transformers' output), with its own tokenizer and model of the same folder."""
    folder = models[0].folder(loaded.spec.key)
    asked = {"return_token_type_ids": True} if loaded.spec.segments else {}  # ALBERT's gives none unasked
    inputs = AutoTokenizer.from_pretrained(folder)(*texts, return_tensors="pt", **asked)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        return inputs, model(**inputs, output_hidden_states=True, output_attentions=True)


def test_what_is_said_of_it(loaded: LoadedModel) -> None:
    spec = loaded.spec
    assert (spec.num_layers, spec.num_heads, spec.width) == (3, 4, 32)
    assert spec.architecture == loaded.model.config.model_type
    assert (spec.mlm, spec.nsp, spec.is_bert) == (False, False, False)
    assert spec.cased == (spec.architecture in ("roberta", "xlm-roberta", "modernbert"))
    assert "can be used in Tokens, Attention, most parts of Embeddings" in spec.summary
    with pytest.raises(UserError, match="can't be used in this part, which works only with BERT and DistilBERT"):
        check_bert(spec)


@pytest.mark.parametrize("texts", [(TEXT,), (TEXT, PAIR)], ids=["one", "pair"])
def test_a_run_is_transformers(
    texts: tuple[str, ...], loaded: LoadedModel, models: tuple[ModelStore, Mapping[str, LoadedModel]]
) -> None:
    inputs, output = reference(models, loaded, *texts)
    encoding = encode(loaded.tokenizer, *texts)
    longer = encode(loaded.tokenizer, TEXT * 3)  # so that there is padding
    run = run_model(loaded, [encoding, longer])[0]
    assert list(encoding.input_ids) == inputs["input_ids"][0].tolist()
    assert run.num_layers == 3
    for ours, theirs in ((run.hidden_states, output.hidden_states), (run.attentions, output.attentions)):
        np.testing.assert_allclose(ours, torch.stack(theirs)[:, 0].numpy(), atol=1e-5)
    start = encoding.sentence_b_start
    if len(texts) == 1:
        assert start is None
    else:
        assert start == encoding.sequence_ids.index(1)


def test_packed_sentences_are_transformers(
    loaded: LoadedModel, models: tuple[ModelStore, Mapping[str, LoadedModel]]
) -> None:
    texts = [TEXT, PAIR, "signed", "agreement"]  # RoBERTa gives a written <pad> no position of its own
    packed = all_states(loaded.model, [encode(loaded.tokenizer, text).input_ids for text in texts])
    choices = [Choice("mean", 3), Choice("cls", 2), Choice("mean_no_special", 3), Choice("max", 1)]
    vectors = VectorCache().get(loaded, texts, choices)
    for row, text in enumerate(texts):
        states = torch.stack(reference(models, loaded, text)[1].hidden_states)[:, 0].numpy()
        np.testing.assert_allclose(packed[row], states, atol=1e-5)
        # a typed </s> or <pad> is special too; <mask> and <unk> stand for words
        special = {*loaded.tokenizer.all_special_ids} - {loaded.tokenizer.mask_token_id, loaded.tokenizer.unk_token_id}
        words = [number not in special for number in loaded.tokenizer(text)["input_ids"]]
        expected = (states[3].mean(0), states[2][0], states[3][words].mean(0), states[1].max(0))
        for found, one in zip(vectors, expected, strict=True):
            np.testing.assert_allclose(found[row], one, atol=1e-5)


def test_a_head_from_the_inside(loaded: LoadedModel) -> None:
    (run,) = run_model(loaded, [encode(loaded.tokenizer, TEXT)])
    for layer in range(3):
        asked = queries_and_keys(loaded, run, layer)
        scores = torch.tensor(scaled_dot_products(asked.queries, asked.keys))
        scores[:, far_apart(loaded, len(run.encoding), layer)] = -torch.inf
        weights = torch.softmax(scores, dim=-1).numpy()
        np.testing.assert_allclose(weights, run.attentions[layer], atol=1e-5)
        module = layer_parts(layer_of(loaded.model, layer))["output"]
        kept: list[torch.Tensor] = []
        hook = module.register_forward_hook(lambda module, given, result, kept=kept: kept.append(result[0]))
        with torch.inference_mode():
            loaded.model(torch.tensor([run.encoding.input_ids]))
        hook.remove()
        own = kept[layer if len(kept) == 3 else 0]  # ALBERT's one module is called three times
        np.testing.assert_allclose(contributions(loaded, run, layer).added, own.numpy(), atol=1e-5)


def test_a_head_switched_off(loaded: LoadedModel) -> None:
    """Against W^O with that head's columns set to zero, in a stack in which every layer has weights of its own."""
    encoding, (layer, head) = encode(loaded.tokenizer, TEXT), (1, 2)
    (before,) = run_model(loaded, [encoding])
    (after,) = run_without(loaded, [encoding], [(layer, head)])
    states = torch.tensor(before.hidden_states[0])[None]
    with torch.inference_mode():
        for index in range(3):
            module = copy.deepcopy(layer_of(loaded.model, index))
            if index == layer:
                layer_parts(module)["output"].weight.data[:, head * 8 : head * 8 + 8] = 0
            found = module(states, **own_arguments(loaded, module, len(encoding), index))
            states = found[0] if isinstance(found, tuple) else found
            if index == 2 and hasattr(loaded.model, "final_norm"):  # ModernBERT's
                states = loaded.model.final_norm(states)
            np.testing.assert_allclose(after.hidden_states[index + 1], states[0].numpy(), atol=1e-5)
    assert np.abs(after.hidden_states[2] - before.hidden_states[2]).max() > 1e-4
    np.testing.assert_array_equal(run_model(loaded, [encoding])[0].hidden_states, before.hidden_states)


def test_tokens_are_readable_and_punctuation_is_not_compared(loaded: LoadedModel) -> None:
    encoding = encode(loaded.tokenizer, "un café, été")
    if loaded.spec.architecture in ("roberta", "xlm-roberta", "modernbert"):
        assert "é" in "".join(encoding.tokens)
    words = "".join(name for name in token_vectors(loaded, ["un café, été"])[0].labels.names)
    assert "," not in words
    assert "un" in words


def test_files_and_tokenizers_of_another_kind_are_refused(
    models: tuple[ModelStore, Mapping[str, LoadedModel]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    others = models[1]
    for kind, other in (
        ("roberta", "albert"),
        ("albert", "electra"),
        ("electra", "roberta"),
        ("xlm-roberta", "roberta"),
        ("modernbert", "electra"),
    ):
        with pytest.raises(UserError, match="its tokenizer is not"):
            model_checks.check_tokenizer("a/b", others[other].tokenizer, 10**6, kind)
    albert = others["albert"].model.config.to_dict() | {"num_hidden_groups": 2}
    with pytest.raises(UserError, match="num_hidden_groups = '2', which is not supported"):
        model_checks.check_config("a/b", albert, model_checks.Limits(12, 12, 768, 1e9))
    roberta = others["roberta"].model.config.to_dict() | {"max_position_embeddings": 513}
    with pytest.raises(UserError, match="its inputs have at most 511 tokens"):
        model_checks.check_config("a/b", roberta, model_checks.Limits(12, 12, 768, 1e9))


@pytest.mark.parametrize("kind", ["roberta", "xlm-roberta", "modernbert"])
def test_a_pattern_of_its_own_is_refused(kind: str, models: tuple[ModelStore, Mapping[str, LoadedModel]]) -> None:
    """A regular expression that takes hours for some texts must not come with a model."""
    tokenizer = copy.deepcopy(models[1][kind].tokenizer)
    usual = tokenizer.backend_tokenizer.pre_tokenizer
    tokenizer.backend_tokenizer.pre_tokenizer = Sequence([Split(Regex("(a+)+$"), "isolated"), usual])
    with pytest.raises(UserError, match="splits texts by its own pattern"):
        model_checks.check_tokenizer("a/b", tokenizer, 10**6, kind)
