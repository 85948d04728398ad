"""The rows that a task needs from a table, by the columns that were found; and labelled rows."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.files import DATA
from demos.training.data.columns.labels import (
    MAX_CLASSES,
    MAX_LABEL,
    MIN_CLASSES,
    clean_label,
    in_order,
    merged,
    merged_notes,
)
from demos.training.data.columns.mapping import Column, ColumnMap, find, value_at
from demos.training.data.columns.markup import without_markup
from demos.training.data.columns.profiles import LABELS, TEXTS
from demos.training.data.file_tables import Table, read_table
from demos.training.data.read_as import ReadAs
from demos.training.data.splits import count_of

EMOTION = DATA / "emotion.tsv"
SENTIMENT = DATA / "sentiment.tsv"
FILM_REVIEWS = DATA / "films.tsv"
MIN_PER_CLASS = 5
# Names of columns in small letters, the preferred first; the other languages after English.
TEXT_NAMES = (
    "text", "texts", "sentence", "sentences", "sentence1", "review", "content", "tweet", "message", "comment",
    "utterance", "document", "question", "query", "body", "input", "satz", "title", "phrase",
    "kommentar", "nachricht", "bewertung", "beitrag", "frage", "texte", "avis", "commentaire", "texto", "frase",
    "reseña", "comentario", "mensaje", "comentário", "mensagem", "testo", "recensione", "commento", "tekst", "zin",
    "recensie", "metin", "yorum", "tekst", "zdanie", "текст", "文本", "内容", "评论", "句子", "テキスト", "文", "문장",
)  # fmt: skip
LABEL_NAMES = (
    "label", "labels", "class", "classes", "category", "categories", "emotion", "sentiment", "target", "intent",
    "topic", "label_text", "gold", "polarity", "output", "y", "gold_label", "stance", "rating",
    "klasse", "kategorie", "stimmung", "gefühl", "thema", "classe", "catégorie", "étiquette", "émotion", "etiqueta",
    "clase", "categoría", "sentimiento", "emoción", "tema", "rótulo", "sentimento", "etichetta", "emozione",
    "categoria", "categorie", "etiket", "duygu", "etykieta",
    "метка", "класс", "标签", "类别", "情感", "ラベル", "레이블",
)  # fmt: skip
GROUP_NAMES = ("group", "group_id", "sentenceid", "sentence_id", "paragraph_id", "doc_id", "document_id", "thread_id")
SPLIT_NAMES = ("split", "set", "fold", "partition")


@dataclass(frozen=True)
class Record:
    """One row's values by role, "" where the row or the file has none.

    `number` counts from 1 as a spreadsheet does, a header included.
    """

    number: int
    values: Mapping[str, Any]

    def __getitem__(self, role: str) -> Any:
        return self.values[role]


class ReadRows(NamedTuple):
    """The result of reading a file for a task, the file's form, and the roles of its columns."""

    rows: Sequence[Any]
    read_as: ReadAs
    mapping: ColumnMap | None = None  # None of a form whose parts have names already

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences for the page."""
        return (*self.read_as.notes, *(self.mapping.notes if self.mapping else ()))


@dataclass(frozen=True)
class Row:
    """A labelled text, or a labelled pair of texts; `number` as Record's."""

    number: int
    text: str  # "" for none
    label: str  # as `clean_label` spells it; "" for none
    split: str = ""
    pair: str = ""
    group: str = ""  # rows of one group stay in one split; "" for none
    written: str = ""  # the label as the file has it, where that is another spelling
    lacks: str = ""  # why the row is left out


TEXT = Column("text", TEXT_NAMES, holds=TEXTS, many=True)
LABEL = Column("label", LABEL_NAMES, kind="json", holds=LABELS)
SPLIT = Column("split", SPLIT_NAMES, required=False)
GROUP = Column("group", GROUP_NAMES, required=False)
LABELLED = (TEXT, LABEL, SPLIT, GROUP)


def records_of(mapping: ColumnMap, columns: Sequence[Column]) -> list[Record]:
    """The rows of a table with the columns that were found.

    Raises UserError for a missing column and for no rows. An empty cell is the caller's to judge.
    """
    places = mapping.checked().places
    if not mapping.rows:
        raise UserError("The file has no rows.")

    def value(cells: Sequence[Any], column: Column) -> Any:
        read = value_of(value_at(cells, places[column.role]), column.kind) if column.role in places else ""
        return without_markup(read) if mapping.plain and column.holds == TEXTS else read

    return [Record(number, {column.role: value(cells, column) for column in columns}) for number, cells in mapping.rows]


def read_rows(data: bytes, name: str) -> list[Row]:
    """The labelled rows of a file that holds a table (`read_table`). Raises UserError as `rows_of` does."""
    return rows_of(read_table(data, name))


