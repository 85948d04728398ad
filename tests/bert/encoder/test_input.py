"""The input ledger against transformers' own tensors, and each spoilt input against a model spoilt by hand."""

import copy
from dataclasses import replace

import numpy as np
import pytest
import torch

from demos.bert.encoder.input import add_up, embedding_tables, input_states, select
from demos.bert.encoder.input_changed import Change, change_input, final_states, shuffled
from demos.bert.model.encoding import Encoding, encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import run_model

TEXT, PAIR = "The unhappiest kettle sang twice, loudly.", "Nobody heard it."


@pytest.fixture(params=["tiny", "distil", "bundled"])
def loaded(request: pytest.FixtureRequest) -> LoadedModel:
    found: LoadedModel = request.getfixturevalue(request.param)
    return found


def forward(loaded: LoadedModel, model: torch.nn.Module, encoding: Encoding) -> np.ndarray:
    """transformers' own last hidden state [n, d] of one input."""
    inputs = {"input_ids": torch.tensor([encoding.input_ids])}
    if loaded.spec.segments:
        inputs["token_type_ids"] = torch.tensor([encoding.token_type_ids])
    with torch.no_grad():
        states: np.ndarray = model(**inputs).last_hidden_state[0].numpy()
    return states


@pytest.mark.parametrize("pair", ["", PAIR])
def test_the_sum_is_the_models_own_embedding_output(loaded: LoadedModel, pair: str) -> None:
    encoding = encode(loaded.tokenizer, TEXT, pair)
    ledger = add_up(embedding_tables(loaded.model), encoding)
    layer = loaded.model.embeddings
    ids = torch.tensor(encoding.input_ids)
    with torch.no_grad():
        word, position = layer.word_embeddings(ids), layer.position_embeddings(torch.arange(len(encoding)))
        total = word + position
        if loaded.spec.segments:
            segment = layer.token_type_embeddings(torch.tensor(encoding.token_type_ids))
            np.testing.assert_array_equal(ledger.segment, segment.numpy())
            total = total + segment
        own = layer.LayerNorm(total).numpy()
    assert (ledger.segment is None) == (not loaded.spec.segments)
    np.testing.assert_array_equal(ledger.word, word.numpy())
    np.testing.assert_array_equal(ledger.position, position.numpy())
    np.testing.assert_allclose(ledger.total, total.numpy(), atol=1e-6)
    np.testing.assert_allclose(ledger.norm.mean, total.mean(dim=1).numpy(), atol=1e-6)
    np.testing.assert_allclose(ledger.norm.deviation, total.std(dim=1, correction=0).numpy(), rtol=1e-5)
    np.testing.assert_allclose(ledger.result, own, atol=1e-5)
    embedding_output = run_model(loaded, [encoding])[0].hidden_states[0]
    assert ledger.difference(embedding_output) == np.abs(ledger.result - embedding_output).max() <= 1e-5


def test_a_one_hot_vector_selects_the_row(loaded: LoadedModel) -> None:
    tables = embedding_tables(loaded.model)
    for input_id in (0, 2003, 30521):
        found = select(tables, input_id)
        with torch.no_grad():
            own = loaded.model.embeddings.word_embeddings(torch.tensor(input_id)).numpy()
        np.testing.assert_array_equal(found.row, own)
        np.testing.assert_array_equal(np.eye(1, 30522, input_id, dtype=np.float32)[0] @ tables.words, own)
        assert found.vocabulary == 30522
        assert input_id in found.neighbours
        np.testing.assert_array_equal(found.around[found.neighbours.index(input_id)], own)


def test_the_layers_run_on_inputs_of_our_own(loaded: LoadedModel) -> None:
    encoding = encode(loaded.tokenizer, TEXT)
    run = run_model(loaded, [encoding])[0]
    np.testing.assert_allclose(input_states(loaded, encoding), run.hidden_states[0], atol=1e-6)
    both = final_states(loaded.model, np.stack([run.hidden_states[0], run.hidden_states[0][::-1]]))
    np.testing.assert_allclose(both[0], forward(loaded, loaded.model, encoding), atol=1e-5)
    assert both.shape == (2, len(encoding), loaded.spec.width)


