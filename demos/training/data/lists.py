"""Lists of sentences: our library's; a person's own, pasted or from a file, one a line or a column of a table."""

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.files import DATA
from demos.training.data.columns.mapping import Column, find
from demos.training.data.file_tables import MAX_ROWS, TABLES, ending_of, read_table
from demos.training.data.packed import unpacked
from demos.training.data.read_as import ReadAs
from demos.training.data.tables import LABEL_NAMES, TEXT, TEXT_NAMES, records_of
from demos.training.data.text_encoding import decode_text, file_bytes, lines_of

MAX_LINES = 2_000
MAX_LENGTH = 1_000  # characters in one sentence
LIBRARY = DATA / "library.tsv"
TOPIC = Column("topic", LABEL_NAMES, required=False)


@dataclass(frozen=True)
class Listed:
    """Sentences without repetition, and the topic of each where the file has a column for it, else ()."""

    sentences: tuple[str, ...]
    topics: tuple[str, ...] = ()
    read_as: ReadAs | None = field(default=None, compare=False)  # of a reader's own file


@cache
def our_library() -> Listed:
    """The sentences that come with the project, and their topics (assets/data/library.md)."""
    return read_list(LIBRARY.read_bytes(), LIBRARY.name)


def read_lines(text: str) -> Listed:
    """One sentence a line. Raises UserError for a text, a line or a number of lines over its limit, or for none."""
    lines = lines_of(clean_text(text, "The list"))
    return _listed([(number, line, "") for number, line in enumerate(lines, start=1)], "list")


def load_list(path: Path | str) -> Listed:
    """The list in a reader's own file. Raises UserError as `read_list` does, and where the file can't be read."""
    return read_list(*unpacked(file_bytes(path), Path(path).name, TABLES))


def read_list(data: bytes, name: str) -> Listed:
    """A text file's lines, or the text column of a table, found by its name in the first row.

    A table of one column needs no name; a column named topic or label becomes the topics.
    Raises UserError for what is no text, too much, or lacks a text column; a bad row is named.
    """
    if ending_of(name, TABLES, data) in (".txt", ""):
        text, encoding = decode_text(data)
        if text.count("\n") > MAX_ROWS:
            raise UserError(f"The file has more than {MAX_ROWS:,} lines; the limit is {MAX_LINES:,} sentences.")
        lines = lines_of(text)
        first = [cell.strip().lower() for cell in lines[0].split("\t")]
        if len(first) < 2 or not set(first) & set(TEXT_NAMES):  # else a table as a spreadsheet writes it as text
            listed = _listed([(number, line, "") for number, line in enumerate(lines, start=1)], "file")
            return replace(listed, read_as=ReadAs("text with one sentence per line", encoding))
    table = read_table(data, name)
    records = records_of(find(table, (TEXT, TOPIC), (TEXT.role,)), (TEXT, TOPIC))
    listed = _listed([(record.number, record["text"], record["topic"]) for record in records], "file")
    return replace(listed, read_as=table.read_as)


def _listed(rows: list[tuple[int, str, str]], what: str) -> Listed:
    """The rows' sentences, the first of equal ones; within the bounds, or refused in one sentence."""
    topic_of: dict[str, str] = {}
    for number, text, topic in rows:
        sentence = " ".join(clean_text(text, f"Row {number:,}").split())
        if len(sentence) > MAX_LENGTH:
            raise UserError(f"Row {number:,} has {len(sentence):,} characters; the limit for one is {MAX_LENGTH:,}.")
        if sentence:
            topic_of.setdefault(sentence, " ".join(topic.split())[:60])
    if not topic_of:
        raise UserError(f"The {what} has no sentence.")
    if len(topic_of) > MAX_LINES:
        raise UserError(f"The {what} has {len(topic_of):,} sentences; the limit is {MAX_LINES:,}.")
    topics = tuple(topic_of.values())
    return Listed(tuple(topic_of), topics if all(topics) and len(set(topics)) > 1 else ())
