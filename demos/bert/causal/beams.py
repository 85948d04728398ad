"""Beam search with the decoder: the likeliest texts of one length, and where a text repeats itself."""

from collections.abc import Sequence

import torch

from demos.bert.causal.decoder import causal_states
from demos.bert.causal.writing import window
from demos.bert.decoding.beam import Search, beam_search
from demos.bert.pretraining.heads import Pretrained

NO_END = -1  # no word piece ends a text: the decoder was trained without an end
IN_A_ROW = 3  # word pieces that must come again to be counted as a repetition


def search(decoder: Pretrained, input_ids: Sequence[int], width: int, length: int) -> Search:
    """The texts of `length` word pieces after `input_ids` that a beam of `width` keeps, the likeliest first.

    As transformers' `generate` with `num_beams=width` and no end token. All texts are of one length, so a length
    penalty would divide all log-probabilities by the same number, and keep their order.
    """

    @torch.inference_mode()
    def log_probabilities(texts: Sequence[tuple[int, ...]]) -> torch.Tensor:
        ids = torch.tensor([window([*input_ids, *text]) for text in texts])
        return decoder.word_logits(causal_states(decoder, ids)[:, -1]).log_softmax(-1)

    return beam_search(log_probabilities, width, 0.0, NO_END, length)


def repeated(tokens: Sequence[int], in_a_row: int = IN_A_ROW) -> tuple[bool, ...]:
    """For each token, whether it belongs to `in_a_row` tokens that occur in the same order earlier in the text."""
    marks, seen = [False] * len(tokens), set()
    for at in range(len(tokens) - in_a_row + 1):
        run = tuple(tokens[at : at + in_a_row])
        if run in seen:
            marks[at : at + in_a_row] = [True] * in_a_row
        seen.add(run)
    return tuple(marks)
