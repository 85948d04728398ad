"""Rated sentence pairs: our own, those of a person's file, and STS-B from the Hub; or one sentence on what is wrong."""

import csv
import gzip
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

from demos.bert.embeddings.agreement import Pair, checked
from demos.bert.model.text import MASK, clean_text
from demos.errors import UserError
from demos.files import DATA
from demos.training.data.columns.mapping import Column, find_columns
from demos.training.data.file_tables import JSON, MAX_ROWS, TABLES, csv_rows, ending_of, separated, workbook_table
from demos.training.data.json_tables import LINES, LIST, objects_of, read_json
from demos.training.data.packed import unpacked
from demos.training.data.read_as import ReadAs, delimited
from demos.training.data.text_encoding import decode_text, file_bytes
from demos.training.data.upload_limit import MAX_UPLOAD

MAX_PAIRS = 3_000
MAX_LENGTH = 1_000  # characters in one sentence
MAX_SCORE = 1e6  # either side of 0; the squares of much larger ones overflow
MAX_CHARACTERS = 1_000_000  # in all, several times what 3,000 pairs of STS-B have
FIRST = ("sentence1", "sentence_1", "sentence_a", "text1", "text_a", "s1", "first", "anchor", "premise")
SECOND = ("sentence2", "sentence_2", "sentence_b", "text2", "text_b", "s2", "second", "positive", "hypothesis")
SCORE = ("score", "similarity", "similarity_score", "rating", "gold", "label", "gs")
OURS = DATA / "similarity.tsv"
# The files that the Massive Text Embedding Benchmark scores with: a compressed JSON object a line.
HUB_REPO = "mteb/stsbenchmark-sts"
HUB_REVISION = "b0fddb56ed78048fa8b90373c8a3cfc37b684831"
HUB_FILE = "validation.jsonl.gz"
HUB_TIMEOUT = 5.0  # seconds for the Hub to answer at all
FORM_KEYS = ("sentence1", "sentence2", "score")
OWN, UPLOAD, HUB = "ours", "file", "hub"  # where a part's menu takes the pairs from
AWAITED = "Choose a file of sentence pairs: sentence1, sentence2 and score, as CSV, Excel or JSON."
COLUMNS = (Column("sentence1", FIRST), Column("sentence2", SECOND), Column("score", SCORE))
_COMMA = re.compile(r"[+-]?\d+,\d+")
SAMPLE = '{"sentence1": "…", "sentence2": "…", "score": 3.5}'

PairRow = tuple[int, str, str, object]  # number in the file, first and second sentence, rating


@dataclass(frozen=True)
class Form:
    """The form of a file, for a program that reads it again."""

    kind: str  # csv, xlsx, or of JSON: jsonl (an object a line), json (a list), objects (one after the other)
    columns: tuple[int | str, int | str, int | str]  # of first sentence, second, score; keys in JSON
    delimiter: str = ","
    quoted: bool = True  # whether quotes around a field are taken off
    header: bool = False
    encoding: str = "utf-8"
    has_delimiter_line: bool = False  # whether a first line such as `sep=;` says it
    comma: bool = False  # whether scores are written as 3,5
    sheet: str = ""  # of a workbook
    masks: bool = False  # whether a text has [MASK], in any letters


@dataclass(frozen=True)
class Rated:
    """Pairs in the file's order, where they come from, and the file's form."""

    pairs: tuple[Pair, ...]
    name: str
    form: Form
    read_as: ReadAs | None = None  # of a reader's own file


def read_data(source: str, file: str | None) -> Rated:
    """The pairs that the data menu means. Raises UserError where there are none to be had."""
    if source == HUB:
        return hub_pairs()
    if source != UPLOAD:
        return our_pairs()
    if not file:
        raise UserError(AWAITED)
    return read_pairs(*unpacked(file_bytes(file), Path(file).name, TABLES))


