"""Questions that their paragraph does not answer: the threshold, and the scores at each one (SQuAD 2.0)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from demos.training.tasks.question_answering.scores import SpanScores, exact_match, token_f1

MOST = 200  # thresholds on a curve


@dataclass(frozen=True)
class AtThreshold:
    """The scores if "no answer" is given wherever null score - best span's score > tau."""

    tau: float
    every: SpanScores
    answerable: SpanScores  # HasAns
    unanswerable: SpanScores  # NoAns


@dataclass(frozen=True)
class NullScores:
    """The test questions' gaps and what each threshold makes of them."""

    chosen: AtThreshold  # the threshold that is best on the validation questions
    curve: tuple[AtThreshold, ...]  # by ascending tau, from "no answer" to all questions to a span for each
    gaps: tuple[float, ...]  # null score - best span's score of each test question
    answerable: tuple[bool, ...]


@dataclass(frozen=True)
class Graded:
    """n questions: each one's gap, and what its best span and "no answer" are worth."""

    gaps: np.ndarray  # [n]: null score - best span's score
    spans: np.ndarray  # [n, 2]: exact match and F1 of the best span
    nothing: np.ndarray  # [n, 2]: the same of "no answer"
    answerable: np.ndarray  # [n]

    @classmethod
    def of(cls, gaps: Sequence[float], guesses: Sequence[str], answers: Sequence[Sequence[str]]) -> Self:
        """From the best spans' texts and each question's answers, none where the paragraph has none."""
        wanted = [texts or ("",) for texts in answers]

        def graded(predictions: Sequence[str]) -> np.ndarray:
            pairs = zip(predictions, wanted, strict=True)
            return np.array([(exact_match(*pair), token_f1(*pair)) for pair in pairs], dtype=float).reshape(-1, 2)

        return cls(np.array(gaps), graded(guesses), graded([""] * len(wanted)), np.array([*map(bool, answers)]))

    def at(self, tau: float) -> AtThreshold:
        """Exact match and F1 of all questions, of those with an answer and of those without (Rajpurkar et al. 2018).

        A span is given unless its gap is over `tau` (run_squad.py's null_score_diff_threshold; Devlin et al. 2019,
        section 4.3, write the same with the other sign).
        """
        worth = np.where((self.gaps > tau)[:, None], self.nothing, self.spans)

        def mean(subset: np.ndarray) -> SpanScores:
            exact, f1 = worth[subset].mean(axis=0) if subset.any() else (0.0, 0.0)
            return SpanScores(float(exact), float(f1), int(subset.sum()))

        return AtThreshold(tau, mean(self.answerable | True), mean(self.answerable), mean(~self.answerable))

    def thresholds(self) -> list[float]:
        """Every tau that makes a difference: below all finite gaps, and at each one; at most about MOST of them."""
        finite = sorted({float(gap) for gap in self.gaps if np.isfinite(gap)})
        taus = [finite[0] - 1.0, *finite] if finite else [0.0]
        return sorted({*taus[:: -(-len(taus) // MOST)], taus[-1]})

    def best(self) -> float:
        """The tau with the highest F1 over all questions, of equals the nearest to 0, halfway to the next gap."""
        taus = self.thresholds()
        # Rounded, for sums of equal numbers in another order may differ in their last digit.
        *_, at = max((round(self.at(tau).every.f1, 9), -abs(tau), at) for at, tau in enumerate(taus))
        return (taus[at] + taus[at + 1]) / 2 if at + 1 < len(taus) else taus[at]

    def null_scores(self, tau: float) -> NullScores:
        """The page's data on the test questions."""
        curve = tuple(map(self.at, self.thresholds()))
        return NullScores(self.at(tau), curve, tuple(self.gaps.tolist()), tuple(self.answerable.tolist()))
