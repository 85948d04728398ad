"""The Fine-tune lesson in words and tables: data, recipe, scores, mistakes, chances (HTML, escaped)."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from demos.bert.catalogue import ModelSpec
from demos.figures.palette import CLASSES
from demos.training.cost import Cost
from demos.training.data import Dataset
from demos.training.events import Mistake, Result
from demos.training.heads import head_parameters
from demos.training.settings import Settings

SHOWN_CLASSES = 50
SHOWN_MISTAKES = 60
VECTOR = {
    "mean": "The average of all tokens' vectors stands for the sentence.",
    "cls": "The first token's vector stands for the sentence; training teaches it to.",
    "max": "Each number is the largest that any token has there.",
}


def class_colour(number: int) -> str:
    """The hue of a class; beyond the palette's eight they repeat, and the names must do."""
    return CLASSES[number % len(CLASSES)]


def _cut(text: str, length: int) -> str:
    line = " ".join(text.split())
    return html.escape(line if len(line) <= length else line[: length - 1] + "…")


def dataset_html(dataset: Dataset) -> str:
    """Class balance of the training sentences as bars, with one training sentence a class, and what was done."""
    counts = dataset.counts("train")
    most = max(counts)
    first = {example.label: example.text for example in reversed(dataset.train)}
    rows = "".join(
        f'<tr style="--hue:{class_colour(number)}"><th scope="row" class="label" title="{html.escape(label)}">'
        f'<span class="swatch"></span>{_cut(label, 24)}</th><td class="count"><span class="amount" '
        f'style="width:{round(70 * counts[number] / most)}px"></span>{counts[number]:,}</td>'
        f'<td class="sentence">{_cut(first[number], 110)}</td></tr>'
        for number, label in enumerate(dataset.labels[:SHOWN_CLASSES])
    )
    sizes = (
        f"{len(dataset.train):,} sentences to train on, {len(dataset.validation):,} to watch, "
        f"{len(dataset.test):,} to test at the end"
    )
    notes = "".join(f'<p class="aside">{html.escape(note)}</p>' for note in dataset.notes)
    return (
        f'<div class="classes-scroll"><table class="classes"><caption>{html.escape(dataset.name)}: {sizes}.</caption>'
        '<thead><tr><th scope="col">class</th><th scope="col">to train on</th><th scope="col">one of them</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>{notes}"
    )


def step_html(number: int, title: str) -> str:
    """A step of the recipe, as the lecture numbers them."""
    return f'<h3><span class="number">{number}</span> {html.escape(title)}</h3>'


def model_html(spec: ModelSpec) -> str:
    """The base model, in three lines."""
    return (
        f"<p><b>{html.escape(spec.title)}</b>, chosen in the bar above.</p><p>{html.escape(spec.summary)}</p>"
        '<p class="aside">The run trains a copy of its own: the other lessons keep the model as it was.</p>'
    )


def vector_html(pooling: str, width: int) -> str:
    """What the pooling makes of a sentence, with its shape."""
    return f"<p>n tokens × {width:,} → <b>{width:,} numbers</b> a sentence</p><p>{html.escape(VECTOR[pooling])}</p>"


def head_html(width: int, settings: Settings, classes: int) -> str:
    """The layers on top as a chain of widths, and what they hold."""
    between = "".join(f" → {hidden:,}, {settings.activation}" for hidden in settings.hidden)
    return (
        f"<p>{width:,}{between} → <b>{classes} classes</b>, softmax</p>"
        f"<p>{head_parameters(width, settings.hidden, classes):,} fresh numbers, random at first.</p>"
    )


def cost_html(cost: Cost, data: str, speed: float, told: str) -> str:
    """What pressing Start will do: counted; the seconds only where a run on this machine has been timed."""
    seconds = (
        f"about {told}, at the {speed:.0f} sentences/s of the last run here"
        if speed
        else "the time left is told once the first steps are timed"
    )
    share = cost.trainable_parameters / cost.parameters
    return (
        f"<p><b>{cost.steps:,} steps</b>: {cost.epochs} × {cost.sentences:,} sentences of {_cut(data, 40)}; the "
        f"optimizer holds <b>{cost.trainable_parameters:,}</b> of {cost.parameters:,} parameters ({share:.0%}: of the "
        f"word embeddings only the {cost.rows:,} that occur); {seconds}.</p>"
    )


