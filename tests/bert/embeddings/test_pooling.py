"""Every pooling of every layer, against numpy on what transformers gives for each sentence alone; tokens' shares."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch
from transformers import DistilBertConfig, DistilBertModel

from demos.bert.embeddings.pooling import (
    CONCAT_LAST_FOUR,
    POOLER,
    SUM_ALL,
    SUM_LAST_FOUR,
    Choice,
    check_choice,
    choices_of,
    dimension,
    layers_used,
    token_shares,
)
from demos.bert.embeddings.vector_cache import drained, encode_sentences
from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model
from demos.errors import UserError

SENTENCES = [
    "A kettle whistles.",
    "Nobody had told the orchestra that the hall would be cold, so they played in gloves.",
    "Typed [SEP] and [MASK], then \ud800 and 😅",
    "A kettle whistles.",
    "word " * 600,
    "x",
]


@pytest.fixture(scope="module")
def with_pooler(tiny: LoadedModel) -> LoadedModel:
    return replace(tiny, spec=replace(tiny.spec, nsp=True))


@pytest.fixture(scope="module")
def distil(tiny: LoadedModel) -> LoadedModel:
    """A random DistilBERT of 5 layers: no segments, no pooler, and modules of other names."""
    torch.manual_seed(0)
    config = DistilBertConfig(
        vocab_size=30522, dim=24, n_layers=5, n_heads=2, hidden_dim=48, attn_implementation="eager"
    )
    spec = ModelSpec("distil", "Random DistilBERT", "", "", 5, 2, 24, cased=False, segments=False)
    return LoadedModel(spec, tiny.tokenizer, DistilBertModel(config).eval().requires_grad_(False))


@pytest.fixture(params=["with_pooler", "distil", "bundled"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    found: LoadedModel = request.getfixturevalue(request.param)
    return found


def alone(loaded: LoadedModel, sentence: str) -> tuple[np.ndarray, np.ndarray | None]:
    """transformers itself: hidden states [L + 1, n, d] and the pooler's vector, where it has one."""
    ids = loaded.tokenizer(sentence.replace("\ud800", "\ufffd"))["input_ids"]
    ids = ids[:511] + ids[-1:] if len(ids) > 512 else ids
    with torch.inference_mode():
        output = loaded.model(input_ids=torch.tensor([ids]), output_hidden_states=True)
    pooled = output.get("pooler_output")
    return torch.cat(output.hidden_states).numpy(), None if pooled is None else pooled[0].numpy()


LAYERS: dict[int | str, Callable[[np.ndarray], np.ndarray]] = {
    SUM_ALL: lambda states: states[1:].sum(axis=0),
    SUM_LAST_FOUR: lambda states: states[1:][-4:].sum(axis=0),
    CONCAT_LAST_FOUR: lambda states: np.concatenate(list(states[1:][-4:]), axis=-1),
}
BY_HAND: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "cls": lambda tokens: tokens[0],
    "mean": lambda tokens: tokens.mean(axis=0),
    "mean_no_special": lambda tokens: tokens[1:-1].mean(axis=0),
    "max": lambda tokens: tokens.max(axis=0),
}
TYPED, SEP_AT = 2, 2  # the sentence with a [SEP] of its own, and where that is


def test_every_choice_equals_transformers_sentence_by_sentence(loaded: LoadedModel) -> None:
    choices = choices_of(loaded)
    deepest = loaded.model.config.num_hidden_layers
    assert len(choices) == 4 * (deepest + 1 + 3) + loaded.spec.nsp
    found = drained(encode_sentences(loaded, SENTENCES, choices))
    for row, sentence in enumerate(SENTENCES):
        states, pooled = alone(loaded, sentence)
        for choice, vectors in zip(choices, found, strict=True):
            assert vectors.dtype == np.float32
            assert vectors.shape == (len(SENTENCES), dimension(choice, deepest, states.shape[-1]))
            if choice.pooling == POOLER:
                assert pooled is not None
                wanted = pooled
            else:
                tokens = LAYERS[choice.layer](states) if choice.layer in LAYERS else states[choice.layer]
                if row == TYPED and choice.pooling == "mean_no_special":
                    tokens = np.delete(tokens, SEP_AT, axis=0)
                wanted = BY_HAND[choice.pooling](tokens)
            np.testing.assert_allclose(vectors[row], wanted, atol=1e-5, err_msg=f"{choice} of {sentence[:20]!r}")


def test_layers_of_a_shallow_model() -> None:
    assert layers_used(SUM_ALL, 2) == layers_used(CONCAT_LAST_FOUR, 2) == (1, 2)
    assert layers_used(SUM_LAST_FOUR, 12) == (9, 10, 11, 12)
    assert layers_used(0, 6) == (0,)
    assert dimension(Choice("cls", CONCAT_LAST_FOUR), 6, 384) == 1_536


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (Choice("median", 2), "There is no pooling 'median' here"),
        (Choice("mean", 3), "There is no layer '3' here; the model has 0 to 2"),
        (Choice("mean", True), "There is no layer"),
        (Choice("mean", "first"), "There is no layer 'first'"),
        (Choice(POOLER, 2), "no trained pooler"),
        (Choice(["mean"], 2), "There is no pooling"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_choice_is_refused_before_any_work(tiny: LoadedModel, choice: Choice, said: str) -> None:
    with pytest.raises(UserError, match=said):
        next(encode_sentences(tiny, SENTENCES, [choice]))


def test_the_pooler_reads_the_last_layer(with_pooler: LoadedModel) -> None:
    with pytest.raises(UserError, match="choose layer 2"):
        check_choice(with_pooler, Choice(POOLER, 1))
    check_choice(with_pooler, Choice(POOLER, 2))


def test_shares_of_every_pooling(tiny: LoadedModel) -> None:
    (run,) = run_model(tiny, [encode(tiny.tokenizer, "The kettle sings.")])
    n = len(run.encoding)
    assert token_shares(run, Choice("cls", 1)).tolist() == token_shares(run, Choice("pooler", 2)).tolist()
    assert token_shares(run, Choice("cls", 1)).tolist() == [1, *[0] * (n - 1)]
    np.testing.assert_allclose(token_shares(run, Choice("mean", "sum_all")), np.full(n, 1 / n))
    np.testing.assert_allclose(token_shares(run, Choice("mean_no_special", 2)), [0, *[1 / (n - 2)] * (n - 2), 0])
    side_by_side = np.concatenate([run.hidden_states[1], run.hidden_states[2]], axis=1)  # all layers that tiny has
    won = [sum(side_by_side[:, k].argmax() == token for k in range(64)) / 64 for token in range(n)]
    np.testing.assert_allclose(token_shares(run, Choice("max", "concat_last_four")), won)


def test_what_has_no_share_is_refused(tiny: LoadedModel) -> None:
    (run,) = run_model(tiny, [encode(tiny.tokenizer, "")])
    with pytest.raises(UserError, match="no tokens except"):
        token_shares(run, Choice("mean_no_special", 2))
