"""Named entities: the lecture's table of pieces and labels, scores by type, names marked in their sentences."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

from demos.bert.tokens.cased import cased_tokenizer
from demos.figures.palette import CLASSES
from demos.figures.scores_text import class_row
from demos.figures.short_text import short
from demos.templates import templates
from demos.training.tasks.entities.data import OUTSIDE, EntityDataset, TaggedSentence, example_of
from demos.training.tasks.entities.events import FoundEntity, TagMistake, TagResult
from demos.training.tasks.entities.scores import Span, spans_of, verdict_of
from demos.training.tasks.entities.task import CutSentence, cut_sentences, telling_sentences
from demos.widgets.live_curve.live_curve import Watcher
from demos.widgets.tasks.entities.figure import WAYS, ways_figure
from demos.widgets.tasks.examples import Chip, chips
from demos.widgets.tasks.task_view import WATCHED_LENGTH, Looks, TaskView

TEXT = templates(__file__)
SHOWN_MISTAKES = 40
SHOWN_NAMES = 5  # of a type
MOST_WORDS = 60  # of one sentence
LECTURES = TaggedSentence(("Jim", "Henson", "was", "a", "puppeteer"), (1, 2, 0, 0, 0))
PERSONS = ("O", "B-PER", "I-PER")  # its labels

Mark = tuple[int, int, str, str]  # first word, one past the last, type, what is written behind the type


class Words(NamedTuple):
    text: str
    kind: str = ""  # a type, where they are marked
    hue: str = ""
    note: str = ""
    wrong: bool = False


class EntityView(TaskView):
    """A label for each word."""

    kind, order, word, scheme = "entities", 4, "Names", "a label per word"
    boxes = (("Your own sentence", "Anna Keller moved from Bergen to Lisbon."),)
    figure, example_of = staticmethod(ways_figure), staticmethod(example_of)

    def data(self, dataset: EntityDataset, tokenizer: Any) -> str:
        """The lecture's table of a few training sentences, and the entities by type."""
        return TEXT.data(
            dataset,
            sentences=[_chips(sentence, dataset.types) for sentence in telling_sentences(tokenizer, dataset)],
            cuts=_both_cuts(tokenizer, dataset.types),
            types=_types(dataset),
        )

    def scores(self, outcome: TagResult, stopped: bool) -> str:
        """Entity F1, precision and recall, F1 by type, and why words are not counted."""
        types = [score.name for score in outcome.scores.types]
        by_type = [(short(score.name, 24), score.f1, _hue(types, score.name)) for score in outcome.scores.types]
        return TEXT.scores(outcome, by_type, stopped)

    def mistakes(self, outcome: TagResult) -> str:
        """The true names, and below them those that were found."""
        types = [score.name for score in outcome.scores.types]
        rows = [_mistake(mistake, types) for mistake in outcome.mistakes[:SHOWN_MISTAKES]]
        return TEXT.mistakes(rows=rows, count=outcome.wrong, most=SHOWN_MISTAKES)

    def numbers(self, outcome: TagResult, looks: Looks, per_epoch: int) -> str:
        """Every look; each type's scores; what became of each type's entities."""
        scores = [
            *((short(score.name, 60), score) for score in outcome.scores.types),
            ("all, micro average", outcome.scores.total),
            ("all, strict IOB2: only B- starts an entity", outcome.strict),
            (outcome.baseline, outcome.baseline_scores.total),
        ]
        ways = [(short(row.name, 60), *(getattr(row, field) for _, field, *_ in WAYS)) for row in outcome.ways]
        names = [title for title, *_ in WAYS]
        return TEXT.numbers(looks=looks, per_epoch=per_epoch, scores=scores, ways=ways, names=names, cut=outcome.cut)

    def answer(self, task: Any, answer: Sequence[tuple[int, float]], boxes: Sequence[str]) -> str:
        """The sentence with the entities that are found, and each word's label."""
        words = example_of(boxes).words
        entities: Sequence[FoundEntity] = task.entities_of(answer)
        marks = [(name.start, name.end, name.kind, f"{name.probability:.0%}") for name in entities]
        labels = [task.labels[label] for label, _ in answer]
        rows = [
            (short(word, 60), short(label, 24), _hue(task.types, label[2:]) if label[1:2] == "-" else "", share)
            for word, label, (_, share) in zip(words, labels, answer, strict=False)
        ]
        return TEXT.answer(
            parts=_marked(words, marks, task.types),
            rows=rows,
            nothing=not entities,
            unread=len(words) - len(labels),
            alone=spans_of(labels) != spans_of(labels, strict=True),
        )

    def in_words(self, task: Any, answer: Sequence[tuple[int, float]], boxes: Sequence[str]) -> str:
        """As "Ada Byron PER, London LOC"."""
        words = example_of(boxes).words
        names = (f"{' '.join(words[name.start : name.end])} {name.kind}" for name in task.entities_of(answer))
        return ", ".join(names) or "no name"

    def watcher(self, dataset: EntityDataset) -> Watcher:
        """The share of the words in a sentence's names that have the correct label."""

        def values(place: int, answer: Sequence[tuple[int, float]]) -> tuple[float]:
            labels = dataset.validation[place].labels
            named = [number for number, label in enumerate(labels) if label != OUTSIDE]
            right = sum(number < len(answer) and answer[number][0] == labels[number] for number in named)
            return (
                right / len(named) if named else sum(label == OUTSIDE for label, _ in answer) / max(1, len(answer)),
            )

        return Watcher(
            ("of the words in names are correct",),
            lambda place: (short(dataset.validation[place].text, WATCHED_LENGTH), 0),
            values,
        )


