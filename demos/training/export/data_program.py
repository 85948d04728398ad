"""The lines of a program that read a recipe's data with pandas, datasets or Python alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demos.files import DATA
from demos.templates import templates
from demos.training.data.file_tables import Table, read_table
from demos.training.data.hub_data import fetch, hub_name
from demos.training.data.json_tables import LINES, LIST
from demos.training.data.read_as import ReadAs
from demos.training.data.splits import SHARES, SPLITS
from demos.training.data.tables import labelled_places, places_of
from demos.training.data.text_encoding import file_bytes
from demos.training.export.recipe_file import Recipe
from demos.training.form_values import HUB, UPLOAD
from demos.training.sources import reader_of
from demos.training.tasks.multiple_choice.data import ENDINGS, LETTERS

TEXT = templates(__file__, "text_data_program.txt")
BUNDLED = {
    "emotion": "emotion.tsv", "sentiment": "sentiment.tsv", "paraphrase": "paraphrase.tsv",
    "entailment": "entailment.tsv", "entities": "entities.conll", "questions": "questions.json",
    "unanswerable": "unanswerable.json",
    "endings": "endings.tsv", "similarity": "similarity.tsv",
}  # fmt: skip
PANDAS, DRAW = "import pandas as pd", "from sklearn.model_selection import train_test_split"


@dataclass(frozen=True)
class Reading:
    """Imports, and the lines that fill `train` and `test`."""

    imports: tuple[str, ...]
    lines: str


@dataclass(frozen=True)
class _File:
    imports: tuple[str, ...]
    lines: str
    splits: tuple[str, ...]  # the names of splits that its rows use


def reading_of(recipe: Recipe) -> Reading | None:
    """How a program reads this recipe's data; None for the few forms that take more lines than a student wants to read.

    Raises UserError where the page itself can't read it.
    """
    if recipe.data == HUB:
        return _from_hub(recipe)
    own = recipe.data == UPLOAD
    path = Path(recipe.file) if own else DATA / BUNDLED[recipe.data]
    first = _file(recipe.task, path, path.name if own else f"assets/data/{path.name}", "rows")
    if first is None:
        return None
    if own and recipe.test_file:
        second = _file(recipe.task, Path(recipe.test_file), Path(recipe.test_file).name, "test")
        if second is None:
            return None
        train = TEXT.by_split(*_parts(first.splits)).splitlines()[0] if first.splits else "train = rows"
        return _reading((*first.imports, *second.imports), f"{first.lines}\n{second.lines}\n{train}")
    if first.splits:
        return _reading(first.imports, f"{first.lines}\n{TEXT.by_split(*_parts(first.splits))}")
    return _reading((*first.imports, DRAW), f"{first.lines}\n{TEXT.drawn(recipe.task, recipe.settings.seed)}")


def _reading(imports: Sequence[str], lines: str) -> Reading:
    """Python's own imports before the others, each once."""
    ours = ("pandas", "sklearn", "datasets")
    every = {*imports, "import random"}
    return Reading(tuple(sorted(every, key=lambda line: (any(name in line for name in ours), line))), lines)


