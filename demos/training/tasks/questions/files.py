"""Questions on paragraphs from a file: SQuAD's JSON, or a table with question, context and answer columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demos.bert.model.text import clean_text
from demos.errors import UserError
from demos.training.data.cells import MAX_ROWS, decode_text
from demos.training.data.tables import SPLIT, Column, Record, read_columns

MAX_CONTEXT, MAX_QUESTION = 6_000, 500  # characters
MAX_ANSWERS = 10  # of one question
CONTEXT = Column("context", ("context", "paragraph", "passage", "document", "article", "text"))
QUESTION = Column("question", ("question", "query"))
ANSWERS = Column("answers", ("answers", "answer", "answer_text", "span"), True, "json")
START = Column("answer_start", ("answer_start", "start", "answer_starts"), False, "json")
QUESTION_COLUMNS = (CONTEXT, QUESTION, ANSWERS, START, SPLIT)
NOT_SQUAD = 'The file is not SQuAD\'s JSON: {"data": [{"paragraphs": [{"context": …, "qas": […]}]}]} is expected.'


@dataclass(frozen=True)
class QuestionRow:
    """One question on one paragraph; `number` counts questions from 1, or rows as a spreadsheet does."""

    number: int
    question: str
    context: str
    answers: tuple[str, ...]  # none for a question that the paragraph does not answer (SQuAD 2.0)
    start: int = 0  # the first answer's first character in the context
    split: str = ""


def read_questions(data: bytes, name: str) -> list[QuestionRow]:
    """The questions of SQuAD's JSON, or of a CSV, TSV, JSONL or JSON table.

    Raises UserError, one sentence that names the question or the row where there is one.
    """
    if Path(name).suffix.lower() == ".json":
        text = decode_text(data)
        if text.lstrip().startswith("{"):
            try:
                whole = json.loads(text)
            except (ValueError, RecursionError) as error:
                if "\n" in text.strip():  # one object a line, perhaps
                    return question_rows(read_columns(data, name, QUESTION_COLUMNS))
                raise UserError(NOT_SQUAD) from error
            if "data" in whole or "question" not in whole:
                return squad_rows(whole)
    return question_rows(read_columns(data, name, QUESTION_COLUMNS))


def squad_rows(whole: Mapping[str, Any]) -> list[QuestionRow]:
    """The questions of SQuAD 1.1 or 2.0; an article may say in "split" where it belongs. Raises UserError."""
    rows: list[QuestionRow] = []
    for article in _listed(whole, "data"):
        split = article.get("split") or ""
        for paragraph in _listed(article, "paragraphs"):
            context = paragraph.get("context")
            for asked in _listed(paragraph, "qas"):
                if len(rows) == MAX_ROWS:
                    raise UserError(f"The file has more than {MAX_ROWS:,} questions.")
                number = len(rows) + 1
                answers = [] if asked.get("is_impossible") is True else asked.get("answers")
                rows.append(
                    _row(number, f"Question {number:,}", asked.get("question"), context, answers, "", str(split))
                )
    if not rows:
        raise UserError("The file has no questions.")
    return rows


def question_rows(records: Sequence[Record]) -> list[QuestionRow]:
    """Questions from records of QUESTION_COLUMNS; answers as a text, a list, or SQuAD's object. Raises UserError."""
    rows = []
    for one in records:
        where = f"Row {one.number:,}"
        answers = one["answers"]
        if isinstance(answers, str) and not answers.strip():
            raise UserError(f"{where} has no answer.")
        split = one["split"].strip()
        rows.append(_row(one.number, where, one["question"], one["context"], answers, one["answer_start"], split))
    return rows


def _listed(holder: Any, key: str) -> list[dict[str, Any]]:
    found = holder.get(key) if isinstance(holder, dict) else None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise UserError(NOT_SQUAD)
    return found


def _row(number: int, where: str, question: Any, context: Any, said: Any, start: Any, split: str) -> QuestionRow:
    """A question whose answers stand in its context. Raises UserError for one that lacks something."""
    asked = " ".join((question if isinstance(question, str) else "").split())
    read = context if isinstance(context, str) else ""
    if not asked:
        raise UserError(f"{where} has no question.")
    if not read.strip():
        raise UserError(f"{where} has no paragraph to answer from.")
    for what, text, limit in (("question", asked, MAX_QUESTION), ("paragraph", read, MAX_CONTEXT)):
        if len(text) > limit:
            raise UserError(f"{where} has a {what} of {len(text):,} characters; the limit is {limit:,}.")
    asked, read = clean_text(asked), clean_text(read)
    found: list[tuple[str, int]] = []
    for answer, place in _answers(said, start)[:MAX_ANSWERS]:
        text = clean_text(answer, where).strip()
        at = find_answer(read, text, place)
        if at is None:
            shown = text if len(text) <= 40 else f"{text[:39]}…"
            raise UserError(f"{where} has the answer {shown!r}, which does not stand in its paragraph.")
        found.append((read[at : at + len(text)], at))
    answers = tuple(dict.fromkeys(text for text, _ in found))
    return QuestionRow(number, asked, read, answers, found[0][1] if found else 0, split)


def _answers(said: Any, start: Any) -> list[tuple[str, int | None]]:
    """Answers with their places where told: a text, a list of texts or of objects, or an object of two lists."""
    if isinstance(said, dict):
        start = said.get("answer_start", start)
        said = said.get("text")
    many = said if isinstance(said, list) else [said]
    places = start if isinstance(start, list) else [start]
    found: list[tuple[str, int | None]] = []
    for number, one in enumerate(many):
        place = places[number] if number < len(places) else None
        if isinstance(one, dict):
            place = one.get("answer_start", place)
            one = one.get("text")
        if isinstance(one, str | int | float) and str(one).strip():
            found.append((str(one), _whole(place)))
    return found


def _whole(place: Any) -> int | None:
    try:
        return int(place)
    except (TypeError, ValueError, OverflowError):
        return None


def find_answer(context: str, answer: str, place: int | None = None) -> int | None:
    """Where the answer begins: at `place` if it stands there, else where it first occurs, capitals last of all.

    None where it does not occur.
    """
    if not answer:
        return None
    if place is not None and place >= 0 and context.startswith(answer, place):
        return place
    at = context.find(answer)
    if at < 0 and len(context.lower()) == len(context) and len(answer.lower()) == len(answer):
        at = context.lower().find(answer.lower())
    return at if at >= 0 else None