def test_spoilt_inputs_equal_a_model_without_those_weights(loaded: LoadedModel) -> None:
    encoding = encode(loaded.tokenizer, TEXT, PAIR)
    run = run_model(loaded, [encoding])[0]
    before = {name: tensor.clone() for name, tensor in loaded.model.embeddings.named_parameters()}
    tables = embedding_tables(loaded.model)
    found = change_input(loaded, encoding, tables, add_up(tables, encoding), seed=3)
    changes = {change.name: change for change in found.changes}
    names = ["positions", *(["segments"] if loaded.spec.segments else []), "order", "bag"]
    assert list(changes) == names

    spoilt = {}
    for name, weights in (("positions", "position_embeddings"), ("segments", "token_type_embeddings")):
        if name in names:
            model = copy.deepcopy(loaded.model)
            getattr(model.embeddings, weights).weight.data.zero_()
            spoilt[name] = model
            check(changes[name], run.hidden_states[-1], forward(loaded, model, encoding))
    order = list(found.order)
    ids = tuple(encoding.input_ids[number] for number in order)
    mixed = replace(encoding, input_ids=ids)
    check(changes["order"], run.hidden_states[-1][order], forward(loaded, loaded.model, mixed), order)
    base, bag = (forward(loaded, spoilt["positions"], one) for one in (encoding, mixed))
    np.testing.assert_allclose(bag, base[order], atol=2e-5)  # BERT(PX) = P BERT(X)
    check(changes["bag"], base[order], bag, order)
    assert changes["bag"].largest < 2e-5 < 1e-3 < changes["order"].largest
    for name, tensor in loaded.model.embeddings.named_parameters():
        assert torch.equal(tensor, before[name])  # the shared model is as it was


def check(change: Change, before: np.ndarray, after: np.ndarray, order: list[int] | None = None) -> None:
    """Compare with torch's own cosine; with `order`, row j of both is token order[j]."""
    at = order or list(range(len(before)))
    a, b = torch.tensor(before).double(), torch.tensor(after).double()
    np.testing.assert_allclose(change.cosine[at], torch.cosine_similarity(a, b).numpy(), atol=1e-5)
    pooled = torch.cosine_similarity(a.mean(dim=0), b.mean(dim=0), dim=0).item()
    assert change.sentence == pytest.approx(pooled, abs=1e-5)
    assert change.largest == pytest.approx((a - b).abs().max().item(), abs=2e-5)


@pytest.mark.parametrize("pair", ["", PAIR])
def test_words_are_shuffled_whole_and_stay_in_their_sentence(tiny: LoadedModel, pair: str) -> None:
    encoding = encode(tiny.tokenizer, TEXT, pair)
    orders = {shuffled(encoding, seed) for seed in range(30)}
    assert shuffled(encoding, 7) == shuffled(encoding, 7)
    assert len(orders) > 20
    for order in orders:
        assert sorted(order) == list(range(len(encoding)))
        assert [encoding.input_ids[i] for i in order] != list(encoding.input_ids)
        assert [encoding.sequence_ids[i] for i in order] == list(encoding.sequence_ids)  # and special tokens stay
        places = {number: place for place, number in enumerate(order)}
        for number in range(1, len(encoding)):
            together = encoding.word_index[number] is not None and (
                encoding.word_index[number] == encoding.word_index[number - 1]
            )
            assert not together or places[number] == places[number - 1] + 1


def test_what_cannot_be_shuffled_stays(tiny: LoadedModel) -> None:
    for text in ("", "kettle", "sand sand sand", "[SEP] kettle [CLS]"):
        encoding = encode(tiny.tokenizer, text)
        order = shuffled(encoding, 1)
        assert order == tuple(range(len(encoding)))  # else equal words would be compared with one another
