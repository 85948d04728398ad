"""The lines that make of a table's rows what a task's program reads, and what these need."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from demos.templates import templates
from demos.training.data.columns.labels import NOTHING, is_missing
from demos.training.data.tables import Row, value_of
from demos.training.tasks.entities.files import a_word_a_row
from demos.training.tasks.multi_label.label_sets import LISTED, MARKED, MARKS, TRUTHS, LabelSets
from demos.training.tasks.multiple_choice.data import ENDINGS, LETTERS, MIN_ENDINGS
from demos.training.tasks.question_answering.answer_places import CHARACTERS

TEXT = templates(__file__, "text_data_program.txt")
LABELS = (  # how a label names the right ending: a pattern, and the ending's place
    ("[0-9]{1,2}", "int(label){base}"),
    (r"[0-9]{1,2}\.0", "int(float(label)){base}"),
    ("ending_?[0-9]", "int(label[-1])"),
    (f"[{LETTERS}{LETTERS.lower()}]", f"{LETTERS!r}.index(label.upper())"),
    ("(?s:.*)", '[" ".join(str(ending).split()) for ending in row["endings"]].index(label)'),
)


def shaped(
    kind: str,
    variable: str,
    records: Sequence[Mapping[str, Any]],
    parsed: Collection[str],
    rows: Sequence[Any],
    spelling: Mapping[str, str],
) -> tuple[str, tuple[str, ...]]:
    """(the lines after the table's, which make of it what the task's program reads; their imports).

    `parsed` are the roles whose cells are lists as JSON in text, `rows` what the page makes of the records, `spelling`
    each label's class.
    """
    lines, imports = f"{TEXT.parsed(variable, sorted(parsed))}\n" if parsed else "", ["import json"] if parsed else []
    if kind == "choice":
        lines_of_choices, needed = _choices(variable, records, rows)
        return lines + lines_of_choices, (*imports, *needed)
    if kind == "entities":
        single = a_word_a_row(*([row.get(role, "") for row in records] for role in ("tokens", "tags", "group")))
        return lines + str((TEXT.grouped if single else TEXT.tagged)(variable)), tuple(imports)
    if kind in ("sentence", "pair"):
        return lines + _labelled(variable, records, rows, spelling), tuple(imports)
    if kind == "question":
        return lines + answers_lines(variable, rows), tuple(imports)
    lacking = {str(record["score"]).strip().lower() for record, row in zip(records, rows, strict=True) if row.lacks}
    missing = set(filter(is_missing, lacking))
    if "" in missing:  # as pandas has what is empty in JSON
        missing |= {"nan", "none"}
    texts = any(row.lacks == "no text" for row in rows)
    return lines + str(TEXT.scored(variable, sorted(missing), texts)), tuple(imports)


def answers_lines(variable: str, rows: Sequence[Any]) -> str:
    """The lines that find where each first answer begins."""
    units = rows[0].places.units
    return str(TEXT.answers(variable, "" if units == CHARACTERS else units))


def _labelled(
    variable: str, records: Sequence[Mapping[str, Any]], rows: Sequence[Row], spelling: Mapping[str, str]
) -> str:
    """The lines that give rows the spelling of their class, and leave out those that the page leaves out."""
    listed = any(isinstance(record["label"], list) for record in records)
    pairs = [(value_of(record["label"]).strip(), row) for record, row in zip(records, rows, strict=True)]
    spelled = {written: spelling[row.label] for written, row in pairs if row.label and written != spelling[row.label]}
    missing = {written.lower() for written, row in pairs if not row.label}
    if "" in missing:  # as pandas has what is empty in JSON
        missing |= {"nan", "none"} - {row.label.lower() for row in rows}
        spelled |= {f"{label}.0": label for label in set(spelling.values()) if label.lstrip("+-").isdigit()}
    texts = [
        name for name in ("text", "sentence1") if any(row.lacks == "no text" for row in rows) and name in records[0]
    ]
    return str(TEXT.labelled(variable, listed, spelled, sorted(missing), texts, ascii))


def _choices(variable: str, records: Sequence[Mapping[str, Any]], rows: Sequence[Any]) -> tuple[str, tuple[str, ...]]:
    places = [column.role for column in ENDINGS if records[0].get(column.role)]
    listed = records[0].get("endings")
    endings = f"[row[name] for name in {places}]"
    if listed and len(places) < MIN_ENDINGS:
        endings = 'row["endings"]["text"]' if isinstance(listed, dict) else 'row["endings"]'
    labels = [" ".join(str(record["label"]).split()) for record in records]
    forms = [next(form for form in LABELS if re.fullmatch(form[0], label)) for label in labels]
    numbered = zip(labels, forms, rows, strict=True)
    base = next((int(float(label)) - row.value.label for label, (_, place), row in numbered if "{base}" in place), 0)
    used = [(form[0], form[1].replace("{base}", f" - {base}" if base else "")) for form in LABELS if form in forms]
    return str(TEXT.choices(variable, endings, used)), ("import re",) if len(used) > 1 else ()


def label_lines(
    variable: str, sets: LabelSets, cells: Sequence[Sequence[Any]], header: Sequence[str] = (), parsed: bool = False
) -> tuple[str, tuple[str, ...]]:
    """(the lines that make lists of labels of the cells, their imports); `cells` are those of the sets' columns.

    `parsed`: the cells were read as lists here, but the program finds them as JSON in text.
    """
    if sets.form == MARKED:
        names = [header[place] for place in sets.places]
        marks = tuple(mark for mark, there in (MARKS | TRUTHS).items() if there)
        return str(
            TEXT.label_columns(variable, names, marks, any(name != " ".join(name.split()) for name in names))
        ), ()
    written = [cell for (cell,) in cells]
    if sets.form == LISTED:
        lists = [cell for cell in written if isinstance(cell, str) and cell.strip().startswith("[")]
        if not lists and not parsed:
            return str(TEXT.label_lists(variable, "")), ()
        parse = "json.loads" if all(map(_is_json, lists)) else "ast.literal_eval"
        return str(TEXT.label_lists(variable, parse)), (f"import {parse.partition('.')[0]}",)
    nothing = any(not isinstance(cell, str) or cell.strip().lower() in NOTHING for cell in written)
    return str(
        TEXT.label_texts(
            variable, repr(sets.separator) if sets.separator else "", tuple(sorted(NOTHING)) if nothing else ()
        )
    ), ()


def _is_json(text: str) -> bool:
    """Whether the text is JSON: Python's own writing of a list need not be."""
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
