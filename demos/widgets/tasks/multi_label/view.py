"""Any number of labels for a sentence: the frequency of each, its results, and probabilities as separate bars."""

from collections.abc import Sequence
from typing import Any

from demos.figures.scores_text import LABEL_LENGTH, class_colour, class_row
from demos.figures.short_text import short
from demos.templates import templates
from demos.training.tasks.multi_label.data import MultiLabelDataset
from demos.training.tasks.multi_label.task import THRESHOLD, MultiLabel, MultiLabelResult, example_of, given
from demos.widgets.tasks.multi_label.figure import decisions_figure
from demos.widgets.tasks.task_view import Looks, TaskView

TEXT = templates(__file__)
SHOWN_MISTAKES = 60
SHOWN_CHANCES = 12
SHOWN_SETS = 5


class MultiLabelView(TaskView):
    """Any number of labels for a sentence."""

    kind, order, word, scheme = "labels", 2, "Several labels", "of a sentence"
    boxes = (("Your own sentence", "The pasta was lovely, but we waited an hour for it."),)
    cut = False
    figure, example_of = staticmethod(decisions_figure), staticmethod(example_of)

    def data(self, dataset: MultiLabelDataset, tokenizer: Any) -> str:
        """The training sentences with each label, and which sets of labels are frequent."""
        counts = dataset.counts("train")
        first = {label: example.text for example in reversed(dataset.train) for label in example.labels}
        rows = [
            class_row(label, class_colour(number), counts[number], max(counts), (first[number],))
            for number, label in enumerate(dataset.labels)
        ]
        sets = [
            ([short(dataset.labels[label], LABEL_LENGTH) for label in labels], count)
            for labels, count in dataset.sets("train").most_common(SHOWN_SETS)
        ]
        return TEXT.data(dataset, rows=rows, sets=sets)

    def scores(self, outcome: MultiLabelResult, stopped: bool) -> str:
        return TEXT.scores(outcome, stopped)

    def mistakes(self, outcome: MultiLabelResult) -> str:
        """The true labels and the predicted ones, each with its probability."""

        def named(labels: Sequence[int], shares: Sequence[float]) -> list[dict[str, str | float]]:
            return [{"short": short(outcome.labels[label], LABEL_LENGTH), "share": shares[label]} for label in labels]

        rows = [
            {
                "text": short(mistake.text, 300),
                "labels": named(mistake.labels, mistake.probabilities),
                "predicted": named(mistake.predicted, mistake.probabilities),
            }
            for mistake in outcome.mistakes[:SHOWN_MISTAKES]
        ]
        return TEXT.mistakes(rows=rows, count=outcome.wrong, most=SHOWN_MISTAKES)

    def numbers(self, outcome: MultiLabelResult, looks: Looks, per_epoch: int) -> str:
        """Every look, and the picture's twin: each label's scores and decisions."""
        scores = outcome.scores
        labels = [short(label, 60) for label in outcome.labels]
        columns = scores.precision, scores.recall, scores.f1, scores.found, scores.missed, scores.wrong
        return TEXT.numbers(looks, per_epoch, list(zip(labels, *columns, strict=True)), outcome.calibration)

    def answer(self, task: MultiLabel, answer: Sequence[float], boxes: Sequence[str]) -> str:
        """The likeliest labels, each with a separate bar."""
        predicted = given(answer)
        ordered = sorted(range(len(answer)), key=lambda label: -answer[label])
        shown = ordered[: max(SHOWN_CHANCES, len(predicted))]
        rows = [
            {
                "label": short(task.labels[label], LABEL_LENGTH),
                "hue": class_colour(label),
                "share": answer[label],
                "given": label in predicted,
            }
            for label in shown
        ]
        sentence = short(example_of(boxes).text, 120)
        return TEXT.answer(sentence=sentence, rows=rows, threshold=THRESHOLD, more=len(ordered) - len(shown))

    def in_words(self, task: MultiLabel, answer: Sequence[float], boxes: Sequence[str]) -> str:
        return ", ".join(task.labels[label] for label in given(answer)) or "no label"

    def watcher(self, dataset: MultiLabelDataset) -> None:
        """None: what is watched has one right class."""


VIEWS = (MultiLabelView(),)
