"""What is timed is a pass and a text of the length told, and the time told is the median; no time is tested."""

import itertools
import statistics

import pytest
import torch

from demos.bert.translation.decoding import Trained
from demos.bert.translation.gru import SPECIAL
from demos.bert.translation.timing import LENGTHS, SENTENCES, TRIES, measure, passing, writing
from demos.bert.translation.translators import KINDS, make
from demos.bert.translation.vocabulary import Vocabulary

WORDS = Vocabulary((*SPECIAL, *"abcdefgh"))


def translator(kind: str) -> Trained:
    torch.manual_seed(0)
    return Trained(make(kind, len(WORDS), len(WORDS)).eval(), WORDS, WORDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_pass_writes_all_words_at_once_and_writing_one_at_a_time(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, asked = translator(kind), []
    write = one.model.write

    def counted(memory: object, words: torch.Tensor, state: object = None) -> object:
        decoded = write(memory, words, state)  # type: ignore[arg-type]
        asked.append((words, decoded.logits[:, -1].argmax(-1)))
        return decoded

    monkeypatch.setattr(one.model, "write", counted)
    source = target = torch.randint(3, len(WORDS), (2, 7), generator=torch.Generator().manual_seed(1))
    passing(one, source, target)
    assert [list(words.shape) for words, _ in asked] == [[2, 7]]
    asked.clear()
    writing(one, source, target)
    assert [list(words.shape) for words, _ in asked] == [[2, 1]] * 7
    for (_, likeliest), (given, _) in itertools.pairwise(asked):
        assert given[:, 0].tolist() == likeliest.tolist()


def test_the_median_of_each_length_and_an_end() -> None:
    """With a clock of our own: a measurement takes as long as we say."""
    ticks, durations = [0.0], itertools.chain(range(1, 1 + TRIES), itertools.repeat(2))

    def clock() -> float:
        return ticks[0]

    one = translator("dot")
    forward = one.model.forward

    def slow(*inputs: torch.Tensor) -> torch.Tensor:
        assert inputs[0].shape[0] == SENTENCES
        ticks[0] += next(durations)
        return forward(*inputs)

    one.model.forward = slow  # type: ignore[method-assign]
    plenty = measure({"a": one}, budget=1_000.0, clock=clock)
    assert list(plenty.times["a"].trained) == list(plenty.times["a"].written) == list(LENGTHS)
    assert plenty.times["a"].trained[LENGTHS[0]] == statistics.median(range(1, 1 + TRIES))
    assert plenty.times["a"].trained[LENGTHS[1]] == 2
    assert plenty.threads == torch.get_num_threads()
    short = measure({"a": one}, budget=1.0, clock=clock)
    assert list(short.times["a"].trained) == list(LENGTHS[:2])  # the longest would not fit
