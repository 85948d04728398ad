"""What shows that a run has learned nothing, from both sides of each threshold; its reasons and what to change."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from demos.bert.embeddings.agreement import Correlation, Pair
from demos.training.events import Outcome, Result, Started
from demos.training.presets import PRESETS, recipe_for
from demos.training.results.learned_nothing import RATES, LearnedNothing, learned_nothing
from demos.training.settings import Settings
from demos.training.tasks.classification.data import Dataset, Example
from demos.training.tasks.entities.data import EntityDataset, TaggedSentence
from demos.training.tasks.entities.events import TagResult
from demos.training.tasks.entities.scores import EntityScore, EntityScores
from demos.training.tasks.multiple_choice.data import ChoiceDataset, ChoiceExample
from demos.training.tasks.multiple_choice.task import ChoiceResult
from demos.training.tasks.question_answering.data import QuestionDataset
from demos.training.tasks.question_answering.events import Span, SpanAnswer, SpanResult
from demos.training.tasks.question_answering.null_answers import Graded
from demos.training.tasks.question_answering.scores import SpanScores
from demos.training.tasks.similarity.data import SimilarityDataset
from demos.training.tasks.similarity.task import Scored, SimilarityResult

RUN: dict[str, Any] = {"loss": 1.7, "steps": 96, "seconds": 9.0, "examples_per_second": 50.0, "folder": ""}
FALLING = [1.8, 1.7, 1.2, 1.0, 0.8, 0.7, 0.6, 0.5]
LEVEL = [1.8] * 8
LOOKED = ((0, None, 1.8, 0.2), (96, 0.5, 0.7, 0.9))
LABELS = ("anger", "joy", "love")


def began(
    score: str = "accuracy", baseline: str = "always “anger”", beaten: float = 0.2, watched: int = 100
) -> Started:
    return Started(
        LABELS, 60, watched, 100, 0, 96, 4, 1_000, 900, score, baseline, beaten, beaten, "CPU", "float32", threads=1
    )  # fmt: skip


def classes(trained: Sequence[int] = (20, 20, 20), pair: str = "") -> Dataset:
    examples = tuple(Example("a", label, pair) for label, count in enumerate(trained) for _ in range(count))
    return Dataset("d", examples, (), (), labels=LABELS)


def classified(confusion: Sequence[Sequence[int]], **run: Any) -> Result:
    return Result(
        **RUN | run, labels=LABELS, accuracy=0.3, macro_f1=0.2, majority_label="anger", majority_accuracy=0.3,
        confusion=tuple(map(tuple, confusion)), mistakes=(),
    )  # fmt: skip


def verdict(
    result: Outcome,
    dataset: Any = None,
    settings: Settings | None = None,
    started: Started | None = None,
    losses: Sequence[float | None] = FALLING,
    looks: Sequence[Sequence[float | None]] = LOOKED,
) -> LearnedNothing | None:
    return learned_nothing(dataset or classes(), settings or Settings(), started or began(), result, losses, looks)


LOVE = [[0, 0, 30], [0, 0, 30], [0, 0, 40]]
APART = [[28, 1, 1], [2, 25, 3], [0, 5, 35]]


def test_one_class_for_all() -> None:
    nothing = verdict(classified(LOVE), settings=Settings(learning_rate=1e-2))
    assert nothing.on_page == (
        "The model gives all test sentences the class “love”, although only 40% of them have it: it has not learned to "
        "tell the classes apart. The likeliest reason is that the learning rate, 1e-2, is very high. Under “All "
        "controls”, choose a lower “Learning rate”."
    )
    assert nothing.on_command.endswith("very high. With --set, choose a lower learning_rate.")
    assert nothing.evidence.endswith("apart.")
    assert verdict(classified(APART)) is None
    nothing = verdict(classified(LOVE), classes(pair="b"))
    assert "gives all test pairs the class" in (nothing.evidence if nothing else "")


@pytest.mark.parametrize(
    ("confusion", "share"),
    [
        ([[1, 0, 29], [1, 1, 28], [1, 0, 39]], "96% of the test sentences"),
        ([[1, 0, 29], [2, 1, 27], [1, 0, 39]], ""),  # 95%
        ([[0, 0, 10], [0, 0, 0], [0, 0, 90]], "all test sentences the class “love”, although 90% of them have it"),
        ([[0, 0, 9], [0, 0, 0], [0, 0, 91]], ""),  # nearly all have it
        ([[0, 0, 3], [0, 0, 3], [0, 0, 4]], "all test sentences"),
        ([[0, 0, 3], [0, 0, 3], [0, 0, 3]], ""),  # too few to say
        ([[0, 0, 50], [0, 0, 50], [0, 0, 0]], "although none of them have it"),
        ([[0, 0, 500], [0, 0, 500], [0, 0, 4]], "although only under 1% of them have it"),
        ([[0, 0, 0], [0, 0, 0], [0, 0, 0]], ""),
    ],
)
def test_how_much_is_too_much_alike(confusion: list[list[int]], share: str) -> None:
    nothing = verdict(classified(confusion))
    assert (nothing is not None) is bool(share)
    assert share in (nothing.evidence if nothing else "")


@pytest.mark.parametrize(
    ("settings", "steps", "trained", "why"),
    [
        (Settings(learning_rate=1e-3), 96, (9, 9, 9), "the learning rate, 1e-3, is very high|choose a lower “L"),
        (Settings(learning_rate=9e-4), 96, (9, 9, 9), "rate, 9e-4, is too high or too low here and that 96 "),
        (Settings(learning_rate=1e-5), 96, (9, 9, 9), "the learning rate, 1e-5, is too high or too low here"),
        (Settings(learning_rate=9e-6), 96, (9, 9, 9), "the learning rate, 9e-6, is very low|choose a higher “L"),
        (Settings(learning_rate=1e-2, trains="head"), 96, (9, 9, 9), "1e-2, is too high or too low here"),
        (Settings(learning_rate=5e-4, trains="head"), 96, (9, 9, 9), "5e-4, is very low"),
        (Settings(learning_rate=5e-3, trains="lora"), 96, (9, 9, 9), "too high or too low"),
        (Settings(learning_rate=1e-2, trains="lora"), 96, (9, 9, 9), "very high"),
        (Settings(optimizer="sgd"), 96, (9, 9, 9), "SGD with a learning rate of 1e-4 changes|choose AdamW as “O"),
        (Settings(optimizer="sgd", learning_rate=1e-2), 96, (9, 9, 9), "1e-2, is too high or too low here"),
        (Settings(), 50, (9, 9, 9), "50 steps are too few|choose another “Learning rate” and raise “Epochs”"),
        (Settings(), 49, (9, 9, 9), "training had only 49 steps|raise “Epochs”"),
        (Settings(), 1, (9, 9, 9), "training had only 1 step."),
        (Settings(), 96, (5, 5, 15), "60% of the training sentences have this class|turn on “Give rare classes more w"),
        (Settings(), 96, (5, 5, 14), "too high or too low"),
        (Settings(), 96, (15, 5, 5), "too high or too low"),  # not the class that is given
        (Settings(class_weights=True), 96, (5, 5, 15), "too high or too low"),
        (Settings(learning_rate=0.1), 9, (1, 1, 8),
         "is very high, that training had only 9 steps and that 80% of the training sentences have this class."
         "|choose a lower “Learning rate”, raise “Epochs” and turn on “Give rare classes more w"),
    ],
)  # fmt: skip
def test_the_likeliest_reasons(settings: Settings, steps: int, trained: tuple[int, ...], why: str) -> None:
    nothing = verdict(classified(LOVE, steps=steps), classes(trained), settings)
    assert nothing is not None
    for words in why.split("|"):
        assert words in nothing.on_page


def test_a_loss_that_is_no_number() -> None:
    for losses, loss in (([1.0, None], 1.0), ([math.inf], 1.0), ([1.0], math.nan)):
        nothing = verdict(classified(APART, loss=loss), losses=losses)
        assert nothing.on_page == (
            "The loss is not a finite number: the model has learned nothing. The likeliest reason is that the learning "
            "rate is too high. Under “All controls”, choose a lower “Learning rate”."
        )


@pytest.mark.parametrize(
    ("losses", "score", "flat"),
    [
        (LEVEL, 0.2, True),
        (LEVEL, 0.25, True),  # a standard error of 0.05 above the baseline
        (LEVEL, 0.26, False),
        (LEVEL, None, True),
        ([*LEVEL[:6], 1.75, 1.75], 0.2, True),  # falls by under 3%
        ([*LEVEL[:6], 1.74, 1.74], 0.2, False),
        (FALLING, 0.2, False),
        ([1.0, 2.0], 0.2, True),
        ([1.0], 0.2, True),
        ([], 0.2, False),
    ],
)
def test_a_loss_that_is_flat(losses: list[float], score: float | None, flat: bool) -> None:
    nothing = verdict(classified(APART), losses=losses, looks=((96, 1.8, 1.8, score),))
    assert (nothing is not None) is flat
    assert verdict(classified(APART), losses=losses, looks=()) is None


def test_a_flat_loss_in_words() -> None:
    nothing = verdict(classified(APART), losses=LEVEL, looks=((96, 1.8, 1.8, 0.21),))
    assert nothing.evidence == (
        "The training loss did not fall (1.8 in the first quarter of the steps, 1.8 in the last), and the accuracy on "
        "the validation examples, 21.0%, is not clearly above the baseline’s 20.0% (always “anger”): the model has "
        "learned nothing."
    )
    rho = began("Spearman's ρ", "", math.nan)
    nothing = verdict(classified(APART), started=rho, losses=LEVEL, looks=((96, 1.8, 1.8, math.nan),))
    assert nothing is not None
    assert "the Spearman's ρ on the validation examples, not defined, is not clearly above 0" in nothing.evidence


@dataclass(frozen=True)
class Other(Outcome):
    """The result of a task that has no rule of its own."""


def test_a_task_without_a_rule_is_judged_by_its_loss() -> None:
    assert verdict(Other(**RUN)) is None
    assert verdict(Other(**RUN), losses=LEVEL, looks=((9, 1.8, 1.8, 0.1),)) is not None


def chosen(places: Sequence[int], true: Sequence[int]) -> LearnedNothing | None:
    answers = tuple(tuple(float(place == other) for other in range(2)) for place in places)
    items = tuple(ChoiceExample("a", "b", ("c", "d"), label) for label in true)
    result = ChoiceResult(
        **RUN, labels=("A", "B"), accuracy=0.5, majority_label="A", majority_accuracy=0.5, margins=(), mistakes=(),
        answers=answers,
    )  # fmt: skip
    return verdict(result, ChoiceDataset("d", items, (), items))


def test_always_the_same_ending() -> None:
    nothing = chosen([1] * 40, [0] * 22 + [1] * 18)
    assert nothing.evidence == (
        "The model chooses ending B for all test items, although it is correct for only 45% of them: it has not "
        "learned to tell the endings apart."
    )
    assert chosen([1] * 39 + [0], [0, 1] * 20) is not None
    assert chosen([1] * 38 + [0] * 2, [0, 1] * 20) is None
    assert chosen([1] * 40, [1] * 40) is None


def tagged(true: int, found: int, settings: Settings | None = None) -> LearnedNothing | None:
    total = EntityScore.of("", true, found, 0)
    result = TagResult(
        **RUN, labels=("O", "B-PER"), scores=EntityScores(total, ()), strict=total, word_accuracy=0.9, outside=0.9,
        ways=(), sentences=80, cut=0, baseline="b", baseline_scores=EntityScores(total, ()), mistakes=(), wrong=80,
    )  # fmt: skip
    examples = (TaggedSentence(("Ann", "is", "not", "in"), (1, 0, 0, 0)),)
    return verdict(result, EntityDataset("d", examples, (), (), labels=("O", "B-PER")), settings)


def test_no_names() -> None:
    nothing = tagged(100, 0)
    assert nothing.evidence == (
        "The model finds no name in the 80 test sentences, which contain 100, and gives every word the label O: it has "
        "not learned to find names."
    )
    assert "75% of the training words have the label O" in nothing.why
    assert "turn on “Give rare classes more weight”" in nothing.on_page
    few = tagged(100, 4, Settings(class_weights=True))
    assert few is not None
    assert "finds only 4 names" in few.evidence
    assert "almost every word" in few.evidence
    assert "rare" not in few.on_page
    assert tagged(100, 5) is None
    assert tagged(9, 0) is None


def rated(predicted: Sequence[float], gold: Sequence[float], second: str = "b") -> LearnedNothing | None:
    same = Correlation(0.1, 0.0, 0.2, 0.1)
    scored = tuple(Scored("a", second, *two) for two in zip(gold, predicted, strict=True))
    result = SimilarityResult(
        **RUN, agreement=same, loss_before=2.0, mean_loss=2.0, trained_range=(0.0, 2.5, 5.0), mistakes=(),
        answers=scored,
    )  # fmt: skip
    pairs = (Pair("a", "b", 1.0),)
    return verdict(result, SimilarityDataset("d", pairs, (), pairs))


def test_one_score_for_all_pairs() -> None:
    gold = [0.0, 5.0] * 10  # with the standard deviation 2.5
    nothing = rated([2.5, 2.74] * 10, gold)
    assert nothing.evidence == (
        "The model gives the test pairs nearly the same score, from 2.50 to 2.74, although their scores go from 0 to "
        "5: it has not learned to tell similar pairs from others."
    )
    nothing = rated([2.5, 2.74] * 10, gold, "")
    assert nothing is not None
    assert "gives the test texts nearly the same score" in nothing.evidence
    assert "tell high scores from low ones" in nothing.evidence
    assert rated([2.5, 2.76] * 10, gold) is None
    assert rated([2.5] * 20, [3.0] * 20) is None
    assert rated([2.5] * 8, [0.0, 5.0] * 4) is None


def answered(gaps: Sequence[float], answerable: int, unanswerable: bool = True) -> LearnedNothing | None:
    """A threshold of 0: a gap above it is no answer."""
    answers = [("yes",)] * answerable + [()] * (len(gaps) - answerable)
    null = Graded.of(gaps, ["no"] * len(gaps), answers).null_scores(0.0)
    spans = tuple(SpanAnswer((Span(0, 2, 1.0, 0.5),) if gap <= 0 else (), (), None, 1, null=gap) for gap in gaps)
    scores = SpanScores(0.0, 0.0, len(gaps))
    result = SpanResult(
        **RUN, scores=scores, both_ends=0.0, by_word=(), baseline="b", baseline_scores=scores, picture=None,
        mistakes=(), wrong=0, windows=1, null=null if unanswerable else None, answers=spans,
    )  # fmt: skip
    return verdict(result, QuestionDataset("d", (), (), ()))


@pytest.mark.parametrize("unanswerable", [True, False])
def test_no_answers(unanswerable: bool) -> None:
    nothing = answered([1.0] * 20, 12 if unanswerable else 20, unanswerable)
    assert nothing is not None
    count = 12 if unanswerable else 20
    assert nothing.evidence == (
        f"The model answers none of the 20 test questions, although {count} of them have an answer: it has not learned "
        "to find answers."
    )
    assert answered([*[1.0] * 19, -1.0], 20, unanswerable) is None
    assert answered([1.0] * 9, 9, unanswerable) is None


def test_no_recipe_of_the_page_has_a_rate_that_is_called_very_low_or_high() -> None:
    for preset in PRESETS:
        for kind in ("sentence", "entities", "question", "similarity"):
            settings = recipe_for(preset, kind)
            low, high = RATES[settings.trains]
            assert low <= settings.learning_rate < high
