"""Task: extractive question answering, a start and an end in a paragraph (Devlin et al. 2019, section 4.2)."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import torch

from demos.training.data.splits import Splits
from demos.training.settings import Settings
from demos.training.tasks.heads import HeadTask, head_fields
from demos.training.tasks.question_answering.data import QuestionDataset
from demos.training.tasks.question_answering.events import ByWord, Picture, SpanAnswer, SpanMistake, SpanResult
from demos.training.tasks.question_answering.files import QuestionExample
from demos.training.tasks.question_answering.null_answers import Graded
from demos.training.tasks.question_answering.scores import BASELINE, exact_match, guess, score_spans, token_f1
from demos.training.tasks.question_answering.span_search import search
from demos.training.tasks.question_answering.windows import read_examples
from demos.training.tasks.task import MAX_MISTAKES, NO_LABEL, Answers, Batch, Ended, Features


@dataclass(frozen=True)
class QuestionAnswering(HeadTask):
    """A start vector S and an end vector E, one linear layer: S · T_i and E · T_i for each token's last state T_i.

    Softmax is over the window's tokens of the paragraph and [CLS], which stands for "not in this window". The question,
    both [SEP] and the padding take no part; transformers' BertForQuestionAnswering lets them.
    """

    kind: ClassVar[str] = "question"
    data: ClassVar[type[Splits]] = QuestionDataset
    metric: ClassVar[str] = "exact match"
    batch_metric: ClassVar[str] = "both ends right"  # a batch has no texts to compare
    unanswerable: bool = False  # some training questions have no answer: then "no answer" may be one
    tau: float = 0.0  # it is one where the null score exceeds the best span's by more than this

    @classmethod
    def of(cls, dataset: QuestionDataset, settings: Settings) -> Self:
        """The task that these settings describe."""
        return cls(**head_fields(settings), unanswerable=dataset.has_unanswerable)

    def settled(self, examples: Sequence[QuestionExample], answers: Sequence[SpanAnswer]) -> Self:
        """With the threshold that is best on the validation questions, where "no answer" may be one."""
        if not self.unanswerable or not examples:
            return self
        return replace(self, tau=graded(answers, examples).best())

    def predicted_text(self, answer: SpanAnswer, example: QuestionExample) -> str:
        """The answer's text; "" where there is none."""
        return "" if self.unanswerable and answer.gap > self.tau else text_of(answer, example)

    @property
    def labels(self) -> tuple[str, ...]:
        """None: a span has no class."""
        return ()

    @property
    def outputs(self) -> int:
        """A start and an end logit, for every token."""
        return 2

    def as_text(self, example: QuestionExample, name: str) -> tuple[str, str]:
        """As SQuAD in T5's paper; without an answer, which is not in that paper, "no answer" is written."""
        written = example.answers[0] if example.answers else "no answer"
        return f"question: {example.question} context: {example.context}", written

    def features(self, tokenizer: Any, examples: Sequence[QuestionExample], max_length: int) -> list[Features]:
        """[CLS] question [SEP] window [SEP] with segments 0 and 1, a sequence a window; see `read_examples`."""
        return [
            Features(sequences, reading.example, bool(reading.unread or reading.lost), segments, extra=reading)
            for reading, sequences, segments in read_examples(tokenizer, examples, max_length)
        ]

    def targets(self, features: Sequence[Features], longest: int) -> torch.Tensor:
        """1 at the start and at the end, 0 where they could be, NO_LABEL at every other token: [windows, n, 2]."""
        rows = torch.full((sum(len(feature.sequences) for feature in features), longest, 2), NO_LABEL)
        at = 0
        for feature in features:
            reading = feature.extra
            for window, (first, past) in enumerate(reading.windows):
                rows[at, 0] = 0
                rows[at, reading.offset : reading.offset + past - first] = 0
                start, end = reading.target(window)
                rows[at, start, 0] = rows[at, end, 1] = 1
                at += 1
        return rows

    def loss(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The mean of the start's and the end's cross-entropy, mean over the windows."""
        takes_part = targets != NO_LABEL
        scores = logits.float().masked_fill(~takes_part, -torch.inf).log_softmax(dim=1)
        scores = scores.masked_fill(~takes_part, 0.0)  # not -inf, which 0 times is no number
        return -(scores * (targets == 1)).sum(dim=1).mean()  # of [windows, 2]

    def units(self, targets: torch.Tensor) -> float:
        """Windows."""
        return float(len(targets))

    def answers(self, logits: torch.Tensor, batch: Batch) -> list[SpanAnswer]:
        """The best spans of each example over all its windows."""
        rows, at, answers = logits.detach().float().cpu(), 0, []
        for feature in batch.features:
            answers.append(search(feature.extra, rows[at : at + len(feature.sequences)]))
            at += len(feature.sequences)
        return answers

    def batch_score(self, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """The share of windows with an answer whose likeliest start and likeliest end are both right; NaN without."""
        guesses = logits.float().masked_fill(targets == NO_LABEL, -torch.inf).argmax(dim=1)  # [windows, 2]
        right = (guesses == targets.argmax(dim=1)).all(dim=1)
        answered = targets[:, 0, 0] != 1
        return right[answered].float().mean()

    def baseline(self, dataset: QuestionDataset) -> tuple[str, float]:
        """The exact match, on the test's, of a guess by names, numbers and shared words."""
        return BASELINE, self._baseline_scores(dataset).exact

    def _baseline_scores(self, dataset: QuestionDataset) -> Any:
        return score_spans([guess(example) for example in dataset.test], [example.answers for example in dataset.test])

    def score(self, answers: Answers, targets: Sequence[QuestionExample]) -> float:
        """The exact match."""
        guesses = [self.predicted_text(answer, example) for answer, example in zip(answers, targets, strict=True)]
        return score_spans(guesses, [example.answers for example in targets]).exact

    def outcome(self, dataset: QuestionDataset, answers: Answers, ended: Ended) -> SpanResult:
        """With the scores by question word too, the mistakes, and one question to draw."""
        test = dataset.test
        guesses = [self.predicted_text(answer, example) for answer, example in zip(answers, test, strict=True)]
        by_word: defaultdict[str, list[int]] = defaultdict(list)
        for place, example in enumerate(test):
            by_word[example.word].append(place)
        wrong = [
            SpanMistake(
                **vars(example),
                found=answer.best[0] if answer.best and text else None,
                f1=token_f1(text, example.answers or ("",)),
            )
            for example, answer, text in zip(test, answers, guesses, strict=True)
            if not exact_match(text, example.answers or ("",))
        ]
        wrong.sort(key=lambda mistake: -mistake.found.probability if mistake.found else 0.0)
        return SpanResult(
            scores=score_spans(guesses, [example.answers for example in test]),
            both_ends=sum(map(_both_ends, answers, test)) / max(1, len(test)),
            by_word=tuple(
                ByWord(word, score_spans([guesses[at] for at in places], [test[at].answers for at in places]))
                for word, places in sorted(by_word.items(), key=lambda item: -len(item[1]))
            ),
            baseline=BASELINE,
            baseline_scores=self._baseline_scores(dataset),
            picture=_picture(test, answers, guesses),
            mistakes=tuple(wrong[:MAX_MISTAKES]),
            wrong=len(wrong),
            windows=sum(answer.windows for answer in answers),
            null=graded(answers, test).null_scores(self.tau) if self.unanswerable else None,
            **ended.run,
            answers=tuple(answers),
        )


TASK = QuestionAnswering


def text_of(answer: SpanAnswer, example: QuestionExample) -> str:
    """The best span's text; "" without one."""
    return example.context[answer.best[0].start : answer.best[0].end] if answer.best else ""


def graded(answers: Sequence[SpanAnswer], examples: Sequence[QuestionExample]) -> Graded:
    """The score of each best span, and of "no answer"."""
    spans = [text_of(answer, example) for answer, example in zip(answers, examples, strict=True)]
    return Graded.of([answer.gap for answer in answers], spans, [example.answers for example in examples])


def _both_ends(answer: SpanAnswer, example: QuestionExample) -> bool:
    predicted = [(span.start, span.end) for span in answer.best[:1]]
    return bool(example.answers) and predicted == [(example.start, example.end)]


def _picture(test: Sequence[QuestionExample], answers: Sequence[SpanAnswer], guesses: Sequence[str]) -> Picture | None:
    """The question to draw: of those answered right (of all, where none is) the one that is neither sure nor lucky."""
    answered = [at for at, answer in enumerate(answers) if answer.best and test[at].answers]
    right = [at for at in answered if exact_match(guesses[at], test[at].answers)]
    if not answered:
        return None
    at = min(right or answered, key=lambda place: abs(answers[place].best[0].probability - 0.5))
    return Picture(**vars(test[at]), answer=answers[at])
