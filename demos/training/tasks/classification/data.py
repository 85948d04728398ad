"""The data of a run: labelled sentences, or pairs of them, in three splits, from our own file or from an upload."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from demos.errors import UserError
from demos.training.data.columns.labels import in_order
from demos.training.data.columns.mapping import Column
from demos.training.data.columns.profiles import LABELS, TEXTS
from demos.training.data.readers import Reader, Source
from demos.training.data.splits import (
    MAX_TRAIN,
    Item,
    Splits,
    contained_note,
    counts_of,
    same,
    shared_note,
    split_items,
)
from demos.training.data.tables import (
    EMOTION,
    GROUP,
    LABEL_NAMES,
    LABELLED,
    SPLIT,
    Record,
    Row,
    class_names,
    labelled_rows,
    read_rows,
    usable,
)

# MRPC, RTE, WNLI and STS-B: sentence1; QQP: question1; MNLI, SNLI and ANLI: premise; QNLI: question and sentence.
FIRST_NAMES = (
    "sentence1", "sentence_1", "sentence_a", "text1", "text_1", "text_a", "question1", "premise", "first", "s1",
    "#1 string", "anchor", "query", "question", "phrase",
)  # fmt: skip
SECOND_NAMES = (
    "sentence2", "sentence_2", "sentence_b", "text2", "text_2", "text_b", "question2", "hypothesis", "second", "s2",
    "#2 string", "positive", "passage", "answer", "sentence",
)  # fmt: skip
PAIR_LABELS = (*LABEL_NAMES, "quality", "gold_label", "is_duplicate", "judgment", "entailment", "relation")
PAIR_COLUMNS = (
    Column("sentence1", FIRST_NAMES, holds=TEXTS),
    Column("sentence2", SECOND_NAMES, holds=TEXTS),
    Column("label", PAIR_LABELS, kind="json", holds=LABELS),
    SPLIT,
    GROUP,
)


@dataclass(frozen=True)
class Example:
    """A sentence (or a pair of them) and its class, an index into the data set's labels."""

    text: str
    label: int
    pair: str = ""  # the second sentence; "" where there is none


@dataclass(frozen=True)
class Dataset(Splits[Example]):
    """Labelled sentences, or pairs, which are one sequence to the encoder."""

    labels: tuple[str, ...] = field(kw_only=True)

    @property
    def kind(self) -> str:
        """ "pair" where the examples are of two sentences, else "sentence"."""
        return "pair" if any(example.pair for example in self.train) else "sentence"

    def counts(self, split: str) -> tuple[int, ...]:
        """Sentences of each class in a split."""
        return counts_of((example.label for example in getattr(self, split)), len(self.labels))


def pair_rows(records: Sequence[Record]) -> list[Row]:
    """Rows from records of PAIR_COLUMNS. Raises UserError for one without a sentence or a label."""
    for record in records:
        for role, which in (("sentence1", "first"), ("sentence2", "second")):
            if not record[role].strip():
                raise UserError(f"Row {record.number:,} has no {which} sentence.")
    return labelled_rows(records, "sentence1", "sentence2")


@lru_cache(maxsize=8)  # frozen, and read again at each move of a slider
def load_emotion(seed: int = 0, max_train: int = MAX_TRAIN) -> Dataset:
    """The project's own sentences of six emotions, with the splits their file gives."""
    rows = read_rows(EMOTION.read_bytes(), EMOTION.name)
    return replace(build_dataset("Emotion", rows, seed=seed, max_train=max_train), source="emotion")


def build_dataset(name: str, rows: Sequence[Row], seed: int = 0, max_train: int = MAX_TRAIN) -> Dataset:
    """Labels, splits and bounds from rows, by the rules of `split_items`, class by class.

    Raises UserError for less than two or more than MAX_CLASSES classes, or a class with too few sentences.
    """
    cleaned, _, left_out = usable(rows)
    noun = "pair" if any(row.pair for row in cleaned) else "sentence"
    # A pair the other way round is the same sentences over again, which a test split must not be tested with.
    items = [
        Item(
            row.number,
            "\n".join(sorted(filter(None, map(same, (row.text, row.pair))))),
            row.label,
            row.split,
            row,
            row.label,
            row.group,
        )
        for row in cleaned
    ]

    def check(distinct: Sequence[Item[Row]]) -> None:
        class_names([item.value for item in distinct], noun, cleaned)

    parts = split_items(items, seed, max_train, noun, check)
    labels = in_order(row.label for split in (parts.train, parts.validation, parts.test) for row in split)
    trained = {row.label for row in parts.train}
    for label in labels:
        if label not in trained:
            raise UserError(f"No training {noun} has the class {label!r}.")
    index = {label: number for number, label in enumerate(labels)}

    def examples(split: Sequence[Row]) -> tuple[Example, ...]:
        return tuple(Example(row.text, index[row.label], row.pair) for row in split)

    train, test = ([(row.text, row.pair) for row in split if row.pair] for split in (parts.train, parts.test))
    notes = (*left_out, *parts.notes, *shared_note(train, test))
    if noun == "sentence" and not any(row.group for row in cleaned):
        notes += contained_note((row.text for row in parts.train), (row.text for row in parts.test))
    return Dataset(name, examples(parts.train), examples(parts.validation), examples(parts.test), notes, labels=labels)


SENTENCES = Reader(
    "sentence",
    "A text and a label column, named in the first row; two columns need no names.",
    LABELLED,
    labelled_rows,
    build_dataset,
)
PAIRS = Reader(
    "pair",
    "Columns named sentence1, sentence2 and label (other names from GLUE also work); optionally split.",
    PAIR_COLUMNS,
    pair_rows,
    build_dataset,
    nameless=("sentence1", "sentence2", "label"),
)
READERS = (SENTENCES, PAIRS)
SOURCES = (
    Source("emotion", "sentence", "Emotion", load_emotion, EMOTION.name),
    SENTENCES.bundled("sentiment", "Sentiment", "sentiment.tsv"),
    SENTENCES.bundled("films", "Film reviews", "films.tsv"),
    PAIRS.bundled("paraphrase", "Paraphrase", "paraphrase.tsv"),
    PAIRS.bundled("entailment", "Entailment", "entailment.tsv"),
)
