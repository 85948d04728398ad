"""The data of multiple choice: a situation, the beginning of what comes next, and endings of which one is right."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, ClassVar

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.columns.mapping import Column
from demos.training.data.readers import Reader
from demos.training.data.splits import MAX_TRAIN, Item, Splits, count_of, counts_of, same, split_items
from demos.training.data.tables import SPLIT, Record, value_of

MIN_ENDINGS, MAX_ENDINGS = 2, 8
MIN_ITEMS = 20
MAX_LENGTH = 2_000  # characters of one text: each is read once an ending
LETTERS = "ABCDEFGH"
_PLACES = ("ending", "ending_", "choice", "choice_", "option", "option_", "answer", "answer_", "sol")
# SWAG: sent1, sent2, ending0 to ending3, label; HellaSwag: ctx_a, ctx_b, endings; COPA: premise, choice1, choice2;
# CommonsenseQA and ARC: question, choices with "text" and "label", answerKey.
CONTEXT = Column("context", ("context", "sent1", "ctx_a", "article", "passage", "premise", "situation", "ctx"), False)
START = Column("start", ("start", "sent2", "ctx_b", "startphrase", "question", "stem", "beginning", "goal"), False)
LISTED = Column("endings", ("endings", "choices", "options", "answers", "candidates"), False, "json")
LABEL = Column("label", ("label", "answer", "answerkey", "answer_key", "correct", "right", "gold", "target"))
ENDINGS = tuple(
    Column(f"ending{place}", tuple(f"{name}{place}" for name in _PLACES), False) for place in range(MAX_ENDINGS + 1)
)
CHOICE_COLUMNS = (CONTEXT, START, *ENDINGS, LISTED, LABEL, SPLIT)
SAMPLE = "context, start, ending0, ending1, ending2, ending3 and label"


@dataclass(frozen=True)
class ChoiceExample:
    """A context, the start of the sentence after it ("" for none), its possible endings, and which is right."""

    context: str
    start: str
    endings: tuple[str, ...]
    label: int


@dataclass(frozen=True)
class ChoiceDataset(Splits[ChoiceExample]):
    """Items that all have as many endings."""

    kind: ClassVar[str] = "choice"

    @property
    def choices(self) -> int:
        """The number of endings of each item."""
        return len(self.train[0].endings)

    @property
    def sentences(self) -> int:
        """The encoder reads one sequence an ending."""
        return self.choices

    @property
    def labels(self) -> tuple[str, ...]:
        """The endings' places as letters: A, B, …"""
        return tuple(LETTERS[: self.choices])

    def counts(self, split: str) -> tuple[int, ...]:
        """Items of a split by the place of their right ending."""
        return counts_of((example.label for example in getattr(self, split)), self.choices)


def choice_rows(records: Sequence[Record]) -> list[Item[ChoiceExample]]:
    """Items from records of CHOICE_COLUMNS: endings in columns or as one list; the label counts from 0, or is a letter.

    Labels from 1 to the number of endings, 0 nowhere among them, count from 1. Raises UserError for a broken item.
    """
    if not records:
        return []
    begun = any(record[column.role] for record in records for column in (CONTEXT, START))
    if not begun or not any(map(_endings, records)):
        raise UserError(f"No columns contain a context and its endings; name them {SAMPLE}.")
    rows: list[Item[ChoiceExample]] = []
    base = _base(records)
    for record in records:
        where = f"Row {record.number:,}"
        context, start = (_text(record[column.role], where) for column in (CONTEXT, START))
        endings = tuple(_text(ending, where) for ending in _endings(record))
        if not context and not start:
            raise UserError(f"{where} has no context.")
        if not MIN_ENDINGS <= len(endings) <= MAX_ENDINGS:
            raise UserError(
                f"{where} has {count_of(len(endings), 'ending')}; there must be {MIN_ENDINGS} to {MAX_ENDINGS}."
            )
        if rows and len(endings) != (first := len(rows[0].value.endings)):
            raise UserError(f"{where} has {count_of(len(endings), 'ending')}, but the first item has {first}.")
        if "" in endings:
            raise UserError(f"{where} has an empty ending, {LETTERS[endings.index('')]}.")
        if len(set(map(same, endings))) < len(endings):
            raise UserError(f"{where} has the same ending twice.")
        label = _label(record, endings, base)
        if label is None:
            raise UserError(
                f"{where} has the label {str(record['label'])[:20]!r}; it must say which of the "
                f"{len(endings)} endings is correct, counted from {base}."
            )
        # Two items with the same beginning and the same endings, in whatever order, are one.
        key = "\n".join([same(f"{context} {start}"), *sorted(map(same, endings))])
        example = ChoiceExample(context, start, endings, label)
        rows.append(Item(record.number, key, LETTERS[label], record["split"].strip(), example))
    return rows


