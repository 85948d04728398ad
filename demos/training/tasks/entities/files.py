"""From a file's bytes to sentences with BIO tags: CoNLL's columns, or a table with tokens and tags in each row."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from demos.errors import UserError
from demos.training.data.columns.mapping import Column, find, sheet_of
from demos.training.data.file_tables import TABLES, ending_of, read_table
from demos.training.data.read_as import ReadAs
from demos.training.data.tables import SPLIT, ReadRows, Record, records_of
from demos.training.data.text_encoding import decode_text, lines_of
from demos.training.tasks.entities.conll import read_conll
from demos.training.tasks.entities.tags import TaggedRow, as_bio, tagged_row

CONLL = (".conll", ".bio", ".iob", ".tsv", ".txt", "")  # the endings of files that may be in CoNLL's form
ENDINGS = (*TABLES, *CONLL[:3])
CONLL_FORM = "CoNLL, one token and its tag per line"  # as the page says
TOKENS = Column("tokens", ("tokens", "words", "token", "word", "text", "sentence"), kind="json")
TAGS = Column("tags", ("ner_tags", "tags", "bio_tags", "labels", "ner", "tag", "label", "entities"), kind="json")
GROUP = Column("group", ("sentence #", "sentence_id", "sentence id", "sent_id", "sentence_idx", "sentence"), False)
TABLE_COLUMNS = (TOKENS, TAGS, SPLIT, GROUP)


def read_tagged(data: bytes, name: str, chosen: str = "") -> ReadRows:
    """The sentences of a CoNLL file, or of a table with columns tokens and tags (CSV, Excel, JSON).

    Raises UserError for what is broken, one sentence that names the line.
    """
    if ending_of(name, ENDINGS, data) in CONLL:
        text, encoding = decode_text(data)
        if not _names_columns(text):
            rows, mapping = read_conll(text, chosen)
            return ReadRows(rows, ReadAs(CONLL_FORM, encoding), mapping)
    table = read_table(data, Path(name).stem if name.lower().endswith(CONLL[:3]) else name, sheet_of(chosen))
    mapping = find(table, TABLE_COLUMNS, chosen=chosen)
    return ReadRows(tagged_rows(records_of(mapping, TABLE_COLUMNS)), table.read_as, mapping)


def tagged_rows(records: Sequence[Record]) -> list[TaggedRow]:
    """Rows from records of TABLE_COLUMNS: lists, or text with a blank between tokens (and between tags).

    With one token a row, a column sentence_id says which rows are one sentence; it may be empty but for the first.
    Raises UserError, one sentence that names the row.
    """
    if a_word_a_row(*([row[role] for row in records] for role in ("tokens", "tags", "group"))):
        records = _grouped(records)
    rows = []
    for record in records:
        where = f"Row {record.number:,}"
        words, tags = _listed(record["tokens"], f"{where}'s tokens"), _listed(record["tags"], f"{where}'s tags")
        if not words:
            raise UserError(f"{where} has no tokens.")
        if len(words) != len(tags):
            raise UserError(f"{where} has {len(words):,} tokens and {len(tags):,} tags.")
        rows.append(tagged_row(record.number, words, tags, str(record["split"]).strip(), [where] * len(words)))
    return as_bio(rows)


def a_word_a_row(tokens: Sequence[Any], tags: Sequence[Any], groups: Sequence[str]) -> bool:
    """Whether each row is one token, which may have a blank in it where `groups` say which rows are one sentence."""
    if len(tokens) < 2 or not all(isinstance(cell, str) for cell in (*tokens, *tags)):
        return False
    grouped = any(map(str.strip, groups)) and all(len(tag.split()) == 1 for tag in tags)
    return grouped or all(len(token.split()) == 1 for token in tokens)


def _grouped(records: Sequence[Record]) -> list[Record]:
    """Rows of one token each as rows of one sentence each."""
    if not any(row["group"].strip() for row in records):
        raise UserError("Every row has one token; a column sentence_id must show which rows form a sentence.")
    groups: list[list[Record]] = []
    last = ""
    for record in records:
        group = record["group"].strip()
        if not groups or (group and group != last):
            groups.append([])
        groups[-1].append(record)
        last = group or last
    return [
        Record(
            group[0].number,
            {
                "tokens": [row["tokens"].strip() for row in group],
                "tags": [str(row["tags"]).strip() for row in group],
                "split": group[0]["split"],
                "group": "",
            },
        )
        for group in groups
    ]


def _names_columns(text: str) -> bool:
    """Whether the first line names a tokens and a tags column, so that the file is a table and not CoNLL's columns."""
    first = {cell.strip().strip('"').lower() for cell in re.split(r"[\t,;]", lines_of(text.lstrip())[0])}
    return bool(first & set(TOKENS.names)) and bool(first & set(TAGS.names))


def _listed(value: Any, what: str) -> list[str]:
    if isinstance(value, dict):
        raise UserError(f"{what} are neither a list nor text.")
    if not isinstance(value, list):
        return str(value).split()
    if any(isinstance(item, list | dict) or item is None for item in value):
        raise UserError(f"{what} are not a plain list.")
    return [str(item) for item in value]
