"""Masks laid over attention are PyTorch's and transformers' own, and a causal mask lets nothing flow back."""

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertModel

from demos.bert.attention.queries_keys import queries_and_keys
from demos.bert.encoder.masks import change_last_word, cross_weights, run_causal, writing_cost
from demos.bert.encoder.size import Shape, work_per_token
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.bert.model.run import Run, run_model
from demos.errors import UserError

TEXT = "The banker sat on the bank of the river."


@pytest.fixture(scope="module")
def run(bundled: LoadedModel) -> Run:
    return run_model(bundled, [encode(bundled.tokenizer, TEXT)])[0]


def test_the_causal_run_is_a_decoders(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, TEXT, "A second one.")
    decoder = BertModel(BertConfig(**{**tiny.model.config.to_dict(), "is_decoder": True})).eval()
    decoder.load_state_dict(tiny.model.state_dict())
    with torch.inference_mode():
        expected = decoder(
            torch.tensor([encoding.input_ids]),
            token_type_ids=torch.tensor([encoding.token_type_ids]),
            output_hidden_states=True,
            use_cache=False,
        ).hidden_states
    run = run_causal(tiny, encoding)
    np.testing.assert_allclose(run.hidden_states, np.concatenate(expected), atol=1e-5)
    assert (np.triu(run.attentions, 1) == 0).all()
    np.testing.assert_allclose(run.attentions.sum(axis=-1), 1, atol=1e-5)


def test_its_weights_are_pytorchs_own(tiny: LoadedModel) -> None:
    run = run_causal(tiny, encode(tiny.tokenizer, TEXT))
    for layer in range(run.num_layers):
        both = queries_and_keys(tiny, run, layer)
        q, k = torch.tensor(both.queries), torch.tensor(both.keys)
        n = q.shape[1]
        expected = torch.nn.functional.scaled_dot_product_attention(q, k, torch.eye(n).expand(4, n, n), is_causal=True)
        np.testing.assert_allclose(run.attentions[layer], expected.numpy(), atol=1e-5)


def test_cross_attention_is_the_decoders_formula(bundled: LoadedModel, run: Run) -> None:
    written = run_model(bundled, [encode(bundled.tokenizer, "Money, he said.")])[0]
    weights = cross_weights(bundled, run, written, 2)
    assert weights.shape == (12, len(written.encoding), len(run.encoding))
    head, layer = 5, bundled.model.encoder.layer[2].attention.self
    q, k = (
        part(torch.tensor(states))[:, head * 32 : (head + 1) * 32]
        for part, states in ((layer.query, written.hidden_states[2]), (layer.key, run.hidden_states[2]))
    )
    expected = torch.softmax(q @ k.T / 32**0.5, dim=-1)
    np.testing.assert_allclose(weights[head], expected.numpy(), atol=1e-5)


def test_another_last_word_reaches_back_in_bert_and_in_no_decoder(bundled: LoadedModel, run: Run) -> None:
    again, decoder, change = change_last_word(bundled, run.encoding, "crisis")
    np.testing.assert_allclose(again.hidden_states, run.hidden_states, atol=1e-5)
    np.testing.assert_allclose(again.attentions, run.attentions, atol=1e-5)
    np.testing.assert_allclose(decoder.attentions, run_causal(bundled, run.encoding).attentions, atol=1e-5)
    assert change.after.text == "The banker sat on the bank of the crisis."
    assert change.tokens == change.before.tokens.index("river")
    assert (change.left_only == 0).all()
    assert (change.both_sides > 0.001).all()
    one, other = (run_model(bundled, [part])[0].hidden_states[-1] for part in (change.before, change.after))
    expected = 1 - torch.nn.functional.cosine_similarity(torch.tensor(one[6]), torch.tensor(other[6]), dim=0)
    assert change.both_sides[6] == pytest.approx(float(expected), abs=1e-5)
    same = change_last_word(bundled, run.encoding, "river")[-1]
    assert same.both_sides.max() == 0  # the same word: nothing at all


@pytest.mark.parametrize(("text", "word", "told"), [(TEXT, " ", "Write a word"), ("?!", "x", "no word")])
def test_what_can_not_be_replaced(bundled: LoadedModel, text: str, word: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        change_last_word(bundled, encode(bundled.tokenizer, text), word)


def test_writing_costs() -> None:
    shape = Shape("any", 2, 64, 4)
    kept, again = writing_cost(shape, 5, 2)
    each = [work_per_token(shape, length).total for length in range(1, 8)]
    assert (kept, again) == (sum(each), 6 * each[5] + 7 * each[6])
