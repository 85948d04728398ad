"""The lines of a program that read a recipe's data with pandas, datasets or Python alone."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demos.files import DATA
from demos.templates import templates
from demos.training.data.file_tables import Table, read_table
from demos.training.data.hub_data import fetch, hub_name
from demos.training.data.json_tables import LINES
from demos.training.data.read_as import ReadAs
from demos.training.data.splits import SHARES, SPLITS
from demos.training.data.tables import labelled_places, places_of, value_of
from demos.training.data.text_encoding import decode_text, file_bytes, lines_of
from demos.training.export.label_lines import label_lines
from demos.training.export.recipe_file import Recipe
from demos.training.form_values import HUB, UPLOAD
from demos.training.sources import reader_of
from demos.training.tasks.multi_label.data import find_labels
from demos.training.tasks.multi_label.label_sets import MARKED, label_sets
from demos.training.tasks.multiple_choice.data import ENDINGS, LETTERS, MIN_ENDINGS

TEXT = templates(__file__, "text_data_program.txt")
BUNDLED = {
    "emotion": "emotion.tsv", "sentiment": "sentiment.tsv", "films": "films.tsv", "paraphrase": "paraphrase.tsv",
    "entailment": "entailment.tsv", "entities": "entities.conll", "questions": "questions.json",
    "unanswerable": "unanswerable.json",
    "endings": "endings.tsv", "similarity": "similarity.tsv", "restaurants": "restaurants.jsonl",
}  # fmt: skip
SPLIT_LINE = re.compile(r"#\s*split\s*[=:]\s*\w+\s*")
LABELS = (  # how a label names the right ending: a pattern, and the ending's place
    ("[0-9]{1,2}", "int(label){base}"),
    (r"[0-9]{1,2}\.0", "int(float(label)){base}"),
    ("ending_?[0-9]", "int(label[-1])"),
    (f"[{LETTERS}{LETTERS.lower()}]", f"{LETTERS!r}.index(label.upper())"),
    ("(?s:.*)", '[" ".join(str(ending).split()) for ending in row["endings"]].index(label)'),
)
UNQUOTED = f"{TEXT.unquoted()}\n\n"  # a function
PANDAS, DRAW = "import pandas as pd", "from sklearn.model_selection import train_test_split"


@dataclass(frozen=True)
class Reading:
    """Imports, and the lines that fill `train` and `test`."""

    imports: tuple[str, ...]
    lines: str
    validation: str  # the expression of the rows for validation; "" where no split beside the test's is for them


@dataclass(frozen=True)
class _File:
    imports: tuple[str, ...]
    lines: str
    splits: tuple[str, ...]  # the names of splits that its rows use


def reading_of(recipe: Recipe) -> Reading:
    """How a program reads this recipe's data, as the page does.

    Raises UserError where the page itself can't read it.
    """
    if recipe.data == HUB:
        return _from_hub(recipe)
    own = recipe.data == UPLOAD
    path = Path(recipe.file) if own else DATA / BUNDLED[recipe.data]
    first = _file(recipe.task, path, path.name if own else f"assets/data/{path.name}", "rows")
    if own and recipe.test_file:
        second = _file(recipe.task, Path(recipe.test_file), Path(recipe.test_file).name, "test")
        train = TEXT.by_split(*_parts(first.splits)).splitlines()[0] if first.splits else "train = rows"
        lines = second.lines if UNQUOTED not in first.lines else second.lines.replace(UNQUOTED, "")
        return _reading(
            (*first.imports, *second.imports), f"{first.lines}\n{lines}\n{train}", _validation([*first.splits, "test"])
        )
    if first.splits:
        lines = f"{first.lines}\n{TEXT.by_split(*_parts(first.splits))}"
        return _reading(first.imports, lines, _validation(first.splits))
    return _reading((*first.imports, DRAW), f"{first.lines}\n{TEXT.drawn(recipe.task, recipe.settings.seed)}")


def _reading(imports: Sequence[str], lines: str, validation: str = "") -> Reading:
    """Python's own imports before the others, each once."""
    ours = ("pandas", "sklearn", "datasets")
    every = {*imports, "import random"}
    ordered = tuple(sorted(every, key=lambda line: (any(name in line for name in ours), line)))
    return Reading(ordered, lines, validation)


def _validation(names: Sequence[str]) -> str:
    """The rows of these splits that are for validation; "" where there are none, or no other split to test on."""
    named = tuple(name for name in names if SPLITS[name] == "validation")
    if not named or all(SPLITS[name] != "test" for name in names):
        return ""
    return f'[row for row in rows if str(row["split"]).strip().lower() in {named}]'


