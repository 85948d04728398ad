"""A check whether a finished run has learned nothing: the signs, the likeliest reasons, and the changes to try."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from demos.training.data.splits import Splits
from demos.training.events import Outcome, Result, Started
from demos.training.settings import Settings
from demos.training.tasks.entities.events import TagResult
from demos.training.tasks.multiple_choice.task import ChoiceResult
from demos.training.tasks.one_of_several import likeliest
from demos.training.tasks.question_answering.events import SpanResult
from demos.training.tasks.similarity.task import SimilarityResult

ALIKE = 0.95  # a larger share of the test examples with one answer shows that nothing was learned
FREQUENT = 0.9  # unless that answer is right for a larger share than this
FEWEST_TESTED = 10  # fewer answers may be alike by chance
FEW_NAMES = 0.05  # of as many names as there are, fewer were found
SPREAD = 0.05  # of the scores' standard deviation, the answers' is less
FALL = 0.03  # a loss that falls by a smaller share is flat
FEW_STEPS = 50
UNBALANCED = 3  # times as many examples of the most frequent class as of the rarest
# Learning rates that are very low below the first number and very high from the second on, by what AdamW trains.
RATES = {"all": (1e-5, 1e-3), "top": (1e-5, 1e-3), "lora": (1e-4, 1e-2), "head": (1e-3, 1e-1)}
SGD_RATE = 1e-2  # SGD, whose steps are not scaled, moves the weights very little below it
SHARES = ("accuracy", "exact match")  # metrics that are shown in percent
CONTROLS = {  # the page's names of these settings
    "learning_rate": "Learning rate",
    "epochs": "Epochs",
    "class_weights": "Give rare classes more weight",
    "optimizer": "Optimizer",
}


@dataclass(frozen=True)
class LearnedNothing:
    """A run that has learned nothing."""

    evidence: str  # one sentence: what shows it
    reasons: tuple[str, ...]  # the likeliest ones, each a clause
    changes: tuple[tuple[str, str], ...]  # (what to do, the field of Settings): ("choose a lower", "learning_rate")

    @property
    def why(self) -> str:
        """The reasons as one sentence."""
        verb = " is" if len(self.reasons) == 1 else "s are"
        return f"The likeliest reason{verb} {_listed([f'that {reason}' for reason in self.reasons])}."

    @property
    def on_page(self) -> str:
        """The whole text, with the controls' names on the page."""
        changes = _listed([f"{change} “{CONTROLS[field]}”" for change, field in self.changes])
        return f"{self.evidence} {self.why} Under “All controls”, {changes}."

    @property
    def on_command(self) -> str:
        """Everything, with the settings as the command line takes them."""
        changes = _listed([f"{change} {field}" for change, field in self.changes])
        return f"{self.evidence} {self.why} With --set, {changes}."


def learned_nothing(
    dataset: Splits,
    settings: Settings,
    started: Started,
    result: Outcome,
    losses: Sequence[float | None],
    looks: Sequence[Sequence[float | None]],
) -> LearnedNothing | None:
    """The finding that a run has learned nothing; None for any other run.

    `losses` are the training losses, step by step, and `looks` rows of step, training loss, validation loss and score;
    None is NaN in both. Either the loss is no number, or the answers to the test examples are all alike although they
    should not be, or the training loss is flat and the validation score no better than the baseline's.
    """
    if not all(_finite(loss) for loss in (*losses, result.loss)):
        evidence = "The loss is not a finite number: the model has learned nothing."
        reasons, changes = ("the learning rate is too high",), (("choose a lower", "learning_rate"),)
        return LearnedNothing(evidence, reasons, changes)
    evidence, unbalanced = _alike(dataset, result)
    evidence = evidence or _flat(started, losses, looks)
    if not evidence:
        return None
    return LearnedNothing(evidence, *_reasons(settings, result.steps, "" if settings.class_weights else unbalanced))


def _alike(dataset: Any, result: Outcome) -> tuple[str, str]:
    """(what shows that the answers are all alike, how the classes are out of balance), each "" where it is not so."""
    if isinstance(result, Result):
        return _one_class(dataset, result)
    if isinstance(result, ChoiceResult):
        places = [likeliest(row) for row in result.answers]
        return _one_place(result.labels, places, [example.label for example in dataset.test]), ""
    if isinstance(result, TagResult):
        return _no_names(dataset, result)
    if isinstance(result, SimilarityResult):
        return _one_score(result), ""
    if isinstance(result, SpanResult):
        return _no_answers(result), ""
    return "", ""


def _one_class(dataset: Any, result: Result) -> tuple[str, str]:
    true, predicted = (np.asarray(result.confusion).sum(axis=axis) for axis in (1, 0))
    common, count = int(predicted.argmax()), int(true.sum())
    if not _too_alike(int(predicted[common]), true.tolist()):
        return "", ""
    label = result.labels[common]
    noun = "pairs" if dataset.kind == "pair" else "sentences"
    evidence = (
        f"The model gives {_share(int(predicted[common]), count, f'test {noun}')} the class “{label}”, although "
        f"{_part(int(true[common]), count)} of them have it: it has not learned to tell the classes apart."
    )
    trained = dataset.counts("train")
    if trained[common] < max(trained) or max(trained) < UNBALANCED * min(trained):
        return evidence, ""
    return evidence, f"{_share(trained[common], sum(trained), f'training {noun}')} have this class"


