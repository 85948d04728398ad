"""The small ELMo: its arithmetic against PyTorch's LSTM, its sums against the paper's equation."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from demos.bert.elmo.bundled import Trained, bundled, load, save
from demos.bert.elmo.lstm import lstm_steps
from demos.bert.elmo.mixing import gates, mixed, read, shares_of, standardised
from demos.bert.elmo.model import TwoWay
from demos.bert.elmo.who_sees import NAMES, dependence, word_tokens
from demos.bert.elmo.words import LONGEST, SPECIAL, spelled, split_words, word_spans
from demos.bert.model.encoding import encode
from demos.bert.model.models import LoadedModel
from demos.errors import UserError

VOCABULARY = (*SPECIAL, "the", "dog", "runs", ".")


def untrained(width: int = 6) -> Trained:
    torch.manual_seed(3)
    return Trained(TwoWay(len(VOCABULARY), width).eval().requires_grad_(False), VOCABULARY, {})


def test_words_and_their_characters() -> None:
    assert split_words("Let’s go — “now”, 2 men!") == ["let's", "go", "-", '"', "now", '"', ",", "2", "men", "!"]
    assert all(text.lower() == word for word, a, b in word_spans("Ein Ärger.") for text in ["Ein Ärger."[a:b]])
    assert spelled(["a", "x" * 40, "<s>", "</s>", "é"]).shape == (5, LONGEST)
    rows = spelled(["<s>", "</s>", "a", "b", "é", "ß"])
    assert len({tuple(row.tolist()) for row in rows[:4]}) == 4
    assert torch.equal(rows[4], rows[5])  # both are characters that the model does not know
    assert spelled([]).shape == (0, LONGEST)


def test_the_steps_equal_pytorchs_lstm() -> None:
    torch.manual_seed(1)
    lstm, inputs = nn.LSTM(5, 4, batch_first=True).requires_grad_(False), torch.randn(7, 5)
    states, (_, cell) = lstm(inputs[None])
    steps = lstm_steps(lstm, inputs)
    torch.testing.assert_close(steps.state, states[0])
    torch.testing.assert_close(steps.cell[-1], cell[0, 0])
    torch.testing.assert_close(steps.forget_gate[0] * 0 + steps.input_gate[0] * steps.candidate[0], steps.cell[0])


def test_states_equal_lstms_that_read_one_word_after_the_other() -> None:
    trained = untrained()
    words = ["the", "dog", "runs", "."]
    found = read(trained, words)
    x = trained.model.word_vectors(spelled([SPECIAL[1], *words, SPECIAL[2]]))
    ahead, back = x, x.flip(0)
    np.testing.assert_allclose(found.layers[0], torch.cat([x, x], 1)[1:-1], atol=1e-6)
    for layer in (0, 1):
        first, second = trained.model.forwards[layer], trained.model.backwards[layer]
        ahead = lstm_steps(first, ahead).state + (ahead if layer else 0)
        back = lstm_steps(second, back).state + (back if layer else 0)
        together = torch.cat([ahead, back.flip(0)], 1)[1:-1]
        np.testing.assert_allclose(found.layers[layer + 1], together, atol=1e-6)
    told = dict(gates(trained, words, 2))
    np.testing.assert_allclose(told["h: state"], lstm_steps(trained.model.forwards[0], x).state[3, :8], atol=1e-6)
    logits = trained.model.output(ahead)[2, 1:].softmax(-1)  # after "dog", which stands behind the begin and "the"
    word, share = found.after[1][0]
    assert VOCABULARY[1 + int(logits.argmax())] == word
    assert share == pytest.approx(logits.max().item(), abs=1e-6)


def test_loss_and_every_gradient_are_those_of_plain_steps() -> None:
    """Both directions' cross-entropies, with an LSTM cell word by word and convolutions as products."""
    torch.manual_seed(4)
    model = TwoWay(len(VOCABULARY), 6).double()
    letters, words = spelled(VOCABULARY[1:]), torch.tensor([[1, 3, 4, 5, 2], [1, 4, 3, 6, 2]])
    states = model.read(model.word_vectors(letters)[words - 1])
    loss = cross_entropy(model.next_words(states).flatten(0, 1), words[:, 1:].flatten())
    loss = loss + cross_entropy(model.words_before(states).flatten(0, 1), words[:, :-1].flatten())
    weights = {name: one.detach().clone().requires_grad_(True) for name, one in model.named_parameters()}
    seen = weights["characters.weight"][letters]
    largest = []
    for at in range(len(model.convolutions)):
        kernel = weights[f"convolutions.{at}.weight"]
        answers = torch.einsum("mpdl,fdl->mpf", seen.unfold(1, kernel.shape[-1], 1), kernel)
        largest.append((answers + weights[f"convolutions.{at}.bias"]).amax(1))
    vectors = torch.cat(largest, 1).relu() @ weights["project.weight"].T + weights["project.bias"]
    plain = torch.zeros((), dtype=torch.float64)
    for direction, order, answer in (("forwards", range(5), 1), ("backwards", range(5)[::-1], -1)):
        for sentence in words:
            inputs = {place: vectors[sentence[place] - 1] for place in order}
            for layer in (0, 1):
                names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
                of_layer = [weights[f"{direction}.{layer}.{name}"] for name in names]
                state = cell = torch.zeros(1, 6, dtype=torch.float64)
                outputs = {}
                for place in order:
                    state, cell = torch.lstm_cell(inputs[place][None], (state, cell), *of_layer)
                    outputs[place] = state[0] + (inputs[place] if layer else 0)
                inputs = outputs
            for place in list(order)[:-1]:
                logits = inputs[place] @ weights["output.weight"].T + weights["output.bias"]
                plain = plain + (logits.logsumexp(0) - logits[sentence[place + answer]]) / 8
    torch.testing.assert_close(loss, plain)
    loss.backward()
    plain.backward()
    for name, parameter in model.named_parameters():
        expected = weights[name].grad
        assert parameter.grad is not None
        assert expected is not None
        if name == "characters.weight":
            expected[0] = 0  # the row of padding is not trained
        torch.testing.assert_close(parameter.grad, expected, atol=1e-9, rtol=1e-7)


