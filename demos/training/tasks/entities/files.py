"""From a file's bytes to sentences with BIO tags: CoNLL's columns, or a table with tokens and tags in each row."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.file_tables import MAX_ROWS, TABLES, ending_of, read_table
from demos.training.data.read_as import ReadAs, ReadRows
from demos.training.data.splits import SPLITS
from demos.training.data.tables import SPLIT, Column, Record, records_of
from demos.training.data.text_encoding import decode_text, lines_of

COLUMNS = (2, 3, 4)  # of a CoNLL file: token, perhaps part of speech and chunk, tag
MAX_LINES = 400_000
MAX_WORDS = 1_000  # a sentence
MAX_WORD = 200  # characters
MAX_TYPE = 40  # characters
CONLL = (".conll", ".bio", ".iob", ".tsv", ".txt", "")  # the endings of files that may be in CoNLL's form
ENDINGS = (*TABLES, *CONLL[:3])
TOKENS = Column("tokens", ("tokens", "words", "token", "word", "text", "sentence"), kind="json")
TAGS = Column("tags", ("ner_tags", "tags", "bio_tags", "labels", "ner", "tag", "label", "entities"), kind="json")
GROUP = Column("group", ("sentence #", "sentence_id", "sentence id", "sent_id", "sentence_idx", "sentence"), False)
TABLE_COLUMNS = (TOKENS, TAGS, SPLIT, GROUP)

_TAG = re.compile(r"([BIESLUM])-(\S.*)")
_COMMENT = re.compile(r"#\s*([\w.-]+(?: [\w.-]+)*)\s*[=:]\s*(.*)")


@dataclass(frozen=True)
class TaggedRow:
    """A sentence: its words, each one's tag (BIO), and where it stands in its file (a line, or a table's row)."""

    number: int
    words: tuple[str, ...]
    tags: tuple[str, ...]
    split: str = ""
    note: str = ""  # what was done to its file's tags


def read_tagged(data: bytes, name: str) -> ReadRows:
    """The sentences of a CoNLL file, or of a table with columns tokens and tags (CSV, Excel, JSON).

    Raises UserError for what is broken, one sentence that names the line.
    """
    if ending_of(name, ENDINGS, data) in CONLL:
        text, encoding = decode_text(data)
        if not _names_columns(text):
            form = "CoNLL, one token and its tag per line"
            return ReadRows(_as_bio(_read_conll(text)), ReadAs(form, encoding))
    table = read_table(data, Path(name).stem if name.lower().endswith(CONLL[:3]) else name)
    return ReadRows(tagged_rows(records_of(table, TABLE_COLUMNS)), table.read_as)


def tagged_rows(records: Sequence[Record]) -> list[TaggedRow]:
    """Rows from records of TABLE_COLUMNS: lists, or text with a blank between tokens (and between tags).

    With one token a row, a column sentence_id says which rows are one sentence; it may be empty but for the first.
    Raises UserError, one sentence that names the row.
    """
    if len(records) > 1 and all(isinstance(row["tokens"], str) and len(row["tokens"].split()) == 1 for row in records):
        records = _grouped(records)
    rows = []
    for record in records:
        where = f"Row {record.number:,}"
        words, tags = _listed(record["tokens"], f"{where}'s tokens"), _listed(record["tags"], f"{where}'s tags")
        if not words:
            raise UserError(f"{where} has no tokens.")
        if len(words) != len(tags):
            raise UserError(f"{where} has {len(words):,} tokens and {len(tags):,} tags.")
        rows.append(_row(record.number, words, tags, str(record["split"]).strip(), [where] * len(words)))
    return _as_bio(rows)


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
        Record(group[0].number, {
            "tokens": [row["tokens"].strip() for row in group], "tags": [str(row["tags"]).strip() for row in group],
            "split": group[0]["split"], "group": "",
        })
        for group in groups
    ]  # fmt: skip


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


def _read_conll(text: str) -> list[TaggedRow]:
    """One token a line, its tag last; a blank line after each sentence; "# split = test" before one or many."""
    rows: list[TaggedRow] = []
    words: list[str] = []
    tags: list[str] = []
    places: list[str] = []
    width, split, first = 0, "", 0
    tabs = "\t" in text
    lines = lines_of(text)
    if len(lines) > MAX_LINES:
        raise UserError(f"The file has more than {MAX_LINES:,} lines.")
    for number, line in enumerate([*lines, ""], start=1):
        where = f"Line {number:,}"
        remark = line.startswith("#") and not words and "\t" not in line
        comment = _COMMENT.fullmatch(line.strip()) if remark else None
        if not line.strip() or comment or (remark and tabs) or line.startswith("-DOCSTART-"):
            if words:
                rows.append(_row(first, words, tags, split, places))
                words, tags, places = [], [], []
                if len(rows) > MAX_ROWS:
                    raise UserError(f"The file has more than {MAX_ROWS:,} sentences.")
            if comment and comment[1].lower() == "split":
                split = _split(comment[2].strip(), where)
            continue
        cells = [cell.strip(" ") for cell in line.split("\t")] if "\t" in line else line.split()
        width = width or len(cells)
        _check_width(len(cells), width, where)
        if not cells[0]:
            raise UserError(f"{where} has a tag and no token.")
        if not cells[-1]:
            raise UserError(f"{where} has a token and no tag.")
        first = first if words else number
        if len(words) >= MAX_WORDS:
            raise UserError(
                f"The sentence that begins in line {first:,} has over {MAX_WORDS:,} words; end it with a blank line."
            )
        words.append(cells[0])
        tags.append(cells[-1])
        places.append(where)
    if not rows:
        raise UserError("The file has no sentences.")
    return rows


def _check_width(cells: int, width: int, where: str) -> None:
    if cells == 1:
        raise UserError(f"{where} has one column; a token and its tag are needed.")
    if cells != width:
        raise UserError(f"{where} has {cells:,} columns, but the first line has {width}.")
    if width not in COLUMNS:
        raise UserError(
            f"{where} has {cells:,} columns; a CoNLL file has {COLUMNS[0]} to {COLUMNS[-1]}, the token first, its "
            "tag last."
        )


def _split(name: str, where: str) -> str:
    if name.lower() not in SPLITS:
        raise UserError(f"{where} names the split {name[:40]!r}; use train, validation or test.")
    return name


def _row(number: int, words: Sequence[str], tags: Sequence[str], split: str, places: Sequence[str]) -> TaggedRow:
    """One sentence, its tags known to have one of the forms that `_as_bio` reads."""
    if len(words) > MAX_WORDS:
        raise UserError(f"{places[0]} has {len(words):,} words; the limit is {MAX_WORDS:,}.")
    cleaned = []
    for word, tag, where in zip(words, tags, places, strict=True):
        if not word.strip():
            raise UserError(f"{where} has an empty token.")
        if len(word) > MAX_WORD:
            raise UserError(f"{where} has a word of {len(word):,} characters; the limit is {MAX_WORD}.")
        valid = tag == "O" or _TAG.fullmatch(tag)
        if not valid:
            raise UserError(f"{where} has the tag {tag[:40]!r}, which is neither O nor B- or I- with a type.")
        if len(tag) > MAX_TYPE + 2:
            raise UserError(f"{where} has a type of {len(tag) - 2:,} characters; the limit is {MAX_TYPE}.")
        cleaned.append(clean_text(word))
    return TaggedRow(number, tuple(cleaned), tuple(map(clean_text, tags)), split)


def _as_bio(rows: Sequence[TaggedRow]) -> list[TaggedRow]:
    """IOB1, IOBES and BILOU as BIO: S- and U- are B-, E-, L- and M- are I-, and every entity begins with B-."""
    prefixes = {tag[0] for row in rows for tag in row.tags}
    scheme = "IOBES" if prefixes & set("ESM") else "BILOU" if prefixes & set("LU") else ""
    plain: Mapping[str, str] = {"S": "B", "U": "B", "E": "I", "L": "I", "M": "I"}
    converted, begun = [], 0
    for row in rows:
        tags: list[str] = []
        before = ""  # the type of the entity that the word before is in
        for tag in row.tags:
            prefix, _, kind = tag.partition("-")
            prefix = plain.get(prefix, prefix)
            if prefix == "I" and kind != before:
                prefix = "B"
                begun += 1
            tags.append(f"{prefix}-{kind}" if kind else "O")
            before = kind
        converted.append(replace(row, tags=tuple(tags)))
    if scheme:
        note = f"The tags are {scheme}; they were converted to BIO."
    elif begun:
        note = f"{begun:,} entit{'y begins' if begun == 1 else 'ies begin'} with I- (IOB1); read as B-."
    else:
        return converted
    return [replace(row, note=note) for row in converted]
