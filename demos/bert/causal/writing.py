"""A decoder writes: the distribution over the next word piece, one piece chosen from it, and so on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from demos.bert.causal.decoder import WINDOW, causal_states
from demos.bert.decoding.sampling import Sampling, reshape
from demos.bert.model.encoding import encode
from demos.bert.pretraining.guesses import Guess, guess_at
from demos.bert.pretraining.heads import Pretrained
from demos.errors import UserError

MOST = 400  # word pieces that may be written after one beginning
MOST_LOOKED_UP = 8  # word pieces


@dataclass(frozen=True)
class Method:
    """The choice of one word piece from the distribution: the likeliest, or one drawn at random."""

    greedy: bool = True
    sampling: Sampling = field(default_factory=Sampling)  # how the distribution is changed before a draw
    seed: int = 1


@dataclass(frozen=True)
class Candidate:
    """A word piece that may follow."""

    guess: Guess  # with the model's own probability
    drawn: float  # its probability in the distribution that is drawn from; 0 where top-k or top-p leaves it out


@dataclass(frozen=True)
class LookedUp:
    """One piece of a word that is looked up, after the text and the word's pieces before it."""

    guess: Guess
    rank: int  # among all V word pieces, 1 for the likeliest


@dataclass(frozen=True)
class NextWord:
    """The distribution over the next word piece, and the piece that the method chooses."""

    best: tuple[Candidate, ...]  # the likeliest first
    chosen: Candidate
    rank: int  # of `chosen`, 1 for the likeliest
    entropy: float  # nats, of the model's own distribution; 0 to ln V
    choices: int  # word pieces that can be drawn; 1 where the likeliest is taken
    covered: float  # the model's own probability of all of them together


def beginning(decoder: Pretrained, text: str) -> tuple[int, ...]:
    """[CLS] and the text's word pieces, without [SEP]: what the decoder goes on from. Raises UserError as `encode`."""
    return encode(decoder.tokenizer, text).input_ids[:-1]


def window(input_ids: Sequence[int]) -> list[int]:
    """The decoder's input for a longer text: [CLS] and the last pieces, WINDOW in all."""
    return [*input_ids] if len(input_ids) <= WINDOW else [input_ids[0], *input_ids[1 - WINDOW :]]


@torch.inference_mode()
def next_logits(decoder: Pretrained, input_ids: Sequence[int]) -> torch.Tensor:
    """<float32>[V]: a score for each word piece that may follow the last one."""
    states = causal_states(decoder, torch.tensor([window(input_ids)]))
    return decoder.word_logits(states[0, -1])


def choose(logits: torch.Tensor, method: Method, place: int) -> tuple[int, torch.Tensor]:
    """(the id that is chosen at `place`, the distribution <float32>[V] that it is drawn from).

    A draw at the same place with the same seed falls on the same number, however the text before it came about.
    """
    if method.greedy:
        first = int(logits.argmax())
        return first, torch.zeros_like(logits).index_fill(0, torch.tensor([first]), 1.0)
    final = reshape(logits, method.sampling).final
    number = np.random.default_rng([method.seed, place]).random()
    ends = final.double().cumsum(0)
    drawn = int(torch.searchsorted(ends, number * float(ends[-1]), right=True))
    return drawn, final


def next_word(decoder: Pretrained, input_ids: Sequence[int], method: Method, count: int) -> NextWord:
    """The next word piece after `input_ids`: the `count` likeliest ones and the chosen one."""
    logits = next_logits(decoder, input_ids)
    own, (chosen, final) = logits.double().softmax(-1), choose(logits, method, len(input_ids))
    allowed = final > 0

    def candidate(index: int) -> Candidate:
        return Candidate(guess_at(decoder.tokenizer, logits, own, index), float(final[index]))

    return NextWord(
        best=tuple(map(candidate, logits.topk(count).indices.tolist())),
        chosen=candidate(chosen),
        rank=1 + int((logits > logits[chosen]).sum()),
        entropy=float(torch.special.entr(own).sum()),
        choices=int(allowed.sum()),
        covered=float(own[allowed].sum()),
    )


def looked_up(decoder: Pretrained, input_ids: Sequence[int], word: str) -> list[LookedUp]:
    """The pieces of `word` after `input_ids`, one after another; the word's probability is the product of theirs.

    Raises UserError as `beginning`, and for more than MOST_LOOKED_UP pieces.
    """
    pieces = beginning(decoder, word)[1:]
    if len(pieces) > MOST_LOOKED_UP:
        raise UserError(f"“{word[:20]}…” has {len(pieces)} word pieces, and at most {MOST_LOOKED_UP} can be looked up.")
    steps = []
    for at, piece in enumerate(pieces):
        logits = next_logits(decoder, [*input_ids, *pieces[:at]])
        guess = guess_at(decoder.tokenizer, logits, logits.double().softmax(-1), piece)
        steps.append(LookedUp(guess, 1 + int((logits > logits[piece]).sum())))
    return steps


def write(decoder: Pretrained, input_ids: Sequence[int], method: Method, words: int) -> Iterator[Candidate]:
    """`words` word pieces, each chosen after all before it; fewer where MOST are written."""
    written = list(input_ids)
    for _ in range(words):
        chosen = next_word(decoder, written, method, 1).chosen
        written.append(chosen.guess.token_id)
        yield chosen
