"""A training on sentences, or pairs of them, in words and tables: data, scores, mistakes, chances (HTML)."""

from collections.abc import Mapping, Sequence
from typing import Any

from demos.figures.palette import CLASSES
from demos.figures.short_text import short
from demos.templates import templates
from demos.training.events import Result
from demos.training.metrics import ACCURACY, MACRO_F1, score_confusion
from demos.training.tasks.classification.data import Dataset

TEXT = templates(__file__, "text_scores.html")
SHOWN_CLASSES = 50
SHOWN_MISTAKES = 60
SHOWN_CHANCES = 10
LABEL_LENGTH = 24


def class_colour(number: int) -> str:
    """The hue of a class; beyond the palette's eight they repeat, and the names must do."""
    return CLASSES[number % len(CLASSES)]


def one_line(example: Any) -> str:
    """A sentence, or both of a pair, with a stroke between them."""
    return " / ".join(filter(None, (example.text, example.pair)))


def class_row(label: str, hue: str, count: int, most: int, texts: Sequence[str]) -> dict[str, object]:
    """A class's bar among those of the largest class's `most` examples, with some of its texts."""
    return {
        "label": label,
        "short": short(label, LABEL_LENGTH),
        "hue": hue,
        "count": count,
        "width": round(70 * count / max(1, most)),
        "texts": [short(text, 110) for text in texts],
    }


def dataset_html(dataset: Dataset) -> str:
    """Class balance of the training examples as bars, with one training example a class, and what was done."""
    counts = dataset.counts("train")
    first = {example.label: example for example in reversed(dataset.train)}
    rows = [
        class_row(label, class_colour(number), counts[number], max(counts), (first[number].text, first[number].pair))
        for number, label in enumerate(dataset.labels[:SHOWN_CLASSES])
    ]
    return TEXT.dataset(data=dataset, rows=rows, noun="pairs" if dataset.kind == "pair" else "sentences")


def scores_html(result: Result, stopped: bool) -> str:
    """The data set's metric first, then accuracy, F1 and MCC; with the majority baseline, all on the test examples."""
    baseline = result.majority_metrics
    shown = dict.fromkeys((result.headline, ACCURACY, MACRO_F1))
    return TEXT.scores(
        metrics=result.metrics,
        label=short(result.majority_label, LABEL_LENGTH),
        baseline=[(name, baseline[name]) for name in shown],
        count=sum(map(sum, result.confusion)),
        stopped=stopped,
    )


def mistakes_html(result: Result) -> str:
    """The test examples it got wrong, the surest first, as a table."""
    rows = [
        {
            "texts": [short(text, 300) for text in (mistake.text, mistake.pair)],
            "classes": [
                (short(result.labels[number], LABEL_LENGTH), mistake.probabilities[number])
                for number in (mistake.label, mistake.predicted)
            ],
        }
        for mistake in result.mistakes[:SHOWN_MISTAKES]
    ]
    return TEXT.mistakes(rows=rows, count=len(result.mistakes), most=SHOWN_MISTAKES)


def chances_html(chances: Mapping[str, float], labels: Sequence[str], sentence: str) -> str:
    """One sentence's probabilities as bars, the likeliest first; a class keeps its hue."""
    rows = [
        {"label": short(label, LABEL_LENGTH), "hue": class_colour(labels.index(label)), "share": chances[label]}
        for label in sorted(chances, key=lambda label: -chances[label])[:SHOWN_CHANCES]
    ]
    return TEXT.chances(sentence=short(sentence, 120), rows=rows)


def numbers_html(result: Result, looks: Sequence[Sequence[float | None]], per_epoch: int) -> str:
    """Every look at the validation examples, and each class's precision, recall and F1 on the test examples."""
    scores = score_confusion(result.confusion)
    labels = [short(label, 60) for label in result.labels]
    counts = [sum(row) for row in result.confusion]
    classes = list(zip(labels, scores.precision, scores.recall, scores.f1, counts, strict=True))
    return TEXT.numbers(looks=looks, per_epoch=per_epoch, metric=result.headline, classes=classes)
