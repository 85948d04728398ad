"""The translator's arithmetic against PyTorch's cells, word by word."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from demos.bert.translation.decoding import Trained, decoder_step, step_at, steps, translate
from demos.bert.translation.gru import BEGIN, END, PADDING, SCORES, SPECIAL, Memory, Translator
from demos.bert.translation.vocabulary import Vocabulary, padded, shifted

WORDS = Vocabulary.of([("a", "b", "c", "d", "e")])
SOURCE = [("a", "b", "c", "d"), ("e", "a")]
TARGET = [("b", "c", "a"), ("d",)]


def translator(score: str, width: int = 8) -> Translator:
    torch.manual_seed(1)
    return Translator(len(WORDS), len(WORDS), score, width).eval().requires_grad_(False)


def cell(gru: nn.GRU, suffix: str = "") -> nn.GRUCell:
    """PyTorch's own cell with one direction's weights."""
    made = nn.GRUCell(gru.input_size, gru.hidden_size)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(made, name).data = getattr(gru, f"{name}_l0{suffix}").data
    return made.requires_grad_(False)


def read_by_cells(model: Translator, sentence: tuple[str, ...]) -> Memory:
    embedded = model.source(padded([sentence], WORDS))[0]
    sides = []
    for suffix, order in (("", range(len(sentence))), ("_reverse", range(len(sentence))[::-1])):
        step, state, states = cell(model.encoder, suffix), torch.zeros(model.encoder.hidden_size), {}
        for place in order:
            states[place] = state = step(embedded[place][None], state[None])[0]
        sides.append((torch.stack([states[place] for place in range(len(sentence))]), state))
    (forward, ended), (backward, began) = sides
    absent = torch.zeros(1, len(sentence), dtype=torch.bool)
    return Memory(torch.cat([forward, backward], -1)[None], torch.cat([ended, began])[None], absent)


def test_the_vocabulary_and_its_tensors() -> None:
    assert WORDS.words == (*SPECIAL, "a", "b", "c", "d", "e")
    assert padded(SOURCE, WORDS).tolist() == [[3, 4, 5, 6], [7, 3, PADDING, PADDING]]
    given, wanted = shifted(TARGET, WORDS)
    assert given.tolist() == [[BEGIN, 4, 5, 3], [BEGIN, 6, PADDING, PADDING]]
    assert wanted.tolist() == [[4, 5, 3, END], [6, END, PADDING, PADDING]]


def test_reading_equals_cells_whatever_stands_beside_a_sentence() -> None:
    model = translator("dot")
    together = model.read(padded(SOURCE, WORDS))
    for row, sentence in enumerate(SOURCE):
        alone = read_by_cells(model, sentence)
        torch.testing.assert_close(together.states[row, : len(sentence)], alone.states[0])
        torch.testing.assert_close(together.last[row], alone.last[0])
    assert together.absent.tolist() == [[False] * 4, [False, False, True, True]]


@pytest.mark.parametrize("score", SCORES)
def test_writing_equals_cells(score: str) -> None:
    model = translator(score)
    given, _ = shifted(TARGET, WORDS)
    decoded = model.write(model.read(padded(SOURCE, WORDS)), given)
    step = cell(model.decoder)
    for row, sentence in enumerate(SOURCE):
        memory = read_by_cells(model, sentence)
        state = memory.last[0]
        for at in range(len(TARGET[row]) + 1):
            state = step(model.target(given[row, at])[None], state[None])[0]
            if score == "none":
                context = memory.last[0]
            else:
                energies = []
                for word in memory.states[0]:
                    if score == "dot":
                        energies.append(torch.dot(state, word))
                    else:
                        energies.append(model.energy(torch.tanh(model.of_state(state) + model.of_memory(word)))[0])
                weights = torch.stack(energies).exp() / torch.stack(energies).exp().sum()
                context = sum((weight * word for weight, word in zip(weights, memory.states[0], strict=True)))
                torch.testing.assert_close(decoded.scores[row, at, : len(sentence)], torch.stack(energies))
                torch.testing.assert_close(decoded.weights[row, at, : len(sentence)], weights)
                assert decoded.weights[row, at, len(sentence) :].eq(0).all()
            combined = torch.tanh(model.combine(torch.cat([context, state])))
            torch.testing.assert_close(decoded.context[row, at], context)
            torch.testing.assert_close(decoded.combined[row, at], combined)
            torch.testing.assert_close(decoded.logits[row, at], model.output(combined))


def plain_loss(weights: dict[str, Tensor], score: str, sentence: Tensor, given: Tensor, wanted: Tensor) -> Tensor:
    """The summed cross-entropy of one sentence, without padding: PyTorch's GRU functions and products, step by step."""

    def step(kind: str, x: Tensor, state: Tensor, suffix: str = "") -> Tensor:
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        return torch.gru_cell(x[None], state[None], *(weights[f"{kind}.{name}{suffix}"] for name in names))[0]

    def linear(name: str, x: Tensor) -> Tensor:
        made = x @ weights[f"{name}.weight"].T
        return made + weights[f"{name}.bias"] if f"{name}.bias" in weights else made

    ends, sides = [], []
    for suffix, order in (("", range(len(sentence))), ("_reverse", range(len(sentence))[::-1])):
        state, states = torch.zeros(weights["encoder.weight_hh_l0"].shape[1], dtype=torch.float64), {}
        for place in order:
            states[place] = state = step("encoder", weights["source.weight"][sentence[place]], state, suffix)
        ends.append(state)
        sides.append(torch.stack([states[place] for place in range(len(sentence))]))
    memory, state = torch.cat(sides, 1), torch.cat(ends)
    last, total = state, torch.zeros((), dtype=torch.float64)
    for word, answer in zip(given, wanted, strict=True):
        state = step("decoder", weights["target.weight"][word], state)
        if score == "none":
            context = last
        else:
            energies = memory @ state
            if score == "additive":
                energies = linear("energy", torch.tanh(linear("of_state", state) + linear("of_memory", memory)))[:, 0]
            context = (energies.exp() / energies.exp().sum()) @ memory
        logits = linear("output", torch.tanh(linear("combine", torch.cat([context, state]))))
        total = total + logits.logsumexp(0) - logits[answer]
    return total