VIEWS = (EntityView(),)


def _hue(types: Sequence[str], kind: str) -> str:
    """A type's hue, by its place among the types; beyond the palette's eight they repeat, and the names must do."""
    return CLASSES[types.index(kind) % len(CLASSES)] if kind in types else CLASSES[-1]


def _chips(sentence: CutSentence, types: Sequence[str]) -> list[Chip]:
    """One sentence's pieces in their words' hues, under each the label to predict there."""
    below, colours = {}, {}
    for at, (word, label) in enumerate(zip(sentence.word, sentence.labels, strict=True)):
        below[at] = short(label, 20) if label else "-100" if word is None else "X"
        if label[1:2] == "-":
            colours[at] = _hue(types, label[2:])
    return chips(sentence.tokens, sentence.word, range(len(sentence.tokens)), below, colours)


def _both_cuts(tokenizer: Any, types: Sequence[str]) -> list[tuple[str, list[Chip]]]:
    """The lecture's sentence with its labels, cut by this model's vocabulary and by BERT's cased one."""
    titles = {"this model’s vocabulary": tokenizer, "the cased vocabulary of BERT": cased_tokenizer()}
    return [
        (f"{title}, {len(cutter):,} entries", _chips(cut_sentences(cutter, PERSONS, [LECTURES])[0], types))
        for title, cutter in titles.items()
    ]


def _types(dataset: EntityDataset) -> list[dict[str, object]]:
    """The number of training entities of each type, with some of them."""
    names: dict[str, dict[str, None]] = defaultdict(dict)
    for example in dataset.train:
        for start, end, kind in spans_of([dataset.labels[label] for label in example.labels]):
            if len(names[kind]) < SHOWN_NAMES:
                names[kind][" ".join(example.words[start:end])] = None
    counts = dataset.counts("train")
    return [
        class_row(kind, _hue(dataset.types, kind), count, max(counts), [", ".join(names[kind])])
        for kind, count in zip(dataset.types, counts, strict=True)
    ]


def _mistake(mistake: TagMistake, types: Sequence[str]) -> dict[str, list[Words]]:
    """A test sentence twice: with what is there, and with what was found and how it is wrong."""
    predicted = [(name.start, name.end, name.kind) for name in mistake.found]
    true_marks = [(*span, "missed" if verdict_of(span, predicted) == "missed" else "") for span in mistake.true]
    predicted_marks = [
        (*span, f"{name.probability:.0%} {_wrong(span, mistake.true)}".strip())
        for span, name in zip(predicted, mistake.found, strict=True)
    ]
    wrong = [start for start, *_ in set(mistake.true) ^ set(predicted)]
    first = max(0, min(wrong) - 10) if len(mistake.words) > MOST_WORDS else 0
    lines = {"true": true_marks, "found": predicted_marks}
    return {which: _marked(mistake.words, marks, types, first) for which, marks in lines.items()}


def _wrong(span: Span, true: Sequence[Span]) -> str:
    """The error in a found entity; nothing if it is correct."""
    verdict = verdict_of(span, true)
    return {"missed": "invented", "wrong border": verdict, "wrong type": verdict}.get(verdict, "")


def _marked(words: Sequence[str], marks: Sequence[Mark], types: Sequence[str], first: int = 0) -> list[Words]:
    """MOST_WORDS words from `first` on as texts, of which the marked ones have their type, its hue and a note."""
    first = min([first, *(start for start, end, *_ in marks if start < first < end)])
    last = min(len(words), first + MOST_WORDS)
    begun = {start: (end, kind, note) for start, end, kind, note in marks}
    parts: list[Words] = [Words("…")] if first else []
    at = first
    while at < last:
        if at in begun:
            end, kind, note = begun[at]
            text, name, wrong = short(" ".join(words[at:end]), 200), short(kind, 24), any(map(str.isalpha, note))
            parts.append(Words(text, name, _hue(types, kind), note, wrong))
            at = end
        else:
            parts.append(Words(short(words[at], 60)))
            at += 1
    return [*parts, *[Words("…")] * (last < len(words))]