def build_choices(
    name: str, rows: Sequence[Item[ChoiceExample]], seed: int = 0, max_train: int = MAX_TRAIN
) -> ChoiceDataset:
    """Splits and bounds by the rules of `split_items`, place by place of the right ending.

    Raises UserError for too few.
    """
    return ChoiceDataset(name, *split_items(rows, seed, max_train, "item", _enough))


def _enough(distinct: Sequence[Item[ChoiceExample]]) -> None:
    if len(distinct) < MIN_ITEMS:
        raise UserError(f"There are {len(distinct):,} different items; at least {MIN_ITEMS} are needed.")


def _text(value: Any, where: str) -> str:
    text = " ".join(value_of(value).split())
    if len(text) > MAX_LENGTH:
        raise UserError(f"{where} has a text of {len(text):,} characters; the limit is {MAX_LENGTH:,}.")
    return clean_text(text, where)


def _endings(record: Record) -> list[Any]:
    """The endings from their columns, first place to last, or from one list, or from an object with "text"."""
    columns = [record[column.role] for column in ENDINGS]
    if not columns[0]:
        columns = columns[1:]  # they count from 1
    in_columns = list(takewhile(bool, columns))
    if len(in_columns) < MIN_ENDINGS and record[LISTED.role]:
        listed = record[LISTED.role]
        listed = listed.get("text") if isinstance(listed, dict) else listed
        return listed if isinstance(listed, list) else []
    # An empty cell between two that are not is an empty ending, and reported as one.
    last = max((place for place, ending in enumerate(columns) if ending), default=-1)
    return columns[: last + 1]


def _base(records: Sequence[Record]) -> int:
    """The number that the labels count from: 1 if none is 0 and one is the number of endings, else 0."""
    numbers = (re.fullmatch(r"\s*(\d{1,2})(\.0)?\s*", record["label"], re.ASCII) for record in records)
    labels = {int(number[1]) for number in numbers if number}
    return 1 if labels and min(labels) >= 1 and max(labels) >= len(_endings(records[0])) else 0


def _label(record: Record, endings: Sequence[str], base: int) -> int | None:
    """The correct ending, from a number, a letter or the ending itself; None where it is none of them."""
    label = " ".join(record["label"].split())
    if re.fullmatch(r"\d{1,2}(\.0)?", label, re.ASCII):
        place = int(float(label)) - base
    elif re.fullmatch(r"ending_?\d", label, re.ASCII):
        place = int(label[-1])
    elif len(label) == 1 and label.upper() in LETTERS:
        place = LETTERS.index(label.upper())
    else:
        place = next((at for at, ending in enumerate(endings) if ending == label), -1)
    return place if 0 <= place < len(endings) else None


READER = Reader(
    "choice",
    "Columns named context, start, ending0 to ending3 and label (or SWAG's sent1 and sent2); optionally split.",
    CHOICE_COLUMNS,
    choice_rows,
    build_choices,
)
READERS = (READER,)
SOURCES = (READER.bundled("endings", "Endings", "endings.tsv"),)