@cache
def our_pairs() -> Rated:
    """The pairs that come with the project (assets/data/similarity.md), the kind of each among them."""
    rows = csv.DictReader(io.StringIO(OURS.read_text(encoding="utf-8")), delimiter="\t", quoting=csv.QUOTE_NONE)
    pairs = tuple(Pair(row["sentence1"], row["sentence2"], float(row["score"]), row["kind"]) for row in rows)
    return Rated(pairs, "assets/data/similarity.tsv", Form("csv", (2, 3, 0), "\t", quoted=False, header=True))


def read_pairs(data: bytes, name: str) -> Rated:
    """The pairs of a file that holds a table, its columns found by their names (sentence1, sentence2, score).

    Without such names three columns are taken as first sentence, second, score, and seven or more between tabs as
    STS-B's own files: genre, file, year, id, score, sentences. Raises UserError, naming the row, for what is broken.
    """
    suffix = ending_of(name, TABLES, data)
    if suffix == ".xlsx":
        table = workbook_table(data)
        rows, form = _from_table(
            [(number, list(cells)) for number, cells in table.rows], Form("xlsx", (0, 1, 2), sheet=table.read_as.sheet)
        )
        return _rated(rows, name, form, table.read_as)
    if suffix == ".parquet":
        raise UserError("A Parquet file can't be read here; save it as CSV or JSON.")
    text, encoding = decode_text(data)
    if suffix in JSON:
        rows, form, description = _from_json(text, encoding)
    else:
        delimiter, rest = separated(text, "\t,;")
        quoted = delimiter != "\t"  # between tabs a quote is the text's own
        table_rows = csv_rows(rest, delimiter, quoted)
        form = Form("csv", (0, 1, 2), delimiter, quoted, False, encoding, rest != text)
        rows, form = _from_table(table_rows, form)
        description = delimited(delimiter, len(table_rows[0][1]))
    return _rated(rows, name, form, ReadAs(description, encoding))


def _rated(rows: list[PairRow], name: str, form: Form, read_as: ReadAs) -> Rated:
    """The rows of a file as pairs. Raises UserError as `_pairs`."""
    pairs = _pairs(rows)
    masks = any(MASK in text for pair in pairs for text in (pair.first, pair.second))
    return Rated(pairs, Path(name).name, replace(form, masks=masks), read_as)


def hub_pairs() -> Rated:
    """STS-B's validation pairs from the Hub, at a pinned revision, or from this machine's copy of it.

    Raises UserError where they can't be had; then nothing changes.
    """
    from huggingface_hub import constants, hf_hub_download  # here: no other code needs the network
    from huggingface_hub.utils import get_session

    fetch = partial(
        hf_hub_download,
        repo_id=HUB_REPO,
        filename=HUB_FILE,
        repo_type="dataset",
        revision=HUB_REVISION,
        etag_timeout=HUB_TIMEOUT,
    )
    try:
        try:
            path = fetch(local_files_only=True)
        except Exception:
            get_session().head(constants.ENDPOINT, timeout=HUB_TIMEOUT)  # else the client retries for long
            path = fetch()
        with gzip.open(path) as file:
            data = file.read(MAX_UPLOAD + 1)
    except Exception as error:  # the client raises many kinds; each means the same to the reader
        raise UserError(
            "STS-B could not be downloaded from the Hugging Face Hub just now; the app's own pairs and your file "
            "work without it."
        ) from error
    return Rated(read_pairs(data, "stsb.jsonl").pairs, HUB_FILE, Form("jsonl", FORM_KEYS))


