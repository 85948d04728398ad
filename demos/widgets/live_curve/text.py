"""The sentences beside a training's curve: one for each kind of event."""

import math
from collections.abc import Callable
from typing import Any

from demos.figures.recipe import rate_text
from demos.templates import signed
from demos.training.events import (
    Caching,
    Epoch,
    Failed,
    Finished,
    PairLook,
    PairResult,
    Paused,
    Resumed,
    Scoring,
    Started,
    Step,
    Stopped,
    Waiting,
)
from demos.training.metrics import ACCURACY, CORRELATIONS
from demos.training.settings import Settings

LONGEST = 80  # characters of a baseline's name


def duration(seconds: float) -> str:
    """ "8 s", "1 min 20 s"."""
    whole = max(0, round(seconds))
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60} s"


def about_minutes(seconds: float) -> str:
    """ "less than a minute", "about 3 minutes"."""
    minutes = round(seconds / 60)
    return f"about {minutes} minutes" if minutes > 1 else "about a minute" if minutes else "less than a minute"


def waiting_text(place: int, seconds: float) -> str:
    """A place in a line, and how long until it is its turn, in a sentence."""
    before = f"{place} runs are" if place > 1 else "1 run is"
    return f"{before} ahead of yours. Yours should begin in {about_minutes(seconds)}."


def recipe_text(model: str, task: str, settings: Settings) -> str:
    """The model and the recipe, in some words that name no data."""
    epochs = f"{settings.epochs} epoch{'s' * (settings.epochs != 1)}"
    return f"{model}, {task}, {epochs}, learning rate {rate_text(settings.learning_rate)}"


NOTHING_ON = "The current run has no curve yet."  # it is another part's, or is only loaded


def _when(event: Epoch | PairLook) -> str:
    epochs = f"{event.epoch:.2g} epoch{'' if event.epoch == 1 else 's'}"
    return f"After {epochs}" if event.step else "Before training"


def pair_look_text(event: PairLook) -> str:
    """A look at the held-out pairs, in a sentence."""
    loss = f"{_when(event)}, on the held-out pairs: loss {event.validation_loss:.3f}"
    if math.isnan(event.spearman):
        return f"{loss}; all predictions are equal, so ρ is undefined."
    rho, low, high = (signed(value, ".2f") for value in (event.spearman, event.low, event.high))
    return f"{loss}, ρ {rho} ({low} to {high})."


def look_text(event: Epoch, metric: str) -> str:
    """A look at the validation examples, in a sentence."""
    score = score_text(metric, event.validation_score)
    return f"{_when(event)}: validation loss {event.validation_loss:.2f}, validation {metric} {score}."


def score_text(metric: str, value: float) -> str:
    return signed(value, ".2f") if metric in CORRELATIONS else f"{value:.0%}"


def _step_text(event: Step, examples: str) -> str:
    slower = ", slower than expected" if event.slower else ""
    return (
        f"Step {event.step:,} of {event.total_steps:,} · learning rate {rate_text(event.learning_rate)} · "
        f"{event.examples_per_second:,.0f} {examples}/s · about {duration(event.seconds_left)} left{slower}"
    )


def ended_text(event: Finished | Stopped, data: str, examples: str) -> str:
    """The number of steps and the speed of the run."""
    result = event.result
    begin = "Trained" if isinstance(event, Finished) else "Time limit reached" if event.reason == "time" else "Stopped"
    speed = f"{result.examples_per_second:,.0f} {examples}/s"
    steps = f"{result.steps:,} step{'' if result.steps == 1 else 's'}"
    return f"{begin} after {steps} and {duration(result.seconds)} on {data} ({speed})."


def result_text(result: Any) -> str:
    """The result of the test, in a sentence."""
    if isinstance(result, PairResult):
        return f"The loss on the held-out pairs went from {result.loss_before:.3f} to {result.loss:.3f}."
    metric, value = next(iter(result.metrics.items()))
    score = f"Test {metric} {score_text(metric, value)}"
    label = getattr(result, "majority_label", "")
    if not label:
        return f"{score}."
    if metric == ACCURACY:
        return f"{score}; always predicting “{label}” gives {result.majority_accuracy:.0%}."
    baseline = result.majority_metrics[metric], result.majority_accuracy
    beaten = f"always predicting “{label}” gives {score_text(metric, baseline[0])} and {baseline[1]:.0%}"
    return f"{score}, accuracy {result.accuracy:.0%}; {beaten}."


def dashed_lines_text(guessed: str, baseline: str, metric: str) -> str:
    """The meaning of the dashed lines, panel by panel, for the legend; "" if there are none."""
    lines = [(guessed, "loss")] * bool(guessed) + [(baseline, metric)] * bool(baseline)
    return "; ".join(f"{what} ({of})" for what, of in lines)


# (the event, what the run learns from) -> the line above the curve
STATUS: dict[type, Callable[[Any, str], str]] = {
    Waiting: lambda event, _: waiting_text(event.place, event.seconds),
    Started: lambda event, _: f"Loaded on {event.device}, {event.precision}; first evaluation before training…",
    Caching: lambda event, examples: (
        f"Computing the output of the frozen layers once for all {examples}: {event.done:,} of {event.total:,}"
    ),
    Step: _step_text,
    Paused: lambda event, _: (
        f"Paused after step {event.step:,}; training continues automatically in {duration(event.seconds)}."
    ),
    Resumed: lambda event, _: f"Training continues after step {event.step:,}.",
    Scoring: lambda event, examples: f"Scoring the {event.split} {examples}: {event.done:,} of {event.total:,}",
    Failed: lambda event, _: event.message,
}
