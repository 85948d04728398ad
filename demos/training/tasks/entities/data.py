"""The data of a run on named entities: sentences of words with BIO labels in three splits, and a typed one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.annotated.spans import split_words
from demos.training.data.readers import Reader
from demos.training.data.splits import MAX_TRAIN, Item, Splits, counts_of, same, split_items
from demos.training.tasks.entities.files import ENDINGS, TABLE_COLUMNS, read_tagged, tagged_rows
from demos.training.tasks.entities.scores import spans_of, types_of
from demos.training.tasks.entities.tags import TaggedRow

MAX_TYPES = 20
MIN_SENTENCES = 10
MAX_TYPED_WORDS = 512
OUTSIDE = 0  # the label "O", of words outside every entity


@dataclass(frozen=True)
class TaggedSentence:
    """Words, and each one's label: an index into the data set's labels."""

    words: tuple[str, ...]
    labels: tuple[int, ...]

    @property
    def text(self) -> str:
        """The words with a blank between them."""
        return " ".join(self.words)


@dataclass(frozen=True)
class EntityDataset(Splits[TaggedSentence]):
    """Labelled sentences."""

    kind: ClassVar[str] = "entities"
    labels: tuple[str, ...] = field(kw_only=True)  # "O", then B- and I- of each type by the alphabet

    @property
    def types(self) -> tuple[str, ...]:
        """The entities' types, in the order of the labels."""
        return types_of(self.labels)

    def counts(self, split: str) -> tuple[int, ...]:
        """Entities of each type in a split."""
        counts = Counter(
            kind
            for example in getattr(self, split)
            for *_, kind in spans_of([self.labels[label] for label in example.labels])
        )
        return tuple(counts[kind] for kind in self.types)

    def label_counts(self, split: str) -> tuple[int, ...]:
        """Words of each label in a split."""
        return counts_of((label for example in getattr(self, split) for label in example.labels), len(self.labels))


def build_entities(name: str, rows: Sequence[TaggedRow], seed: int = 0, max_train: int = MAX_TRAIN) -> EntityDataset:
    """Labels, splits and bounds from rows, by the rules of `split_items`; tags are BIO already.

    Raises UserError for no entity or no more than a few sentences, and for more than MAX_TYPES types.
    """
    items = [Item(row.number, same(" ".join(row.words)), "", row.split, row) for row in rows]
    parts = split_items(items, seed, max_train, "sentence", _enough)
    splits = {"training": parts.train, "validation": parts.validation, "test": parts.test}
    types = sorted({tag[2:] for split in splits.values() for row in split for tag in row.tags if tag != "O"})
    for kind in types:
        other = next(known for known in types if same(known) == same(kind))
        if other != kind:
            raise UserError(f"The types {other!r} and {kind!r} differ only in capitals or spaces; write them alike.")
    if len(types) > MAX_TYPES:
        raise UserError(f"The tags have {len(types):,} types of entity; the limit is {MAX_TYPES}.")
    for split in ("training", "test"):
        if not any(tag != "O" for row in splits[split] for tag in row.tags):
            raise UserError(f"No {split} sentence has an entity; every tag there is O.")
    labels = ("O", *(f"{prefix}-{kind}" for kind in types for prefix in "BI"))
    index = {label: number for number, label in enumerate(labels)}
    trained = {tag[2:] for row in parts.train for tag in row.tags}
    unseen = [kind for kind in types if kind not in trained]
    notes = list(dict.fromkeys(row.note for row in rows if row.note))
    notes += [f"No training sentence has an entity of type {kind}, so the type cannot be learned." for kind in unseen]

    def examples(split: Sequence[TaggedRow]) -> tuple[TaggedSentence, ...]:
        return tuple(TaggedSentence(row.words, tuple(index[tag] for tag in row.tags)) for row in split)

    train, validation, test = (examples(split) for split in splits.values())
    return EntityDataset(name, train, validation, test, (*notes, *parts.notes), labels=labels)


def _enough(distinct: Sequence[object]) -> None:
    if len(distinct) < MIN_SENTENCES:
        raise UserError(
            f"The file has {len(distinct):,} different sentence{'' if len(distinct) == 1 else 's'}; at least "
            f"{MIN_SENTENCES} are needed, each followed by a blank line in a CoNLL file."
        )


def example_of(boxes: Sequence[str]) -> TaggedSentence:
    """The contents of the try-it box as words without labels (all O). Raises UserError for an empty or endless box."""
    words = split_words(clean_text(boxes[0] if boxes else "", "The sentence"))
    if not words:
        raise UserError("Type a sentence first.")
    if len(words) > MAX_TYPED_WORDS:
        raise UserError(f"The sentence has {len(words):,} words; the limit is {MAX_TYPED_WORDS}.")
    return TaggedSentence(tuple(words), (OUTSIDE,) * len(words))


READER = Reader(
    "entities",
    "CoNLL (one token per line, its tag last, a blank line after each sentence), or columns tokens and tags.",
    TABLE_COLUMNS,
    tagged_rows,
    build_entities,
    read_file=read_tagged,
    endings=ENDINGS,
    forms="CoNLL, CSV, Excel or JSON",
)
READERS = (READER,)
SOURCES = (READER.bundled("entities", "Names", "entities.conll"),)