def _parts(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the split to train on, and of the one to test with; validation serves where there is no test."""
    train, test, validation = (
        tuple(name for name in names if SPLITS[name] == part) for part in ("train", *SHARES)
    )  # fmt: skip
    return train, test or validation


def _file(kind: str, path: Path, shown: str, variable: str) -> _File:
    data, reader = file_bytes(path), reader_of(kind)
    rows, read_as = reader.read(data, path.name)
    splits = tuple(sorted({row.split.strip().lower() for row in rows} - {""}))
    bio = f"\n{TEXT.bio(variable)}" if any(getattr(row, "note", "") for row in rows) else ""  # of another scheme
    more = ("import re", "import string") if kind == "question" else ()
    if read_as.form.startswith("CoNLL"):
        blanks = any(" " in word for row in rows for word in row.words)
        lines = TEXT.conll(repr(shown), repr(_encoding(read_as)), variable, blanks, _remarks(decode_text(data)[0]))
        return _File(("import re",), f"{lines}{bio}", splits)
    if read_as.form == "SQuAD’s JSON":
        return _File(("import json", *more), TEXT.squad(repr(shown), repr(_encoding(read_as)), variable), splits)
    table = read_table(data, path.name)
    if kind == "labels":
        return _labels_file(table, shown, variable, data, splits)
    if kind == "sentence":
        table_rows, places, named = labelled_places(table)
    else:
        table_rows, places, named = places_of(table, reader.columns, reader.nameless)
    columns = {(table.header[place] if named else place): role for role, place in places.items()}
    kinds = {column.role: column.kind for column in reader.columns}
    cells = [{role: cells[place] for role, place in places.items()} for _, cells in table_rows]
    records = [{role: value_of(cell, kinds.get(role, "text")) for role, cell in row.items()} for row in cells]
    parsed = {
        role
        for row, record in zip(cells, records, strict=True)
        for role, cell in row.items()
        if isinstance(cell, str) and not isinstance(record[role], str)
    }
    renamed = {column: role for column, role in columns.items() if column != role}
    before, reading, needed = _pandas(table, repr(shown), named, data)
    reading += _dropped(table, columns)
    lines, shaping = _shaped(kind, variable, records, parsed, rows)
    text = f"{before}\n{TEXT.table(reading, renamed, variable)}\n{lines}{bio}".strip()
    return _File((PANDAS, *needed, *shaping, *more), text, splits)


def _dropped(table: Table, columns: Mapping[Any, str]) -> str:
    """What leaves out the columns that are called as a role but are no role's; "" where there are none."""
    taken = [
        role for column, role in columns.items() if column != role and role in table.header and role not in columns
    ]
    return f".drop(columns={taken})" if taken else ""


def _labels_file(table: Table, shown: str, variable: str, data: bytes, splits: tuple[str, ...]) -> _File:
    """The lines for a table whose rows have any number of labels."""
    where = find_labels(table)
    places = {"text": where.text} | ({"split": where.split} if where.split is not None else {})
    if where.sets.form != MARKED:
        places["labels"] = where.sets.places[0]
    columns = {(table.header[place] if where.named else place): role for role, place in places.items()}
    before, reading, needed = _pandas(table, repr(shown), where.named, data)
    renamed = {column: role for column, role in columns.items() if column != role}
    cells = [[row[place] for place in where.sets.places] for _, row in where.rows]
    lines, imports = label_lines(variable, where.sets, cells, table.header)
    text = f"{before}\n{TEXT.table(reading + _dropped(table, columns), renamed, variable)}\n{lines}".strip()
    return _File((PANDAS, *needed, *imports), text, splits)


def _remarks(text: str) -> str:
    """The condition by which a CoNLL file's lines are remarks; "" where it has none but those that name a split."""
    lines = lines_of(text)
    if not any(line.startswith("#") and "\t" not in line and not SPLIT_LINE.fullmatch(line) for line in lines):
        return ""
    if "\t" in text:
        return 'line.startswith("#") and "\\t" not in line'
    return r're.match(r"#\s*\w[\w. -]*[=:]", line)'


def _encoding(read_as: ReadAs) -> str:
    return "utf-8-sig" if read_as.encoding == "utf-8" else read_as.encoding


def _pandas(table: Table, path: str, named: bool, data: bytes) -> tuple[str, str, tuple[str, ...]]:
    """(lines before it, the expression that reads a table, more imports)."""
    read_as = table.read_as
    if table.keyed:
        return _json(read_as, path, data)
    options = "dtype=str, keep_default_na=False" + ("" if named else ", header=None")
    if not read_as.encoding:
        return "", f"pd.read_excel({path}, {options})", ()
    options += "" if read_as.quoted else ", quoting=3"  # quotes are the text's own
    options += f", skiprows={read_as.skipped}" if read_as.skipped else ""
    reading = f"pd.read_csv({path}, sep={read_as.delimiter!r}, encoding={_encoding(read_as)!r},\n    {options})"
    if not table.unquoted:
        return "", reading, ()
    reading += f"{'.rename(columns=unquoted)' if named else ''}.map(unquoted)"
    return UNQUOTED, reading, ("import re",)


def _json(read_as: ReadAs, path: str, data: bytes) -> tuple[str, str, tuple[str, ...]]:
    """The same of JSON: pandas reads a list and lines; Python a list in an object, and objects one after the other."""
    encoding = repr(_encoding(read_as))
    whole = None if read_as.form == LINES else _whole(decode_text(data)[0])
    if read_as.form == LINES or isinstance(whole, list):
        return "", f"pd.read_json({path}, lines={whole is None}, dtype=False, encoding={encoding})", ()
    key = next((key for key, value in (whole or {}).items() if isinstance(value, list)), None)
    if key is None:
        return str(TEXT.objects(path, encoding)), "pd.DataFrame(objects)", ("import json", "import re")
    return "", f"pd.DataFrame(json.load(open({path}, encoding={encoding}))[{key!r}])", ("import json",)


def _whole(text: str) -> Any:
    """What the text is as one JSON value; None where several stand one after the other."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _shaped(
    kind: str, variable: str, records: Sequence[Mapping[str, Any]], parsed: Collection[str], rows: Sequence[Any]
) -> tuple[str, tuple[str, ...]]:
    """(the lines after the table's, which make of it what the task's program reads; their imports).

    `parsed` are the roles whose cells are lists as JSON in text, `rows` what the page makes of the records.
    """
    lines, imports = f"{TEXT.parsed(variable, sorted(parsed))}\n" if parsed else "", ["import json"] if parsed else []
    if kind == "choice":
        shaped, needed = _choices(variable, records, rows)
        return lines + shaped, (*imports, *needed)
    if kind == "entities":
        single = len(records) > 1 and all(
            isinstance(row["tokens"], str) and len(row["tokens"].split()) == 1 for row in records
        )
        return lines + str(TEXT.grouped(variable) if single else TEXT.tagged(variable)), tuple(imports)
    texts = {"similarity": TEXT.scored, "question": TEXT.answers}
    return lines + str(texts.get(kind, TEXT.labelled)(variable)), tuple(imports)


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


def _from_hub(recipe: Recipe) -> Reading:
    reader = reader_of(recipe.task)
    fetched = fetch(recipe.hub, reader.columns)
    columns = {role: name for role, name in fetched.columns.items() if role != "split"}
    shaped, lists = "", False
    shaping: tuple[str, ...] = ()
    if recipe.task not in ("sentence", "pair"):
        records, rows = [record.values for record in fetched.records], reader.rows(fetched.records)
        if recipe.task == "entities":
            lists = all(isinstance(record["tokens"], list) for record in records) and not fetched.parsed
        elif recipe.task == "labels":
            cells = [[record["labels"]] for record in records]
            sets = label_sets(("labels",), cells)
            lists = all(isinstance(cell, list) for (cell,) in cells) and not fetched.parsed
            shaped, shaping = label_lines("rows", sets, cells, parsed=not lists) if sets else ("", ())
        if not lists and recipe.task != "labels":
            shaped, shaping = _shaped(recipe.task, "rows", records, fetched.parsed, rows)
        if "table" in shaped:  # a word a row
            shaped, shaping = f"table = pd.DataFrame(rows)\n{shaped}", (*shaping, PANDAS)
        if any(getattr(row, "note", "") for row in rows):
            shaped = f"{shaped}\n{TEXT.bio('rows')}".strip()
    repository, config, _ = hub_name(recipe.hub)
    lines = TEXT.hub(
        kind=recipe.task,
        repository=repr(repository),
        config=repr(config) if config else "",
        columns=list(columns.values()),
        lists=lists,
        renamed={name: role for role, name in columns.items() if name != role},
        train=repr(fetched.splits.get("train") or next(iter(fetched.splits.values()))),
        test=repr(test) if (test := fetched.splits.get("test") or fetched.splits.get("validation")) else "",
        shaped=shaped,
    )
    more = ("import re", "import string") if recipe.task == "question" else ()
    imports = ("from datasets import load_dataset", *shaping, *more)
    if not test:
        return _reading((*imports, DRAW), f"{lines}\n{TEXT.drawn(recipe.task, recipe.settings.seed)}")
    between = f"rows_of({fetched.splits['validation']!r})" if {"validation", "test"} <= fetched.splits.keys() else ""
    return _reading(imports, lines, between)
