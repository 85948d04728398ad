"""Questions on paragraphs from a file: SQuAD's JSON, or a table with question, context and answer columns."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.files import Json
from demos.training.data.columns.mapping import Column, find, sheet_of
from demos.training.data.file_tables import JSON, MAX_ROWS, TABLES, ending_of, read_table
from demos.training.data.read_as import ReadAs
from demos.training.data.splits import Item, same
from demos.training.data.tables import SPLIT, ReadRows, Record, records_of
from demos.training.data.text_encoding import decode_text
from demos.training.tasks.question_answering.answer_places import (
    ReadPlaces,
    StatedAnswer,
    find_answer,
    read_places,
    whole_place,
)

MAX_CONTEXT, MAX_QUESTION = 6_000, 500  # characters
MAX_ANSWERS = 10  # of one question
CONTEXT = Column("context", ("context", "paragraph", "passage", "document", "article", "text"))
QUESTION = Column("question", ("question", "query"))
ANSWERS = Column("answers", ("answers", "answer", "answer_text", "span"), True, "json")
START = Column("answer_start", ("answer_start", "start", "answer_starts"), False, "json")
QUESTION_COLUMNS = (CONTEXT, QUESTION, ANSWERS, START, SPLIT)
QUESTION_WORDS = ("who", "what", "which", "when", "where", "why", "how")
NOT_SQUAD = 'The file is not SQuAD\'s JSON: {"data": [{"paragraphs": [{"context": …, "qas": […]}]}]} is expected.'


@dataclass(frozen=True)
class QuestionExample:
    """A question, its paragraph, and the answers that count as right, of which the first is trained on."""

    question: str
    context: str
    answers: tuple[str, ...] = ()  # none for a question that the paragraph does not answer (SQuAD 2.0)
    start: int = 0  # the first answer's first character in the context

    @property
    def end(self) -> int:
        """One past the first answer's last character."""
        return self.start + len(self.answers[0]) if self.answers else self.start

    @property
    def word(self) -> str:
        """The question word: the first that it has; "other" without one. "In what year" is a what."""
        words = (part.strip("?,.;:'’\"").lower() for part in self.question.split())
        question_word = next((word for word in words if word in (*QUESTION_WORDS, "whom", "whose")), "other")
        return "who" if question_word in ("whom", "whose") else question_word


@dataclass(frozen=True)
class QuestionRow(Item[QuestionExample]):
    """A question on its way into a split; `number` counts questions from 1, or rows as a spreadsheet does."""

    places: ReadPlaces = field(default_factory=ReadPlaces)  # of its whole file


@dataclass(frozen=True)
class _CheckedRow:
    """A question whose answers occur in its paragraph, before it is known what their places count."""

    number: int
    split: str
    question: str
    context: str
    answers: tuple[StatedAnswer, ...]


def read_questions(data: bytes, name: str, chosen: str = "") -> ReadRows:
    """The questions of SQuAD's JSON, or of a table (CSV, Excel, JSON).

    Raises UserError, one sentence that names the question or the row where there is one.
    """
    if ending_of(name, TABLES, data) in JSON:
        text, encoding = decode_text(data)
        whole = _whole_object(text)
        if whole is not None and _is_squad(whole):
            return ReadRows(squad_rows(whole), ReadAs("SQuAD’s JSON", encoding))
    table = read_table(data, name, sheet_of(chosen))
    mapping = find(table, QUESTION_COLUMNS, chosen=chosen)
    return ReadRows(question_rows(records_of(mapping, QUESTION_COLUMNS)), table.read_as, mapping)


def _is_squad(whole: Mapping[str, Any]) -> bool:
    """Whether the object is, or should be, SQuAD's and neither a question itself nor a list of them."""
    rows = next((value for value in whole.values() if isinstance(value, list)), [])
    return "question" not in whole and not (rows and isinstance(rows[0], dict) and "question" in rows[0])


def _whole_object(text: str) -> Json | None:
    """The object that a JSON file is; None for a list, and for objects one after the other.

    Raises UserError for one that is broken.
    """
    if not text.lstrip().startswith("{"):
        return None
    try:
        whole, end = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError) as error:
        if "\n" in text.strip():  # one object a line, perhaps
            return None
        raise UserError(NOT_SQUAD) from error
    return whole if not text.lstrip()[end:].strip() else None