def _parts(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the split to train on, and of the one to test with; validation serves where there is no test."""
    train, test, validation = (
        tuple(name for name in names if SPLITS[name] == part) for part in ("train", *SHARES)
    )  # fmt: skip
    return train, test or validation


def _file(kind: str, path: Path, shown: str, variable: str) -> _File | None:
    data, reader = file_bytes(path), reader_of(kind)
    rows, read_as = reader.read(data, path.name)
    splits = tuple(sorted({row.split.strip().lower() for row in rows} - {""}))
    if any(getattr(row, "note", "") for row in rows):  # tags of another scheme than BIO
        return None
    more = ("import re", "import string") if kind == "question" else ()
    if read_as.form.startswith("CoNLL"):
        return _File(("import re",), TEXT.conll(repr(shown), repr(_encoding(read_as)), variable), splits)
    if read_as.form == "SQuAD’s JSON":
        return _File(("import json", *more), TEXT.squad(repr(shown), repr(_encoding(read_as)), variable), splits)
    table = read_table(data, path.name)
    if kind == "sentence":
        table_rows, places, named = labelled_places(table)
    else:
        table_rows, places, named = places_of(table, reader.columns, reader.nameless)
    columns = {(table.header[place] if named else place): role for role, place in places.items()}
    reading = _pandas(table, repr(shown), named)
    shaped = _shaped(
        kind, variable, [{role: cells[place] for role, place in places.items()} for _, cells in table_rows]
    )
    if not reading or shaped is None:
        return None
    renamed = {column: role for column, role in columns.items() if column != role}
    return _File((PANDAS, *more), f"{TEXT.table(reading, renamed, variable)}\n{shaped}".strip(), splits)


def _encoding(read_as: ReadAs) -> str:
    return "utf-8-sig" if read_as.encoding == "utf-8" else read_as.encoding


def _pandas(table: Table, path: str, named: bool) -> str:
    """The expression that reads a table; "" for JSON that pandas does not take."""
    read_as = table.read_as
    if table.keyed:
        known = read_as.form in (LINES, LIST)
        return f"pd.read_json({path}, lines={read_as.form == LINES}, dtype=False)" if known else ""
    options = "dtype=str, keep_default_na=False" + ("" if named else ", header=None")
    if not read_as.encoding:
        return f"pd.read_excel({path}, {options})"
    options += "" if read_as.quoted else ", quoting=3"  # quotes are the text's own
    options += f", skiprows={read_as.skipped}" if read_as.skipped else ""
    return f"pd.read_csv({path}, sep={read_as.delimiter!r}, encoding={_encoding(read_as)!r},\n    {options})"


def _shaped(kind: str, variable: str, rows: Sequence[Mapping[str, Any]]) -> str | None:
    """The lines after the table's: what the task's program reads; None for a form that they do not cover."""
    lists = any(str(row.get(role, ""))[:1] in ("[", "{") for row in rows for role in ("tokens", "answers", "endings"))
    as_text = lists and any(isinstance(row.get(role), str) for row in rows for role in ("tokens", "answers", "endings"))
    if as_text:  # JSON inside a cell
        return None
    if kind == "choice":
        return _choices(variable, rows)
    if kind == "similarity":
        return str(TEXT.scored(variable))
    if kind == "question":
        return str(TEXT.answers(variable))
    if kind == "entities":
        single = len(rows) > 1 and all(
            isinstance(row["tokens"], str) and len(row["tokens"].split()) == 1 for row in rows
        )
        return str(TEXT.grouped(variable) if single else TEXT.tagged(variable))
    return str(TEXT.labelled(variable))


def _choices(variable: str, rows: Sequence[Mapping[str, Any]]) -> str | None:
    places = [column.role for column in ENDINGS if rows[0].get(column.role)]
    endings = f"[row[name] for name in {places}]"
    if not places:
        endings = 'row["endings"]["text"]' if isinstance(rows[0]["endings"], dict) else 'row["endings"]'
    labels = {str(row["label"]).strip() for row in rows}
    if all(label.isdecimal() for label in labels):
        count = len(places) or 4
        base = 1 if "0" not in labels and str(count) in labels else 0
        return str(TEXT.choices(variable, endings, 'int(row["label"])' + (" - 1" if base else "")))
    if all(len(label) == 1 for label in labels):
        return str(TEXT.choices(variable, endings, f'{LETTERS!r}.index(str(row["label"]).strip().upper())'))
    return None


def _from_hub(recipe: Recipe) -> Reading | None:
    fetched = fetch(recipe.hub, reader_of(recipe.task).columns)
    columns = {role: name for role, name in fetched.columns.items() if role != "split"}
    if not columns:
        return None
    shaped = ""
    if recipe.task in ("question", "choice", "similarity"):
        rows = [record.values for record in fetched.records]
        texts = {"question": TEXT.answers, "similarity": TEXT.scored}
        shaping = _choices("rows", rows) if recipe.task == "choice" else str(texts[recipe.task]("rows"))
        if shaping is None:
            return None
        shaped = shaping
    repository, config, _ = hub_name(recipe.hub)
    lines = TEXT.hub(
        kind=recipe.task,
        repository=repr(repository),
        config=repr(config) if config else "",
        columns=list(columns.values()),
        renamed={name: role for role, name in columns.items() if name != role},
        train=repr(fetched.splits.get("train") or next(iter(fetched.splits.values()))),
        test=repr(test) if (test := fetched.splits.get("test") or fetched.splits.get("validation")) else "",
        shaped=shaped,
    )
    more = ("import re", "import string") if recipe.task == "question" else ()
    imports = ("from datasets import load_dataset", *more)
    if not test:
        return _reading((*imports, DRAW), f"{lines}\n{TEXT.drawn(recipe.task, recipe.settings.seed)}")
    return _reading(imports, lines)