def scores_html(result: Result, stopped: bool) -> str:
    """Accuracy and macro F1 beside the majority baseline, all on the test sentences."""
    count = sum(map(sum, result.confusion))
    majority_f1 = _majority_f1(result)
    early = " It was stopped early, and is tested as it stood." if stopped else ""
    return (
        '<ul class="scores">'
        f"<li><b>{result.accuracy:.1%}</b>accuracy</li>"
        f"<li><b>{result.macro_f1:.3f}</b>macro F1</li>"
        f'<li class="baseline"><b>{result.majority_accuracy:.1%}</b>accuracy of always answering '
        f"“{_cut(result.majority_label, 24)}” (macro F1 {majority_f1:.3f})</li></ul>"
        f"<p>On {count:,} test sentences that it never saw.{early}</p>"
    )


def _majority_f1(result: Result) -> float:
    """Macro F1 of always answering the majority class: its own F1, over the number of classes."""
    rows = [sum(row) for row in result.confusion]
    hits = rows[result.labels.index(result.majority_label)]
    return 2 * hits / (hits + sum(rows)) / len(rows) if sum(rows) else 0.0


def mistakes_html(result: Result) -> str:
    """The test sentences it got wrong, the surest first, as a table."""
    if not result.mistakes:
        return "<p>It got every test sentence right.</p>"

    def named(one: Mistake, number: int) -> str:
        return f'<td class="label">{_cut(result.labels[number], 24)} ({one.probabilities[number]:.0%})</td>'

    rows = "".join(
        f'<tr><td class="sentence">{_cut(one.text, 300)}</td>{named(one, one.label)}{named(one, one.predicted)}</tr>'
        for one in result.mistakes[:SHOWN_MISTAKES]
    )
    more = len(result.mistakes) - SHOWN_MISTAKES
    shown = f"the surest {SHOWN_MISTAKES} of {len(result.mistakes)}" if more > 0 else f"{len(result.mistakes)} in all"
    return (
        f'<div class="mistakes" tabindex="0" role="region" aria-label="Mistakes"><table class="plain">'
        f"<caption>Test sentences it gets wrong ({shown}), the surest first</caption><thead><tr>"
        '<th scope="col">sentence</th><th scope="col">true class</th><th scope="col">its answer</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def chances_html(chances: Mapping[str, float], labels: Sequence[str], sentence: str) -> str:
    """One sentence's probabilities as bars, the likeliest first; a class keeps its hue."""
    ordered = sorted(chances, key=lambda label: -chances[label])
    rows = "".join(
        f'<tr{" class=first" if number == 0 else ""}><th scope="row">{_cut(label, 24)}</th><td class="bar"><span '
        f'class="amount" style="--hue:{class_colour(labels.index(label))};width:{chances[label]:.1%}"></span></td>'
        f"<td>{chances[label]:.1%}</td></tr>"
        for number, label in enumerate(ordered[:10])
    )
    return (
        f'<table class="chances"><caption class="aside">“{_cut(sentence, 120)}” is most likely '
        f"<b>{_cut(ordered[0], 24)}</b>.</caption><tbody>{rows}</tbody></table>"
    )


def numbers_html(result: Result, looks: Sequence[Sequence[float | None]], per_epoch: int) -> str:
    """Every look at the validation sentences, and each class's precision, recall and F1 on the test sentences."""

    def number(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}"

    seen = "".join(
        f"<tr><th scope='row'>{look[0]:.0f}</th><td>{(look[0] or 0) / max(1, per_epoch):.2f}</td>"
        f"<td>{number(look[1])}</td><td>{number(look[2])}</td><td>{number(look[3])}</td></tr>"
        for look in looks
    )
    columns = [sum(row[k] for row in result.confusion) for k in range(len(result.labels))]
    classes = ""
    for k, label in enumerate(result.labels):
        hits, truth, guessed = result.confusion[k][k], sum(result.confusion[k]), columns[k]
        precision, recall = hits / guessed if guessed else 0.0, hits / truth if truth else 0.0
        f1 = 2 * hits / (truth + guessed) if truth + guessed else 0.0
        classes += (
            f"<tr><th scope='row'>{_cut(label, 60)}</th><td>{precision:.3f}</td><td>{recall:.3f}</td>"
            f"<td>{f1:.3f}</td><td>{truth}</td></tr>"
        )
    head = "".join(f"<th scope='col'>{name}</th>" for name in ("class", "precision", "recall", "F1", "test sentences"))
    looked = ("step", "epoch", "training loss since the last look", "validation loss", "validation accuracy")
    top = "".join(f"<th scope='col'>{name}</th>" for name in looked)
    return (
        f'<table class="plain"><caption>Looks at the validation sentences</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{seen}</tbody></table>"
        f'<table class="plain"><caption>Test sentences, by class</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{classes}</tbody></table>"
    )