@pytest.mark.parametrize("score", SCORES)
def test_loss_and_every_gradient_are_those_of_plain_steps(score: str) -> None:
    model = translator(score).double().requires_grad_(True)
    given, wanted = shifted(TARGET, WORDS)
    logits = model(padded(SOURCE, WORDS), given)
    loss = cross_entropy(logits.flatten(0, 1), wanted.flatten(), ignore_index=PADDING, reduction="sum")
    weights = {name: one.detach().clone().requires_grad_(True) for name, one in model.named_parameters()}
    plain = torch.zeros((), dtype=torch.float64)
    for row, (sentence, words) in enumerate(zip(SOURCE, TARGET, strict=True)):
        steps_of_row = len(words) + 1
        source = padded([sentence], WORDS)[0]
        plain = plain + plain_loss(weights, score, source, given[row, :steps_of_row], wanted[row, :steps_of_row])
    torch.testing.assert_close(loss, plain)
    loss.backward()
    plain.backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 0, name
        torch.testing.assert_close(parameter.grad, weights[name].grad, atol=1e-9, rtol=1e-7)


def test_greedy_writing_is_the_likeliest_word_each_time() -> None:
    trained = Trained(translator("additive"), WORDS, WORDS)
    written = translate(trained, SOURCE)
    for sentence, words in zip(SOURCE, written, strict=True):
        given = [BEGIN]
        while len(given) <= 30:
            logits = trained.model(padded([sentence], WORDS), torch.tensor([given]))[0, -1]
            if (word := int(logits.argmax())) == END:
                break
            given.append(word)
        assert words == tuple(WORDS.words[word] for word in given[1:] if word != PADDING)


@pytest.mark.parametrize("score", SCORES)
def test_a_step_tells_what_cells_compute(score: str) -> None:
    """The vectors side by side, logits and probabilities of the last step, from nn.GRUCell and plain products."""
    model = translator(score)
    model.output.bias.data[END] = 2  # so that it ends soon
    trained = Trained(model, WORDS, WORDS)
    written, decoded = steps(trained, SOURCE[0])
    one = decoder_step(trained, SOURCE[0], written, decoded, len(written) - 1)
    assert (one.number, one.word) == (len(written), written[-1])
    assert one.given == (written[-2] if len(written) > 1 else "<s>")
    memory, step = read_by_cells(model, SOURCE[0]), cell(model.decoder)
    state = memory.last
    for word in ("<s>", *written[:-1]):
        state = step(model.target.weight[[WORDS.ids[word]]], state)
    assert one.state == pytest.approx(state[0, :4].tolist(), abs=1e-5)
    if score == "none":
        context = memory.last[0]
        assert one.reads == ()
    else:
        assert [word for word, _, _ in one.reads] == list(SOURCE[0])
        weights = torch.tensor([score for _, score, _ in one.reads]).softmax(0)
        assert [weight for _, _, weight in one.reads] == pytest.approx(weights.tolist(), abs=1e-6)
        context = weights @ memory.states[0]
    assert one.context == pytest.approx(context[:4].tolist(), abs=1e-5)
    side_by_side = torch.cat([context, state[0]])
    assert len(side_by_side) == 2 * one.width
    combined = torch.tanh(model.combine.weight @ side_by_side + model.combine.bias)
    assert one.combined == pytest.approx(combined[:4].tolist(), abs=1e-5)
    logits = model.output.weight @ combined + model.output.bias
    assert len(logits) == one.vocabulary
    order = logits.argsort(descending=True)[:4].tolist()
    assert [word for word, _, _ in one.likeliest] == [WORDS.words[at] for at in order]
    assert [logit for _, logit, _ in one.likeliest] == pytest.approx(logits[order].tolist(), abs=1e-5)
    shares = (logits.exp() / logits.exp().sum())[order]
    assert [share for _, _, share in one.likeliest] == pytest.approx(shares.tolist(), abs=1e-5)
    assert one.word == one.likeliest[0][0]


def test_a_step_beyond_the_end_is_the_last_word() -> None:
    written = ("a", "b", ".", "</s>")
    assert [step_at(number, written) for number in (-3, 1, 3, 4, 5, 99)] == [0, 0, 2, 3, 2, 2]
    assert step_at(9, ("a", "b")) == 1  # cut off before its end
    assert step_at(9, ("</s>",)) == 0


def test_an_unknown_score_is_refused() -> None:
    with pytest.raises(ValueError, match="score"):
        Translator(4, 4, "cosine")
