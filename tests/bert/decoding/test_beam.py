"""Beam search against an exhaustive search, greedy decoding, and transformers' `generate`."""

from collections.abc import Sequence
from itertools import product

import pytest
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from demos.bert.decoding.beam import DROPPED, ENDED, KEPT, beam_search

VOCABULARY, LONGEST, END = 4, 4, 0


def table(seed: int) -> dict[tuple[int, ...], torch.Tensor]:
    """A random distribution of the next token for every prefix."""
    draw = torch.Generator().manual_seed(seed)
    prefixes = [prefix for length in range(LONGEST) for prefix in product(range(VOCABULARY), repeat=length)]
    return {prefix: (2 * torch.randn(VOCABULARY, generator=draw)).log_softmax(-1) for prefix in prefixes}


def exhaustive(of: dict[tuple[int, ...], torch.Tensor], penalty: float) -> list[tuple[float, tuple[int, ...]]]:
    """(score, tokens) of every text, the best first."""
    found = []
    for length in range(1, LONGEST + 1):
        for tokens in product(range(VOCABULARY), repeat=length):
            if END not in tokens[:-1] and (tokens[-1] == END or length == LONGEST):
                total = sum(of[tokens[:at]][token].item() for at, token in enumerate(tokens))
                found.append((total / length**penalty, tokens))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("penalty", [0.0, 0.7, 2.0])
def test_a_beam_as_wide_as_all_texts_finds_the_best_of_all(seed: int, penalty: float) -> None:
    of = table(seed)
    search = beam_search(lambda texts: torch.stack([of[text] for text in texts]), 300, penalty, END, LONGEST)
    score, tokens = exhaustive(of, penalty)[0]
    assert search.finished[0].tokens == tokens
    assert search.finished[0].score == pytest.approx(score, abs=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_without_a_penalty_is_greedy(seed: int) -> None:
    of = table(seed)
    text: tuple[int, ...] = ()
    while len(text) < LONGEST and (not text or text[-1] != END):
        text += (int(of[text].argmax()),)
    search = beam_search(lambda texts: torch.stack([of[text] for text in texts]), 1, 0.0, END, LONGEST)
    assert [one.tokens for one in search.finished] == [text]


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_it_finds_what_transformers_finds(width: int, penalty: float) -> None:
    torch.manual_seed(width)
    config = GPT2Config(
        vocab_size=12, n_positions=16, n_embd=16, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=2,
        initializer_range=1.0,
    )  # fmt: skip
    model = GPT2LMHeadModel(config).eval()

    @torch.inference_mode()
    def follows(texts: Sequence[tuple[int, ...]]) -> torch.Tensor:
        return model(torch.tensor([[1, *text] for text in texts])).logits[:, -1].log_softmax(-1)

    theirs = model.generate(
        torch.tensor([[1]]), attention_mask=torch.ones(1, 1, dtype=torch.long), num_beams=width, max_new_tokens=8,
        num_return_sequences=width, length_penalty=penalty, early_stopping="never", do_sample=False, pad_token_id=0,
        return_dict_in_generate=True, output_scores=True,
    )  # fmt: skip
    ours = beam_search(follows, width, penalty, 2, 8)
    best = theirs.sequences[0, 1:].tolist()
    best = best[: best.index(2) + 1] if 2 in best else best  # what stands behind its end is padding
    assert list(ours.finished[0].tokens) == best
    assert ours.finished[0].score == pytest.approx(theirs.sequences_scores[0].item(), abs=1e-4)


def test_each_step_shows_what_goes_on_what_ended_and_what_was_dropped() -> None:
    of = table(3)
    search = beam_search(lambda texts: torch.stack([of[text] for text in texts]), 2, 1.0, END, LONGEST)
    before = [()]
    for step in search.steps:
        assert [one.hypothesis.log_probability for one in step] == sorted(
            (one.hypothesis.log_probability for one in step), reverse=True
        )
        for one in step:
            assert one.fate in (KEPT, ENDED, DROPPED)
            assert one.hypothesis.tokens[:-1] == before[one.parent]
            assert one.log_probability == of[before[one.parent]][one.hypothesis.tokens[-1]].item()
        before = [one.hypothesis.tokens for one in step if one.fate == KEPT]
        assert len(before) <= 2
    assert len(search.finished) <= 2


def test_bounds() -> None:
    for width, penalty, longest in ((0, 1.0, 3), (1, float("nan"), 3), (1, -1.0, 3), (1, 1.0, 0)):
        with pytest.raises(ValueError, match="at least"):
            beam_search(lambda texts: torch.zeros(len(texts), 2), width, penalty, END, longest)