def _from_json(text: str, encoding: str) -> tuple[list[PairRow], Form, str]:
    """(the rows of a file of JSON objects, how a program reads them, the form in words); the first has the keys."""
    values, description = read_json(text, MAX_ROWS, SAMPLE)
    kind = {LINES: "jsonl", LIST: "json"}.get(description, "objects")
    if not values:
        return [], Form(kind, FORM_KEYS, encoding=encoding), description
    objects = objects_of(values, SAMPLE)
    header = tuple(objects[0][1])
    keys = [header[place] for place in _places(header)]
    rows = []
    for number, record in objects:
        first, second, score = (record.get(key) for key in keys)
        if not isinstance(first, str) or not isinstance(second, str):
            raise UserError(f"Row {number:,} has no text under {keys[0][:30]!r} and {keys[1][:30]!r}.")
        rows.append((number, first, second, score))
    return rows, Form(kind, (keys[0], keys[1], keys[2]), encoding=encoding), description


def _from_table(table: list[tuple[int, list[str]]], form: Form) -> tuple[list[PairRow], Form]:
    """The rows of a table, and the form with the columns that were found."""
    if not table:
        raise UserError("The file has no rows.")
    head = table[0][1]
    stsb = form.delimiter == "\t" and len(head) >= 7 and number_of(head[4]) is not None
    header = number_of(head[-1]) is None and not stsb
    if header:
        at = _places(head)
    elif len(head) == 3:
        at = (0, 1, 2)
    elif stsb:
        at = (5, 6, 4)
    else:
        raise UserError(
            f"The first row has {len(head)} column{'s' * (len(head) != 1)} and no names; it must name the "
            "columns sentence1, sentence2 and score."
        )
    rows: list[PairRow] = []
    for number, fields in table[1:] if header else table:
        if len(fields) <= max(at) or (at == (0, 1, 2) and len(fields) != len(head)):
            columns = f"{len(fields):,} column{'s' * (len(fields) != 1)}"
            raise UserError(f"Row {number:,} has {columns}, but the first row has {len(head)}.")
        rows.append((number, fields[at[0]], fields[at[1]], fields[at[2]]))
    comma = any(isinstance(score, str) and _COMMA.fullmatch(score.strip()) for *_, score in rows)
    return rows, replace(form, columns=at, header=header, comma=comma)


def _places(header: Sequence[str]) -> tuple[int, int, int]:
    """The places of the sentences and the score, by their names. Raises UserError where one lacks."""
    places = find_columns(header, COLUMNS)
    return places["sentence1"], places["sentence2"], places["score"]


def number_of(value: object) -> float | None:
    """A finite number, or None; a truth value is none."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(_point(value))
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _point(value: str | float) -> str | float:
    """A number as spreadsheets of many countries write it, 3,5, with a point; all else unchanged."""
    return value.replace(",", ".") if isinstance(value, str) and _COMMA.fullmatch(value.strip()) else value


def _pairs(rows: list[PairRow]) -> tuple[Pair, ...]:
    """The rows as pairs within the bounds, or the first broken one named."""
    if len(rows) > MAX_PAIRS:
        raise UserError(f"The file has more than {MAX_PAIRS:,} pairs.")
    pairs: list[Pair] = []
    characters = 0
    for number, first, second, rating in rows:
        score = number_of(rating)
        if score is None:
            raise UserError(f"Row {number:,} has a score that is not a number: {str(rating)[:20]!r}.")
        if abs(score) > MAX_SCORE:
            raise UserError(
                f"Row {number:,} has the rating {score:g}; it must be between −{MAX_SCORE:,.0f} and {MAX_SCORE:,.0f}."
            )
        texts = [" ".join(clean_text(text, f"Row {number:,}").split()) for text in (first, second)]
        for which, text in zip(("first", "second"), texts, strict=True):
            if not text:
                raise UserError(f"Row {number:,} has no {which} sentence.")
            if len(text) > MAX_LENGTH:
                raise UserError(
                    f"Row {number:,} has a sentence of {len(text):,} characters; the limit is {MAX_LENGTH:,}."
                )
            characters += len(text)
        if characters > MAX_CHARACTERS:
            raise UserError(f"The file has more than {MAX_CHARACTERS:,} characters of text up to row {number:,}.")
        pairs.append(Pair(texts[0], texts[1], score))
    return checked(pairs)
