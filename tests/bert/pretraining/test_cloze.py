"""Cloze prompts against transformers: the input, both words' probabilities, what is drawn and what is refused."""

import math
from typing import Any

import pytest
import torch
from transformers import BertForPreTraining

from demos.bert.pretraining.cloze import (
    PATTERNS,
    Solved,
    drawn,
    encoded_prompt,
    gap_of,
    label_ids,
    prompt,
    read_prompts,
)
from demos.bert.pretraining.heads import Pretrained
from demos.errors import UserError

SOLVED = (Solved("The soup was cold.", False), Solved("What a night!", True))
WORDS = ("the", "of")  # whole in the tiny model's vocabulary


def test_solved_examples_come_first_and_the_text_with_the_gap_last() -> None:
    expected = "The soup was cold. It was terrible. What a night! It was great. I slept through it. It was [MASK]."
    assert prompt("I slept through it.", SOLVED, PATTERNS[0], ("great", "terrible")) == expected
    assert prompt("", (), PATTERNS[0], ("great", "terrible")) == "It was [MASK]."


def test_the_draw_has_as_many_of_each_class_and_repeats() -> None:
    pool = [Solved(f"text {number}", number % 3 == 0) for number in range(30)]
    chosen = drawn(pool, 4, 2)
    assert sorted(example.positive for example in chosen) == [False] * 4 + [True] * 4
    assert len(set(chosen)) == 8
    assert set(chosen) <= set(pool)
    assert chosen == drawn(pool, 4, 2) != drawn(pool, 4, 3)


@pytest.mark.parametrize("solved", [(), SOLVED])
def test_the_words_probabilities_are_transformers(
    headed: tuple[Pretrained, BertForPreTraining], solved: tuple[Solved, ...]
) -> None:
    pretrained, whole = headed
    texts = ["Seven purple kettles whistled.", "", "A [MASK] of its own, which stays."]
    readings = read_prompts(pretrained, texts, solved, PATTERNS[1], WORDS)
    for text, reading in zip(texts, readings, strict=True):
        inputs = pretrained.tokenizer(prompt(text, solved, PATTERNS[1], WORDS), return_tensors="pt")
        place = (inputs.input_ids[0] == pretrained.tokenizer.mask_token_id).nonzero()[-1].item()
        with torch.inference_mode():
            logits: Any = whole(**inputs).prediction_logits[0, place].double()
        chances = logits.softmax(dim=-1)
        ids = pretrained.tokenizer.convert_tokens_to_ids(list(WORDS))
        assert reading.encoding.input_ids == tuple(inputs.input_ids[0].tolist())
        assert [guess.token_id for guess in reading.words] == ids
        assert [guess.probability for guess in reading.words] == pytest.approx(chances[ids].tolist(), rel=1e-4)
        assert reading.log_odds == pytest.approx(math.log(chances[ids[0]] / chances[ids[1]]), abs=1e-4)
        assert [guess.token_id for guess in reading.best] == chances.topk(5).indices.tolist()


def test_the_gap_is_the_patterns_own(headed: tuple[Pretrained, BertForPreTraining]) -> None:
    tokenizer = headed[0].tokenizer
    encoding = encoded_prompt(tokenizer, "One [MASK] here.", (), PATTERNS[0], WORDS)
    assert encoding.tokens.count("[MASK]") == 2
    assert encoding.tokens[gap_of(tokenizer, encoding) :] == ("[MASK]", ".", "[SEP]")


def test_refused(headed: tuple[Pretrained, BertForPreTraining]) -> None:
    pretrained, _ = headed
    with pytest.raises(UserError, match=r"the input has [\d,]+ tokens; the limit is 512"):
        read_prompts(pretrained, ["the " * 600], SOLVED, PATTERNS[0], WORDS)
    with pytest.raises(UserError, match="not single tokens"):
        label_ids(pretrained.tokenizer, ("the", "incomprehensibility"))


def test_a_text_without_a_full_stop_gets_one() -> None:
    assert prompt("a stunning film", (), PATTERNS[0], WORDS) == "a stunning film. It was [MASK]."
    assert prompt("What a film!", (), PATTERNS[0], WORDS) == "What a film! It was [MASK]."