def squad_rows(whole: Mapping[str, Any]) -> list[QuestionRow]:
    """The questions of SQuAD 1.1 or 2.0; an article may say in "split" where it belongs. Raises UserError."""
    rows: list[_CheckedRow] = []
    for article in _listed(whole, "data"):
        split = article.get("split") or ""
        for paragraph in _listed(article, "paragraphs"):
            context = paragraph.get("context")
            for qa in _listed(paragraph, "qas"):
                if len(rows) == MAX_ROWS:
                    raise UserError(f"The file has more than {MAX_ROWS:,} questions.")
                number = len(rows) + 1
                answers = [] if qa.get("is_impossible") is True else qa.get("answers")
                where, question = f"Question {number:,}", qa.get("question")
                rows.append(_checked(number, where, question, context, answers, "", str(split)))
    if not rows:
        raise UserError("The file has no questions.")
    return _placed(rows)


def question_rows(records: Sequence[Record]) -> list[QuestionRow]:
    """Questions from records of QUESTION_COLUMNS; answers as a text, a list, or SQuAD's object. Raises UserError."""
    rows = []
    for record in records:
        where = f"Row {record.number:,}"
        answers = record["answers"]
        if isinstance(answers, str) and not answers.strip():
            raise UserError(f"{where} has no answer.")
        split = record["split"].strip()
        rows.append(
            _checked(
                record.number, where, record["question"], record["context"], answers, record["answer_start"], split
            )
        )
    return _placed(rows)


def _listed(holder: Any, key: str) -> list[Json]:
    listed = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
        raise UserError(NOT_SQUAD)
    return listed


def _checked(
    number: int, where: str, question: Any, context: Any, answers_value: Any, start: Any, split: str
) -> _CheckedRow:
    """A question whose answers occur in its context. Raises UserError for one that lacks something."""
    question_text = " ".join((question if isinstance(question, str) else "").split())
    paragraph = context if isinstance(context, str) else ""
    if not question_text:
        raise UserError(f"{where} has no question.")
    if not paragraph.strip():
        raise UserError(f"{where} has no paragraph to answer from.")
    for what, text, limit in (("question", question_text, MAX_QUESTION), ("paragraph", paragraph, MAX_CONTEXT)):
        if len(text) > limit:
            raise UserError(f"{where} has a {what} of {len(text):,} characters; the limit is {limit:,}.")
    question_text, paragraph = clean_text(question_text), clean_text(paragraph)
    answers = []
    for answer, place in _answers(answers_value, start)[:MAX_ANSWERS]:
        text = clean_text(answer, where).strip()
        if find_answer(paragraph, text) is None:
            shown = text if len(text) <= 40 else f"{text[:39]}…"
            raise UserError(f"{where} has the answer {shown!r}, which does not occur in its paragraph.")
        answers.append(StatedAnswer(paragraph, text, place))
    return _CheckedRow(number, split, question_text, paragraph, tuple(answers))


def _placed(rows: Sequence[_CheckedRow]) -> list[QuestionRow]:
    """The questions of one file, with the places of its answers read in the units that fit them all."""
    places, starts = read_places([answer for row in rows for answer in row.answers])
    left, placed = iter(starts), []
    for row in rows:
        own = zip(row.answers, islice(left, len(row.answers)), strict=True)
        spans = [(row.context[at : at + len(answer.text)], at) for answer, at in own]
        answers = tuple(dict.fromkeys(text for text, _ in spans))
        example = QuestionExample(row.question, row.context, answers, spans[0][1] if spans else 0)
        placed.append(QuestionRow(row.number, same(row.context), "", row.split, example, places=places))
    return placed


def _answers(value: Any, start: Any) -> list[tuple[str, int | None]]:
    """Answers with their places if given: a text, a list of texts or of objects, or an object of two lists."""
    if isinstance(value, dict):
        start = value.get("answer_start", start)
        value = value.get("text")
    many = value if isinstance(value, list) else [value]
    places = start if isinstance(start, list) else [start]
    answers: list[tuple[str, int | None]] = []
    for number, answer in enumerate(many):
        place = places[number] if number < len(places) else None
        if isinstance(answer, dict):
            place = answer.get("answer_start", place)
            answer = answer.get("text")
        if isinstance(answer, str | int | float) and str(answer).strip():
            answers.append((str(answer), whole_place(place)))
    return answers
