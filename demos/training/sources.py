"""Where a run's data comes from: our own data sets by key, a person's file, or the Hub; one reader a kind of task.

A further kind of task plugs in with one entry in READERS (how its rows are read from a file, how they are made of
the records of a Hub data set, how they become splits), and one in SOURCES for each data set of our own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from demos.errors import UserError
from demos.files import DATA
from demos.training.data.files import read_splits
from demos.training.data.hub_data import fetch
from demos.training.data.tables import LABEL, SPLIT, TEXT, Column, Record, Row, checked_rows, read_rows
from demos.training.tasks.classification.data import MAX_TRAIN, Splits, build_dataset, load_emotion
from demos.training.tasks.classification.pair_files import PAIR_COLUMNS, pair_rows, read_pair_rows
from demos.training.tasks.entities.data import build_entities
from demos.training.tasks.entities.files import ENDINGS, TABLE_COLUMNS, read_tagged, tagged_rows
from demos.training.tasks.multiple_choice.data import CHOICE_COLUMNS, build_choices, choice_rows, read_choice_rows
from demos.training.tasks.question_answering.data import build_questions
from demos.training.tasks.question_answering.files import QUESTION_COLUMNS, question_rows, read_questions

DATA = DATA


@dataclass(frozen=True)
class Reader:
    """How one kind of task gets its data; its rows are frozen dataclasses with `number` and `split`."""

    title: str
    told: str  # what a file of this kind must hold, one sentence
    read: Callable[[bytes, str], Sequence[Any]]  # (a file's bytes, its name) to rows
    columns: tuple[Column, ...]  # what a Hub data set's columns are found by
    rows: Callable[[Sequence[Record]], Sequence[Any]]  # the records of these columns to rows
    build: Callable[[str, Sequence[Any], int, int], Splits]  # (name, rows, seed, max_train)
    endings: tuple[str, ...] = (".csv", ".tsv", ".jsonl", ".json", ".txt")  # of files that `read` takes


@dataclass(frozen=True)
class Source:
    """A data set of our own."""

    key: str
    kind: str  # of task: a key of READERS
    title: str
    told: str  # one sentence on what is in it
    load: Callable[[int, int], Splits]  # (seed, max_train)


def _sentences(records: Sequence[Record]) -> list[Row]:
    """Labelled sentences. Raises UserError for one without text or label."""
    return checked_rows([Row(one.number, one["text"], one["label"].strip(), one["split"]) for one in records])


READERS: Mapping[str, Reader] = {
    "sentence": Reader(
        "One sentence",
        "A text and a label column, named in the first row; two columns need no names.",
        read_rows,
        (TEXT, LABEL, SPLIT),
        _sentences,
        build_dataset,
    ),
    "pair": Reader(
        "Two sentences",
        "Columns named sentence1, sentence2 and label (GLUE's other names do too), and perhaps split.",
        read_pair_rows,
        PAIR_COLUMNS,
        pair_rows,
        build_dataset,
    ),
    "choice": Reader(
        "Multiple choice",
        "Columns named context, start, ending0 to ending3 and label (or SWAG's sent1 and sent2), and perhaps split.",
        read_choice_rows,
        CHOICE_COLUMNS,
        choice_rows,
        build_choices,
    ),
    "entities": Reader(
        "Named entities",
        "CoNLL's form (a token a line, its tag last, a blank line after each sentence), or columns tokens and tags.",
        read_tagged,
        TABLE_COLUMNS,
        tagged_rows,
        build_entities,
        ENDINGS,
    ),
    "question": Reader(
        "Questions",
        "SQuAD's JSON, or columns question, context and answer (answer_start where it stands more than once).",
        read_questions,
        QUESTION_COLUMNS,
        question_rows,
        build_questions,
    ),
}


def bundled(key: str, kind: str, title: str, file: str, told: str) -> Source:
    """The source of a file in assets/data that its kind's reader reads."""
    reader = READERS[kind]

    @lru_cache(maxsize=8)  # frozen, and read again at each move of a slider
    def load(seed: int = 0, max_train: int = MAX_TRAIN) -> Splits:
        return reader.build(title, reader.read((DATA / file).read_bytes(), file), seed, max_train)

    return Source(key, kind, title, told, load)


SOURCES: Mapping[str, Source] = {
    source.key: source
    for source in (
        Source("emotion", "sentence", "Emotion", "Sentences of six emotions, written for this lesson.", load_emotion),
        bundled("sentiment", "sentence", "Sentiment", "sentiment.tsv", "Opinions, for or against."),
        bundled("paraphrase", "pair", "Paraphrase", "paraphrase.tsv", "Two sentences that say the same, or do not."),
        bundled("endings", "choice", "Endings", "endings.tsv", "What happens next: four endings, one of which fits."),
        bundled("entities", "entities", "Names", "entities.conll", "Where sentences name people, places and firms."),
        bundled("questions", "question", "Questions", "questions.json", "Questions that a span of the text answers."),
    )
}


def load_file(
    kind: str, path: Path | str, test_path: Path | str | None = None, seed: int = 0, max_train: int = MAX_TRAIN
) -> Splits:
    """A person's file for this kind of task, and perhaps a second one that is the test split.

    Raises UserError, one sentence that names the row or the column where there is one.
    """
    reader = reader_of(kind)
    name, rows = read_splits(reader.read, path, test_path)
    return reader.build(name, rows, seed, max_train)


def load_hub(kind: str, name: str, seed: int = 0, max_train: int = MAX_TRAIN) -> Splits:
    """The Hub's data set `owner/name` or `owner/name:config` for this kind of task.

    Raises UserError where the Hub is out of reach, has no such data set, or its columns are not this task's.
    """
    reader = reader_of(kind)
    fetched = fetch(name, reader.columns)
    built = reader.build(fetched.name, reader.rows(fetched.records), seed, max_train)
    noted: Any = built  # every data set is a frozen dataclass with notes
    whole: Splits = replace(noted, notes=(*fetched.notes, *noted.notes))
    return whole


def reader_of(kind: str) -> Reader:
    """The reader of a kind of task. Raises UserError for one that is not known."""
    if kind not in READERS:
        raise UserError(f"There is no task called {str(kind)[:40]!r} here.")
    return READERS[kind]
