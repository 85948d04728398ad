"""A training on sentences, or pairs of them, in words and tables: data, scores, mistakes, chances (HTML, escaped)."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from demos.figures.palette import CLASSES
from demos.figures.short_text import short_html
from demos.training.events import Mistake, Result
from demos.training.tasks.classification.data import Dataset, Example

SHOWN_CLASSES = 50
SHOWN_MISTAKES = 60


def class_colour(number: int) -> str:
    """The hue of a class; beyond the palette's eight they repeat, and the names must do."""
    return CLASSES[number % len(CLASSES)]


def both(one: Example | Mistake, length: int) -> str:
    """An example's words: its sentence, and under it the second one where there is one."""
    second = f'<br><span class="second">{short_html(one.pair, length)}</span>' if one.pair else ""
    return f"{short_html(one.text, length)}{second}"


def dataset_html(dataset: Dataset) -> str:
    """Class balance of the training examples as bars, with one training example a class, and what was done."""
    counts = dataset.counts("train")
    most = max(counts)
    first = {example.label: example for example in reversed(dataset.train)}
    rows = "".join(
        f'<tr style="--hue:{class_colour(number)}"><th scope="row" class="label" title="{html.escape(label)}">'
        f'<span class="swatch"></span>{short_html(label, 24)}</th><td class="count"><span class="amount" '
        f'style="width:{round(70 * counts[number] / most)}px"></span>{counts[number]:,}</td>'
        f'<td class="sentence">{both(first[number], 110)}</td></tr>'
        for number, label in enumerate(dataset.labels[:SHOWN_CLASSES])
    )
    noun = "pairs" if dataset.kind == "pair" else "sentences"
    sizes = (
        f"{len(dataset.train):,} {noun} to train on, {len(dataset.validation):,} to watch, "
        f"{len(dataset.test):,} to test at the end"
    )
    notes = "".join(f'<p class="aside">{html.escape(note)}</p>' for note in dataset.notes)
    return (
        f'<div class="classes-scroll"><table class="classes"><caption>{html.escape(dataset.name)}: {sizes}.</caption>'
        '<thead><tr><th scope="col">class</th><th scope="col">to train on</th><th scope="col">one of them</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>{notes}"
    )


def scores_html(result: Result, stopped: bool) -> str:
    """Accuracy, macro F1 and MCC beside the majority baseline, all on the test examples."""
    count = sum(map(sum, result.confusion))
    early = " It was stopped early, and is tested as it stood." if stopped else ""
    shown = "".join(
        f"<li><b>{f'{value:.1%}' if name == 'accuracy' else f'{value:.3f}'}</b>{html.escape(name)}</li>"
        for name, value in result.metrics.items()
    )
    return (
        f'<ul class="scores">{shown}'
        f'<li class="baseline"><b>{result.majority_accuracy:.1%}</b>accuracy of always answering '
        f"“{short_html(result.majority_label, 24)}” (macro F1 {_majority_f1(result):.3f})</li></ul>"
        f"<p>On {count:,} test examples that it never saw.{early}</p>"
    )


def _majority_f1(result: Result) -> float:
    """Macro F1 of always answering the majority class: its own F1, over the number of classes."""
    rows = [sum(row) for row in result.confusion]
    hits = rows[result.labels.index(result.majority_label)]
    return 2 * hits / (hits + sum(rows)) / len(rows) if sum(rows) else 0.0


def mistakes_html(result: Result) -> str:
    """The test examples it got wrong, the surest first, as a table."""
    if not result.mistakes:
        return "<p>It got every test example right.</p>"

    def named(one: Mistake, number: int) -> str:
        return f'<td class="label">{short_html(result.labels[number], 24)} ({one.probabilities[number]:.0%})</td>'

    rows = "".join(
        f'<tr><td class="sentence">{both(one, 300)}</td>{named(one, one.label)}{named(one, one.predicted)}</tr>'
        for one in result.mistakes[:SHOWN_MISTAKES]
    )
    more = len(result.mistakes) - SHOWN_MISTAKES
    shown = f"the surest {SHOWN_MISTAKES} of {len(result.mistakes)}" if more > 0 else f"{len(result.mistakes)} in all"
    return (
        f'<div class="mistakes" tabindex="0" role="region" aria-label="Mistakes"><table class="plain">'
        f"<caption>Test examples it gets wrong ({shown}), the surest first</caption><thead><tr>"
        '<th scope="col">sentence</th><th scope="col">true class</th><th scope="col">its answer</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def chances_html(chances: Mapping[str, float], labels: Sequence[str], sentence: str) -> str:
    """One sentence's probabilities as bars, the likeliest first; a class keeps its hue."""
    ordered = sorted(chances, key=lambda label: -chances[label])
    rows = "".join(
        f'<tr{" class=first" if number == 0 else ""}><th scope="row">{short_html(label, 24)}</th><td class="bar"><span '
        f'class="amount" style="--hue:{class_colour(labels.index(label))};width:{chances[label]:.1%}"></span></td>'
        f"<td>{chances[label]:.1%}</td></tr>"
        for number, label in enumerate(ordered[:10])
    )
    return (
        f'<table class="chances"><caption class="aside">“{short_html(sentence, 120)}” is most likely '
        f"<b>{short_html(ordered[0], 24)}</b>.</caption><tbody>{rows}</tbody></table>"
    )


def numbers_html(result: Result, looks: Sequence[Sequence[float | None]], per_epoch: int) -> str:
    """Every look at the validation examples, and each class's precision, recall and F1 on the test examples."""

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
            f"<tr><th scope='row'>{short_html(label, 60)}</th><td>{precision:.3f}</td><td>{recall:.3f}</td>"
            f"<td>{f1:.3f}</td><td>{truth}</td></tr>"
        )
    head = "".join(f"<th scope='col'>{name}</th>" for name in ("class", "precision", "recall", "F1", "test examples"))
    looked = ("step", "epoch", "training loss since the last look", "validation loss", "validation score")
    top = "".join(f"<th scope='col'>{name}</th>" for name in looked)
    return (
        f'<table class="plain"><caption>Looks at the validation examples</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{seen}</tbody></table>"
        f'<table class="plain"><caption>Test examples, by class</caption><thead><tr>{head}</tr></thead>'
        f"<tbody>{classes}</tbody></table>"
    )