def _one_place(letters: Sequence[str], places: Sequence[int], true: Sequence[int]) -> str:
    counts = [places.count(place) for place in range(len(letters))]
    right = [true.count(place) for place in range(len(letters))]
    common = counts.index(max(counts))
    if not _too_alike(counts[common], right):
        return ""
    return (
        f"The model chooses ending {letters[common]} for {_share(counts[common], len(places), 'test items')}, "
        f"although it is correct for {_part(right[common], len(true))} of them: it has not learned to tell the endings "
        "apart."
    )


def _too_alike(common: int, true: Sequence[int]) -> bool:
    """Whether `common` answers that are the same are too many where the right ones occur so often each."""
    count = sum(true)
    return count >= FEWEST_TESTED and common > ALIKE * count and max(true) <= FREQUENT * count


def _no_names(dataset: Any, result: TagResult) -> tuple[str, str]:
    total = result.scores.total
    if total.true < FEWEST_TESTED or total.found >= FEW_NAMES * total.true:
        return "", ""
    names = f"only {total.found:,} name{'' if total.found == 1 else 's'}" if total.found else "no name"
    evidence = (
        f"The model finds {names} in the {result.sentences:,} test sentences, which contain {total.true:,}, and gives "
        f"{'almost every' if total.found else 'every'} word the label O: it has not learned to find names."
    )
    counts = dataset.label_counts("train")
    return evidence, f"{_share(counts[0], sum(counts), 'training words')} have the label O"


def _one_score(result: SimilarityResult) -> str:
    gold, predicted = [pair.gold for pair in result.answers], [pair.predicted for pair in result.answers]
    if len(gold) < FEWEST_TESTED or not np.std(predicted) < SPREAD * np.std(gold):
        return ""
    return (
        f"The model gives the test {result.noun}s nearly the same score, from {min(predicted):.2f} to "
        f"{max(predicted):.2f}, although their scores go from {min(gold):g} to {max(gold):g}: it has not learned to "
        f"tell {'similar pairs from others' if result.noun == 'pair' else 'high scores from low ones'}."
    )


def _no_answers(result: SpanResult) -> str:
    null = result.null
    if null:
        answered = sum(gap <= null.chosen.tau for gap in null.gaps)
        answerable = null.chosen.answerable.count
    else:
        answered, answerable = sum(bool(answer.best) for answer in result.answers), len(result.answers)
    if answered or answerable < FEWEST_TESTED:
        return ""
    return (
        f"The model answers none of the {result.scores.count:,} test questions, although {answerable:,} of them have "
        "an answer: it has not learned to find answers."
    )


def _flat(started: Started, losses: Sequence[float | None], looks: Sequence[Sequence[float | None]]) -> str:
    """The evidence that the loss does not fall and the score does not rise; "" where it is not so, or no step was done.

    A validation score counts as above the baseline's from one standard error on, taken as a share's largest one.
    """
    if not losses or not looks:
        return ""
    quarter = max(1, len(losses) // 4)
    first, last = (float(np.mean([loss or 0.0 for loss in part])) for part in (losses[:quarter], losses[-quarter:]))
    beaten = started.baseline_watched if _finite(started.baseline_watched) else 0.0
    score, margin = looks[-1][3], 0.5 / math.sqrt(max(1, started.validation))
    if last <= (1 - FALL) * first or (score is not None and score > beaten + margin):
        return ""
    shown = _value(score, started.metric) if score is not None and _finite(score) else "not defined"
    baseline = f"the baseline’s {_value(beaten, started.metric)} ({started.baseline})" if started.baseline else "0"
    return (
        f"The training loss did not fall ({first:.3g} in the first quarter of the steps, {last:.3g} in the last), and "
        f"the {started.metric} on the validation examples, {shown}, is not clearly above {baseline}: the model has "
        "learned nothing."
    )


def _reasons(settings: Settings, steps: int, unbalanced: str) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """(the likeliest reasons, what to change)."""
    reasons, changes = [], []
    rate = settings.learning_rate
    low, high = RATES[settings.trains]
    if settings.optimizer == "sgd" and rate < SGD_RATE:
        reasons.append(f"SGD with a learning rate of {_rate(rate)} changes the weights very little")
        changes.append(("choose AdamW as", "optimizer"))
    elif settings.optimizer == "adamw" and not low <= rate < high:
        reasons.append(f"the learning rate, {_rate(rate)}, is very {'low' if rate < low else 'high'}")
        changes.append((f"choose a {'higher' if rate < low else 'lower'}", "learning_rate"))
    if steps < FEW_STEPS:
        reasons.append(f"training had only {steps:,} step{'' if steps == 1 else 's'}")
        changes.append(("raise", "epochs"))
    if unbalanced:
        reasons.append(unbalanced)
        changes.append(("turn on", "class_weights"))
    if not reasons:
        reasons = [f"the learning rate, {_rate(rate)}, is too high or too low here", f"{steps:,} steps are too few"]
        changes = [("choose another", "learning_rate"), ("raise", "epochs")]
    return tuple(reasons), tuple(changes)


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _share(count: int, total: int, noun: str) -> str:
    """All of them, or a share of them in whole percent, rounded down, since 100% would be all."""
    return f"all {noun}" if count == total else f"{100 * count // total}% of the {noun}"


def _part(count: int, total: int) -> str:
    """The share that has something: "only 17%", "60%", "none"."""
    if not count:
        return "none"
    return f"{'only ' if 2 * count < total else ''}{round(100 * count / total) or 'under 1'}%"


def _value(value: float, metric: str) -> str:
    return f"{value:.1%}" if metric in SHARES else f"{value:.3f}"


def _rate(rate: float) -> str:
    """A learning rate, as papers write it: 1e-4, 5.2e-5."""
    mantissa, _, power = f"{rate:.1e}".partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(power)}"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
