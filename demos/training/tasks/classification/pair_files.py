"""Labelled sentence pairs from a file: its two sentence columns under any of their usual names, GLUE's among them."""

from __future__ import annotations

from collections.abc import Sequence

from demos.errors import UserError
from demos.training.data.tables import (
    LABEL_NAMES,
    SPLIT,
    Column,
    Record,
    Row,
    checked_rows,
    read_columns,
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
    Column("sentence1", FIRST_NAMES),
    Column("sentence2", SECOND_NAMES),
    Column("label", PAIR_LABELS),
    SPLIT,
)
NAMELESS = ("sentence1", "sentence2", "label")


def read_pair_rows(data: bytes, name: str) -> list[Row]:
    """The labelled pairs of a CSV, TSV, JSONL or JSON file; three columns without names are first, second and label.

    Raises UserError as `read_columns` does, and for a row without a sentence or a label.
    """
    return pair_rows(read_columns(data, name, PAIR_COLUMNS, NAMELESS))


def pair_rows(records: Sequence[Record]) -> list[Row]:
    """Rows from records of PAIR_COLUMNS. Raises UserError for one without a sentence or a label."""
    for record in records:
        for role, which in (("sentence1", "first"), ("sentence2", "second")):
            if not record[role].strip():
                raise UserError(f"Row {record.number:,} has no {which} sentence.")
    return checked_rows(
        [
            Row(one.number, one["sentence1"], one["label"].strip(), one["split"].strip(), one["sentence2"])
            for one in records
        ]
    )  # fmt: skip
