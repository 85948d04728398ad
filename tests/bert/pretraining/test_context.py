"""A word taken away: the same probabilities as transformers' model gives for the shorter sentence, typed anew."""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.model.encoding import encode
from demos.bert.model.generators import drained
from demos.bert.pretraining.context import Removals, removal_steps
from demos.bert.pretraining.heads import Pretrained
from demos.errors import UserError

Headed = tuple[Pretrained, BertForPreTraining]
FIRST, SECOND = ["the", "[MASK]", "unflappable", "slept", "."], ["it", "rained"]
WATCHED = [4633, 2002, 30000]


def test_it_is_the_shorter_sentence(headed: Headed) -> None:
    found, whole = headed

    def typed(first: list[str], second: list[str]) -> np.ndarray:
        inputs = found.tokenizer(" ".join(first), " ".join(second), return_tensors="pt")
        place = inputs["input_ids"][0].tolist().index(found.tokenizer.mask_token_id)
        with torch.no_grad():
            chances: np.ndarray = whole(**inputs).prediction_logits[0, place].softmax(-1).numpy()
        return chances

    encoding = encode(found.tokenizer, " ".join(FIRST), " ".join(SECOND))
    removals = drained(removal_steps(found, encoding, 2, WATCHED))
    assert removals.candidates == tuple(found.tokenizer.convert_ids_to_tokens(WATCHED))
    whole_sentence = typed(FIRST, SECOND)
    np.testing.assert_allclose(removals.before, whole_sentence[WATCHED], rtol=1e-3)
    assert removals.first == found.tokenizer.convert_ids_to_tokens(int(whole_sentence.argmax()))
    shorter = [(FIRST[:at] + FIRST[at + 1 :], SECOND) for at in (0, 2, 3, 4)] + [(FIRST, SECOND[1:]), (FIRST, ["it"])]
    assert [one.word for one in removals.each] == ["the", "unflappable", "slept", ".", "it", "rained"]
    for one, words in zip(removals.each, shorter, strict=True):
        theirs = typed(*words)
        np.testing.assert_allclose(one.probabilities, theirs[WATCHED], rtol=1e-3)
        assert one.first == found.tokenizer.convert_ids_to_tokens(int(theirs.argmax()))
    pieces = removals.each[1].places
    assert "".join(encoding.tokens[place].removeprefix("##") for place in pieces) == "unflappable"
    assert len(pieces) > 1


def test_other_pieces_of_the_hidden_word_are_context(headed: Headed) -> None:
    found, _ = headed
    encoding = encode(found.tokenizer, "unflappable")
    removals = drained(removal_steps(found, encoding, 2, [5]))
    assert [one.places for one in removals.each] == [tuple({*range(1, len(encoding) - 1)} - {2})]


def test_it_tells_how_far_it_is_and_batches_change_nothing(headed: Headed) -> None:
    found, whole = headed
    words = ["the", "old", "miller", "slept", "and", "the", "sea", "was", "calm", "and", "it", "rained", "[MASK]", "."]
    encoding = encode(found.tokenizer, " ".join(words))
    removals: list[Removals] = []

    def read() -> Iterator[tuple[int, int]]:
        removals.append((yield from removal_steps(found, encoding, len(words) - 1, [2002])))

    assert list(read()) == [(8, 14), (14, 14)]
    for at, one in enumerate(removals[0].each[:12]):
        ids = torch.tensor([encode(found.tokenizer, " ".join(words[:at] + words[at + 1 :])).input_ids])
        with torch.no_grad():
            theirs = whole(ids).prediction_logits[0, len(words) - 2].softmax(-1)
        assert one.word == words[at]
        assert one.probabilities[0] == pytest.approx(float(theirs[2002]), rel=1e-3)


def test_bounds(headed: Headed) -> None:
    found, _ = headed
    with pytest.raises(UserError, match="inputs of 40 tokens; this input has 52"):
        drained(removal_steps(found, encode(found.tokenizer, "sand " * 50), 3, [5]))
    with pytest.raises(UserError, match="no other word"):
        drained(removal_steps(found, encode(found.tokenizer, "[MASK]"), 1, [5]))
