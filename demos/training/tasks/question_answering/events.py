"""The events of a training on questions: spans found for a question, and the result; frozen, plain and picklable."""

import math
from dataclasses import dataclass, field

from demos.training.events import Outcome
from demos.training.tasks.question_answering.files import QuestionExample
from demos.training.tasks.question_answering.null_answers import NullScores
from demos.training.tasks.question_answering.scores import SpanScores


@dataclass(frozen=True)
class Span:
    """A stretch of the paragraph, from its first character to one past its last."""

    start: int
    end: int
    score: float  # the start token's start logit plus the end token's end logit
    probability: float  # the one's probability as a start times the other's as an end


@dataclass(frozen=True)
class Impossible:
    """The best span of a kind that is no answer, whatever its score."""

    reason: str  # see span_search.py
    first: str  # the token that it begins at
    last: str  # the token that it ends at
    score: float


@dataclass(frozen=True)
class Cutout:
    """Some tokens in a row around the best span, m of them, each with its probability to be the start, and the end."""

    places: tuple[tuple[int, int], ...]  # [m]: the characters of the paragraph that each token covers
    words: tuple[int, ...]  # [m]: the running number of each token's word, the question's words counted first
    starts: tuple[float, ...]  # [m]
    ends: tuple[float, ...]  # [m]
    tokens: int  # of the paragraph in this window, of which the cutout has m
    nowhere: tuple[float, float]  # [CLS]'s two probabilities: "the answer is not in this window"


@dataclass(frozen=True)
class SpanAnswer:
    """The spans that the model finds for one question."""

    best: tuple[Span, ...]  # the possible spans with the highest scores, the best first; none in an empty window
    impossible: tuple[Impossible, ...]  # one of each kind, where its window has one
    cutout: Cutout | None
    windows: int  # that the paragraph was read in
    unread: int = 0  # tokens at its end that are in no window
    null: float = math.inf  # [CLS]'s start logit plus its end logit, the least over the windows (Devlin et al. 4.3)

    @property
    def gap(self) -> float:
        """The null score less the best span's score: high where the paragraph seems to hold no answer."""
        return self.null - self.best[0].score if self.best else math.inf


@dataclass(frozen=True, kw_only=True)
class SpanMistake(QuestionExample):
    """A test question whose answer is not found exactly."""

    found: Span | None
    f1: float


@dataclass(frozen=True)
class ByWord:
    """The scores of the questions that have this question word."""

    word: str
    scores: SpanScores


@dataclass(frozen=True, kw_only=True)
class Picture(QuestionExample):
    """One test question with its answer's cutout: what the page draws."""

    answer: SpanAnswer


@dataclass(frozen=True)
class SpanResult(Outcome):
    """The trained model's results on test questions about unseen paragraphs; the place of its weights."""

    scores: SpanScores
    both_ends: float  # share of the questions whose first and last character are the first answer's
    by_word: tuple[ByWord, ...]  # the most frequent first
    baseline: str  # in words
    baseline_scores: SpanScores
    picture: Picture | None
    mistakes: tuple[SpanMistake, ...]  # the surest first
    wrong: int  # questions without an exact match, of which `mistakes` may be the first ones only
    windows: int  # that the test questions' paragraphs were read in, all together
    labels: tuple[str, ...] = ()  # a span has no class
    null: NullScores | None = None  # where some training questions have no answer
    answers: tuple[SpanAnswer, ...] = field(default=(), repr=False)  # of the test questions, in the data set's order

    @property
    def metrics(self) -> dict[str, float]:
        """The headline first."""
        values = {"exact match": self.scores.exact, "token F1": self.scores.f1}
        if self.null:
            values |= {"HasAns F1": self.null.chosen.answerable.f1, "NoAns F1": self.null.chosen.unanswerable.f1}
        return values