def test_one_wide_filter_is_a_product_and_a_maximum() -> None:
    model = untrained().model
    letters = model.characters(spelled(["dog"]))[0]  # [C, d]
    largest = []
    for convolution in model.convolutions:
        length = convolution.kernel_size[0]
        windows = letters.unfold(0, length, 1)  # [places, d, length]
        largest.append((torch.einsum("pdl,fdl->pf", windows, convolution.weight) + convolution.bias).amax(0))
    by_hand = model.project(torch.cat(largest).relu())
    torch.testing.assert_close(model.word_vectors(spelled(["dog"]))[0], by_hand)


def test_equation_one() -> None:
    rng = np.random.default_rng(0)
    layers, shares = rng.normal(size=(3, 5, 4)), shares_of([1, 0.5, 0.5])
    assert shares.tolist() == [0.5, 0.25, 0.25]
    np.testing.assert_allclose(mixed(layers, shares, 2.0), layers[0] + 0.5 * layers[1] + 0.5 * layers[2])
    norm = torch.nn.functional.layer_norm(torch.from_numpy(layers), (4,), eps=1e-12)
    np.testing.assert_allclose(standardised(layers), norm)


@pytest.mark.parametrize("weights", [[0, 0, 0], [1, 1], [1, -1, 1], [float("nan"), 1, 1]])
def test_weights_that_have_no_shares(weights: list[float]) -> None:
    with pytest.raises(UserError, match="weight above 0"):
        shares_of(weights)


def test_who_sees_whom(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, "The dog runs home .")
    found = dependence(tiny, untrained(), encoding, 2)
    assert found.change.shape == (len(NAMES), 5)
    seen = np.abs(found.change) > 1e-9
    assert seen.tolist() == [[True] * 5, [True] * 3 + [False] * 2, [True] * 3 + [False] * 2, [False] * 2 + [True] * 3]


def test_words_keep_their_tokens(tiny: LoadedModel) -> None:
    encoding = encode(tiny.tokenizer, "Don't!", "A second sentence")
    words = word_tokens(encoding)
    assert [word for word, _ in words] == ["don't", "!"]
    assert [place for _, places in words for place in places] == list(range(1, encoding.tokens.index("[SEP]")))
    typed = encode(tiny.tokenizer, "A [SEP] bank")
    assert [tokens for _, tokens in word_tokens(typed)] == [[1], [3]]
    assert dependence(tiny, untrained(), typed, 1).words == ("a", "bank")


def test_a_model_is_written_and_read(tmp_path: Path) -> None:
    trained = Trained(untrained().model.half().float(), VOCABULARY, {"forward": 2.0})
    save(trained, tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert (again.vocabulary, again.measured) == (trained.vocabulary, trained.measured)
    np.testing.assert_array_equal(read(again, ["dog"]).layers, read(trained, ["dog"]).layers)


def test_the_bundled_model_has_learned_which_words_follow() -> None:
    trained = bundled()
    assert len(trained.vocabulary) == 4_000
    assert trained.measured["forward"] < 200
    assert trained.measured["backward"] < 200
    after = read(trained, split_words("He put his hand upon her")).after
    assert "of" not in {word for word, _ in after[1]}  # after “he put”
    logits_of = dict(read(trained, split_words("She looked out of the")).after[3])
    assert "the" in logits_of  # after “she looked out of”


def test_a_words_vector_depends_on_its_sentence() -> None:
    first, second = (read(bundled(), split_words(text)) for text in ("the dog ate", "a dog"))
    np.testing.assert_allclose(first.layers[0, 1], second.layers[0, 1], atol=1e-6)
    for layer in (1, 2):
        assert np.abs(first.layers[layer, 1] - second.layers[layer, 1]).max() > 0.05