def rows_of(table: Table) -> list[Row]:
    """A table's labelled rows; their columns are found by names, or else by what they hold.

    Raises UserError as `records_of` and `labelled_rows` do.
    """
    return labelled_rows(records_of(find(table, LABELLED), LABELLED))


def labelled_rows(records: Sequence[Record], text: str = TEXT.role, pair: str = "") -> list[Row]:
    """Rows from records; `text` and `pair` are the roles of the sentences.

    Raises UserError for a label that is too long, and where most rows lack a text or a label.
    """
    rows = []
    for record in records:
        several = isinstance(record["label"], list) and len(record["label"]) > 1
        written = value_of(record["label"])
        label = clean_label(written)
        if len(label) > MAX_LABEL:
            raise UserError(
                f"Row {record.number:,} has a label of {len(label):,} characters; the limit is {MAX_LABEL}."
            )
        group = str(record.values.get("group", "")).strip()
        split, other = record["split"].strip(), record[pair] if pair else ""
        spelled = written if written.strip() != label else ""
        lacks = "several labels" if several else "" if label else "no label"
        lacks = lacks if record[text].strip() else "no text"
        rows.append(Row(record.number, record[text], label, split, other, group, spelled, lacks))
    refuse_most_lacking(rows)
    return rows


def refuse_most_lacking(rows: Sequence[Any]) -> None:
    """Raises UserError where half of the rows or more can't be used: those that say by `lacks` why."""
    lacking = [row for row in rows if row.lacks]
    if lacking and 2 * len(lacking) >= len(rows):
        most = f"; {len(lacking):,} of {len(rows):,} rows can't be used" if len(lacking) > 1 else ""
        raise UserError(f"Row {lacking[0].number:,} has {lacking[0].lacks}{most}.")


def left_out_notes(left_out: Mapping[str, int]) -> list[str]:
    """A sentence for each reason with the number of its rows."""
    return [f"{count_of(count, 'row')} left out: {reason}." for reason, count in left_out.items()]


def usable(rows: Sequence[Row]) -> tuple[list[Row], dict[str, int], list[str]]:
    """(the rows with a text and a label, how many were left out for which reason, notes on both and on spellings).

    Labels that differ in capitals alone are one class, spelled as most rows have it. Texts have no blanks around them.
    """
    used, left_out = [], Counter[str]()
    for row in rows:
        text, pair = (clean_text(each, f"Row {row.number:,}").strip() for each in (row.text, row.pair))
        if row.lacks or not text:  # of invisible signs alone
            left_out[row.lacks or "no text"] += 1
        else:
            used.append(replace(row, text=text, pair=pair, label=clean_text(row.label)))
    spelling = merged([row.label for row in used])
    classed = [replace(row, label=spelling[row.label]) for row in used]
    notes = left_out_notes(left_out)
    written = ((row.written or row.label, new.label) for row, new in zip(used, classed, strict=True))
    return classed, dict(left_out), notes + merged_notes(written)


def class_names(rows: Sequence[Row], noun: str = "sentence", repeated: Sequence[Row] = ()) -> tuple[str, ...]:
    """The labels of different rows in their order; `repeated` are the rows before equal ones were taken out.

    Raises UserError for too few or too many classes, or one with too few rows.
    """
    counts = Counter(row.label for row in rows)
    if len(counts) < MIN_CLASSES and len({row.label for row in repeated}) >= MIN_CLASSES:
        raise UserError(
            f"A repeated {noun} counts once, with its first label, so only the class {next(iter(counts))!r} is left; "
            "at least two classes are needed."
        )
    if len(counts) < MIN_CLASSES:
        raise UserError(f"Every row has the same label, {next(iter(counts))!r}; at least two classes are needed.")
    if len(counts) > MAX_CLASSES:
        raise UserError(f"The label column has {len(counts):,} different values; the limit is {MAX_CLASSES} classes.")
    rare, least = min(counts.items(), key=lambda item: item[1])
    if least < MIN_PER_CLASS:
        row = next(row for row in rows if row.label == rare)
        raise UserError(
            f"The class {rare!r} (row {row.number}) has {count_of(least, f'different {noun}')}; "
            f"each class needs at least {MIN_PER_CLASS}."
        )
    return in_order(counts)


def value_of(value: object, kind: str = "text") -> Any:
    """A cell or a JSON value as its column's kind has it; a list of one text is that text."""
    if kind == "json":
        if isinstance(value, str) and value[:1] in ("[", "{"):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                return value
        if isinstance(value, dict | list):
            return value
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if value is None or isinstance(value, dict | list) or value != value:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)
