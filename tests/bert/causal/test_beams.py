"""The decoder's beam search against all texts, transformers' `generate`, and greedy writing; what repeats."""

from itertools import product

import pytest
import torch
from transformers import BertLMHeadModel

from demos.bert.causal.beams import repeated, search
from demos.bert.causal.decoder import WINDOW
from demos.bert.causal.writing import Method, write
from demos.bert.pretraining.heads import Pretrained

START = [2, 7, 8, 9]
Decoders = tuple[Pretrained, BertLMHeadModel]


def test_a_beam_as_wide_as_all_beginnings_finds_the_best_of_all_texts(few_pieces: Decoders) -> None:
    ours, theirs = few_pieces
    texts = torch.tensor(list(product(range(10), repeat=3)))
    with torch.inference_mode():
        read = torch.cat([torch.tensor([START]).expand(len(texts), -1), texts[:, :-1]], dim=1)
        logits = theirs(read, use_cache=False).logits[:, -3:].log_softmax(-1)
    best = logits.gather(-1, texts[..., None]).sum((1, 2)).topk(5)
    found = search(ours, START, 100, 3).finished[:5]
    assert [list(one.tokens) for one in found] == texts[best.indices].tolist()
    assert [one.log_probability for one in found] == pytest.approx(best.values.tolist(), abs=1e-4)


@pytest.mark.parametrize("width", [2, 3, 5])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_it_finds_what_transformers_generate_finds(decoders: Decoders, width: int, penalty: float) -> None:
    ours, theirs = decoders
    given = theirs.generate(
        torch.tensor([START]), num_beams=width, num_return_sequences=width, max_new_tokens=6, do_sample=False,
        eos_token_id=None, pad_token_id=0, length_penalty=penalty, return_dict_in_generate=True, output_scores=True,
    )  # fmt: skip
    found = search(ours, START, width, 6).finished
    assert [list(one.tokens) for one in found] == given.sequences[:, len(START) :].tolist()
    scores = [one.log_probability / 6**penalty for one in found]  # of one length: in the same order with any penalty
    assert scores == pytest.approx(given.sequences_scores.tolist(), abs=1e-4)


def test_a_beam_of_one_is_the_greedy_text_beyond_the_window_too(decoders: Decoders) -> None:
    start = [2, *range(5, 55), *range(5, 46)]
    written = [one.guess.token_id for one in write(decoders[0], start, Method(), 8)]
    assert len(start) < WINDOW < len(start) + 8
    assert list(search(decoders[0], start, 1, 8).finished[0].tokens) == written


@pytest.mark.parametrize(
    ("text", "marks"),
    [("abcdabcd", "00001111"), ("abcd", "0000"), ("ab", "00"), ("aaaa", "0111"), ("abcxabyabc", "0000000111")],
)
def test_what_repeats(text: str, marks: str) -> None:
    assert repeated([ord(letter) for letter in text]) == tuple(mark == "1" for mark in marks)
