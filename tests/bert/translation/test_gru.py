"""The translator's arithmetic against PyTorch's cells, word by word."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from demos.bert.translation.decoding import Trained, decoder_step, steps, translate
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


def test_a_step_tells_what_was_computed() -> None:
    model = translator("dot")
    model.output.bias.data[END] = 2  # so that it ends soon
    trained = Trained(model, WORDS, WORDS)
    written, decoded = steps(trained, SOURCE[0])
    assert written[-1] == "</s>" or len(written) > 30
    one = decoder_step(trained, SOURCE[0], written, decoded, len(written) - 1)
    assert (one.number, one.word) == (len(written), written[-1])
    assert one.given == (written[-2] if len(written) > 1 else "<s>")
    assert [word for word, _, _ in one.reads] == list(SOURCE[0])
    assert sum(weight for _, _, weight in one.reads) == pytest.approx(1)
    assert one.likeliest[0][0] == written[-1]
    assert replace(one, number=0) != one


def test_an_unknown_score_is_refused() -> None:
    with pytest.raises(ValueError, match="score"):
        Translator(4, 4, "cosine")
