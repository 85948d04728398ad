"""CoNLL's form: one token a line with its tags in columns, a blank line after each sentence."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from demos.errors import UserError
from demos.training.data.columns.headers import column_name
from demos.training.data.columns.mapping import Column, ColumnMap, find
from demos.training.data.file_tables import MAX_ROWS, Cells, Table
from demos.training.data.read_as import ReadAs
from demos.training.data.splits import SPLITS
from demos.training.data.text_encoding import lines_of
from demos.training.tasks.entities.tags import MAX_WORDS, TAG, TaggedRow, as_bio, tagged_row

LEAST_COLUMNS, FEW_COLUMNS, MOST_COLUMNS = 2, 4, 10  # of CoNLL-2003, of CoNLL-U
MAX_LINES = 400_000
MOST = 0.9  # of a column's cells that must be tags
CHUNKS = {"NP", "VP", "PP", "ADVP", "SBAR", "ADJP", "PRT", "CONJP", "INTJ", "LST", "UCP"}  # CoNLL-2000's, no entities
COLUMNS = (Column("tokens", ()), Column("tags", ()))
_COMMENT = re.compile(r"#\s*([\w.-]+(?: [\w.-]+)*)\s*[=:]\s*(.*)")
_INDEXED = re.compile(r"[01]\t.*")
_LANGUAGE = re.compile(r"([a-z]{2,3}):.+", re.DOTALL)  # before each token of PAN-X and WikiANN


@dataclass
class _Sentence:
    """The lines of one sentence: their numbers and their cells."""

    split: str
    numbers: list[int] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)


def read_conll(text: str, chosen: str = "") -> tuple[list[TaggedRow], ColumnMap]:
    """(the sentences, the columns of tokens and tags); "# split = test" goes before one sentence or many.

    Tokens are in the first column, or in the second where the first counts them; tags in the last that has entities
    tagged, or in the first where tokens are counted (GermEval has nested ones behind it). `chosen` says otherwise.
    Raises UserError that names the line.
    """
    sentences = _sentences(text)
    mapping = _mapping([cells for sentence in sentences for cells in sentence.cells], sentences, chosen)
    token, tag = (mapping.places[role][0] for role in ("tokens", "tags"))
    prefixed = language_of([cells[token] for sentence in sentences for cells in sentence.cells])
    rows = []
    for sentence in sentences:
        for number, cells in zip(sentence.numbers, sentence.cells, strict=True):
            if not cells[token]:
                raise UserError(f"Line {number:,} has a tag and no token.")
            if not cells[tag]:
                raise UserError(f"Line {number:,} has a token and no tag.")
        words = [cells[token][len(prefixed) :] for cells in sentence.cells]
        tags = [cells[tag] for cells in sentence.cells]
        places = [f"Line {number:,}" for number in sentence.numbers]
        rows.append(tagged_row(sentence.numbers[0], words, tags, sentence.split, places))
    return as_bio(rows), mapping


def language_of(tokens: Sequence[str]) -> str:
    """The prefix before each token, as `en:`; "" where not all have the same."""
    match = _LANGUAGE.fullmatch(tokens[0])
    before = f"{match[1]}:" if match else ""
    same = before and all(token.startswith(before) and len(token) > len(before) for token in tokens)
    return before if same and len(tokens) > 1 else ""


def _sentences(text: str) -> list[_Sentence]:
    """The lines by sentence, all as wide."""
    sentences: list[_Sentence] = []
    split, width, words = "", 0, 0
    tabs = "\t" in text
    lines = lines_of(text)
    if len(lines) > MAX_LINES:
        raise UserError(f"The file has more than {MAX_LINES:,} lines.")
    counted = any(map(_INDEXED.fullmatch, lines[:20]))
    for number, line in enumerate(lines, start=1):
        where = f"Line {number:,}"
        remark = line.startswith("#") and not words and ("\t" not in line or (counted and line.startswith("#\t")))
        comment = _COMMENT.fullmatch(line.strip()) if remark else None
        if not line.strip() or comment or (remark and tabs) or line.startswith("-DOCSTART-"):
            words = 0
            if comment and comment[1].lower() == "split":
                split = _split(comment[2].strip(), where)
            continue
        cells = [cell.strip(" ") for cell in line.split("\t")] if "\t" in line else line.split()
        width = width or len(cells)
        _check_width(len(cells), width, where)
        if not words:
            sentences.append(_Sentence(split))
            if len(sentences) > MAX_ROWS:
                raise UserError(f"The file has more than {MAX_ROWS:,} sentences.")
        words += 1
        if words > MAX_WORDS:
            first = sentences[-1].numbers[0]
            raise UserError(
                f"The sentence that begins in line {first:,} has over {MAX_WORDS:,} words; end it with a blank line."
            )
        sentences[-1].numbers.append(number)
        sentences[-1].cells.append(cells)
    if not sentences:
        raise UserError("The file has no sentences.")
    return sentences


def _mapping(rows: Sequence[list[str]], sentences: Sequence[_Sentence], chosen: str) -> ColumnMap:
    """The columns of tokens and tags."""
    names = [column_name(place) for place in range(len(rows[0]))]
    token = int(len(names) > LEAST_COLUMNS and all(_counts(sentence) for sentence in sentences))
    tagged = [place for place in range(token + 1, len(names)) if _holds_tags([cells[place] for cells in rows])]
    if not tagged and len(names) > FEW_COLUMNS:
        raise UserError(
            f"Line {sentences[0].numbers[0]:,} has {len(names)} columns, and in none of them most cells are tags such "
            "as B-PER or O."
        )
    tag = (tagged[0] if token else tagged[-1]) if tagged else len(names) - 1
    places: dict[str, tuple[int, ...]] = {"tokens": (token,), "tags": (tag,)}
    notes: tuple[str, ...] = ()
    if chosen:
        table = Table(tuple(names), list(enumerate(rows, start=1)), True, ReadAs("CoNLL"))
        choice = find(table, COLUMNS, chosen=chosen)
        places, notes = {**places, **choice.places}, choice.notes
    elif len(tagged) > 1:
        others = [names[place] for place in tagged if place != tag]
        notes = (f"The tags are those of {names[tag]}; {' and '.join(others)} also {_hold(others)} tags.",)
    listed: list[Cells] = list(enumerate(rows, start=1))
    return ColumnMap(tuple(names), listed, False, places, bool(chosen) or len(tagged) < 2, "", notes)


def _hold(columns: Sequence[str]) -> str:
    return "hold" if len(columns) > 1 else "holds"


def _counts(sentence: _Sentence) -> bool:
    """Whether the first column counts a sentence's tokens, from 0 or from 1."""
    first = sentence.cells[0][0]
    numbers = [cells[0] for cells in sentence.cells]
    return first in ("0", "1") and numbers == [str(int(first) + at) for at in range(len(numbers))]


def _holds_tags(cells: Sequence[str]) -> bool:
    """Whether most of a column's cells are tags of entities, and not all of them O."""
    tags = [match for cell in cells if cell != "O" and (match := TAG.fullmatch(cell))]
    outside = sum(cell == "O" for cell in cells)
    return bool(tags) and len(tags) + outside >= MOST * len(cells) and not {tag[2] for tag in tags} <= CHUNKS


def _check_width(cells: int, width: int, where: str) -> None:
    if cells == 1:
        raise UserError(f"{where} has one column; a token and its tag are needed.")
    if cells != width:
        raise UserError(f"{where} has {cells:,} columns, but the first line has {width}.")
    if width > MOST_COLUMNS:
        raise UserError(
            f"{where} has {cells:,} columns; a CoNLL file has {LEAST_COLUMNS} to {MOST_COLUMNS}, a token and its tag "
            "among them."
        )


def _split(name: str, where: str) -> str:
    if name.lower() not in SPLITS:
        raise UserError(f"{where} names the split {name[:40]!r}; use train, validation or test.")
    return name
