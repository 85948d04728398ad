"""Beam search: of all continuations, the few best are kept at each step.

A beam of one without a length penalty is greedy decoding.

A text's log-probability is the sum of its tokens'. It falls with each token, so a score divides it by a power of the
length: length ** penalty, as in transformers' `generate` (Wu et al. 2016 use ((5 + length) / 6) ** penalty).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch import Tensor

KEPT, ENDED, DROPPED = "kept", "ended", "dropped"  # fates of a candidate


@dataclass(frozen=True)
class Hypothesis:
    """Tokens written so far, `end` included where they have come to it."""

    tokens: tuple[int, ...] = ()
    log_probability: float = 0.0
    score: float = 0.0
    ended: bool = False


@dataclass(frozen=True)
class Candidate:
    """A continuation by one token: a node of the tree."""

    hypothesis: Hypothesis
    parent: int  # the place of what it continues among the hypotheses that the step began with
    log_probability: float  # of its last token
    fate: str


@dataclass(frozen=True)
class Search:
    """A search from its beginning to its end."""

    steps: tuple[tuple[Candidate, ...], ...]  # of each step the best candidates, the best first
    finished: tuple[Hypothesis, ...]  # at most `width`, the best score first


def beam_search(
    next_log_probabilities: Callable[[Sequence[tuple[int, ...]]], Tensor],
    width: int,
    penalty: float,
    end: int,
    longest: int,
) -> Search:
    """The best texts that a beam of `width` finds, with all its steps.

    `next_log_probabilities` takes b prefixes of equal length and returns the next tokens' log-probabilities [b, V].
    Of each step's candidates, those that end are finished if they are among the best `width`; the best `width` of the
    others go on. The search is over when nothing that goes on can still beat the best finished one, or at `longest`
    tokens; unfinished texts then compete too. `penalty` is 0 or more.
    """
    if width < 1 or longest < 1 or not penalty >= 0:
        raise ValueError("width and longest are at least 1, penalty at least 0")
    live: list[Hypothesis] = [Hypothesis()]
    finished: list[Hypothesis] = []
    steps: list[tuple[Candidate, ...]] = []
    for length in range(1, longest + 1):
        candidates = _candidates(
            live, next_log_probabilities([hypothesis.tokens for hypothesis in live]), width, penalty, end
        )
        steps.append(candidates)
        finished += [candidate.hypothesis for candidate in candidates if candidate.fate == ENDED]
        live = [candidate.hypothesis for candidate in candidates if candidate.fate == KEPT]
        if length == longest:
            finished += live
        finished = sorted(finished, key=lambda hypothesis: -hypothesis.score)[:width]
        attainable = max((hypothesis.log_probability / longest**penalty for hypothesis in live), default=float("-inf"))
        if finished and attainable <= finished[0].score:
            break
    return Search(tuple(steps), tuple(finished))


def _candidates(
    live: Sequence[Hypothesis], log_probabilities: Tensor, width: int, penalty: float, end: int
) -> tuple[Candidate, ...]:
    """The best continuations of all: at most `width` that go on, those that end among the best, and what is between."""
    vocabulary = log_probabilities.shape[-1]
    totals = log_probabilities + log_probabilities.new_tensor([[hypothesis.log_probability] for hypothesis in live])
    many = min(totals.numel(), 2 * width)  # at most `width` of them end: one for each prefix
    values, places = totals.flatten().topk(many)
    candidates: list[Candidate] = []
    going = 0
    for rank, (value, place) in enumerate(zip(values.tolist(), places.tolist(), strict=True)):
        if value == float("-inf"):
            break
        parent, token = divmod(place, vocabulary)
        tokens = (*live[parent].tokens, token)
        grown = Hypothesis(tokens, value, value / len(tokens) ** penalty, token == end)
        of_token = log_probabilities[parent, token].item()
        fate = DROPPED
        if token == end and rank < width:
            fate = ENDED
        elif token != end and going < width:
            fate, going = KEPT, going + 1
        candidates.append(Candidate(grown, parent, of_token, fate))
    return tuple(candidates)
