"""The lines of a program that read a recipe's data: a file, with pandas or Python alone."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demos.files import DATA
from demos.training.data.columns.labels import merged
from demos.training.data.columns.mapping import value_at
from demos.training.data.columns.profiles import TEXTS
from demos.training.data.file_tables import PARQUET_FORM, Table, read_table
from demos.training.data.json_tables import LINES
from demos.training.data.line_forms import AT, FASTTEXT
from demos.training.data.packed import packed_name, unpacked
from demos.training.data.read_as import ReadAs
from demos.training.data.splits import SHARES, SPLITS
from demos.training.data.tables import ReadRows, Row, value_of
from demos.training.data.text_encoding import decode_text, file_bytes, lines_of
from demos.training.export.annotation_lines import FUNCTIONS, annotation_lines
from demos.training.export.data_shaping import answers_lines, label_lines, shaped
from demos.training.export.hub_program import hub_reading
from demos.training.export.reading import PANDAS, PLAIN, PLAIN_IMPORTS, TEXT, Reading, drawn, reading
from demos.training.export.recipe_file import Recipe
from demos.training.form_values import HUB, UPLOAD
from demos.training.sources import SOURCES, reader_of
from demos.training.tasks.entities.conll import language_of
from demos.training.tasks.multi_label.data import find_labels
from demos.training.tasks.multi_label.label_sets import MARKED

SPLIT_LINE = re.compile(r"#\s*split\s*[=:]\s*\w+\s*")
UNQUOTED = f"{TEXT.unquoted()}\n\n"  # a function


@dataclass(frozen=True)
class _File:
    imports: tuple[str, ...]
    lines: str
    splits: tuple[str, ...]  # the names of splits that its rows use


def reading_of(recipe: Recipe) -> Reading:
    """The lines with which a program reads this recipe's data, as the page does.

    Raises UserError where the page itself can't read it.
    """
    if recipe.data == HUB:
        return hub_reading(recipe)
    own = recipe.data == UPLOAD
    path = Path(recipe.file) if own else DATA / SOURCES[recipe.data].file
    chosen = recipe.columns if own else ""
    paths = [path, *([Path(recipe.test_file)] if own and recipe.test_file else [])]
    contents = [file_bytes(each) for each in paths]
    reads = [reader_of(recipe.task).read(data, each.name, chosen) for data, each in zip(contents, paths, strict=True)]
    rows = [row for read in reads for row in read.rows]
    spelling = merged([row.label for row in rows if isinstance(row, Row)])
    shown = path.name if own else f"assets/data/{path.name}"
    first = _file(recipe.task, path.name, contents[0], reads[0], chosen, spelling, shown, "rows")
    if own and recipe.test_file:
        name = paths[1].name
        second = _file(recipe.task, name, contents[1], reads[1], chosen, spelling, name, "test")
        train = TEXT.by_split(*_parts(first.splits)).splitlines()[0] if first.splits else "train = rows"
        lines = second.lines
        for function in (UNQUOTED, PLAIN, *FUNCTIONS):
            lines = lines.replace(function, "") if function in first.lines else lines
        whole = f"{first.lines}\n{lines}\n{train}"
        return reading((*first.imports, *second.imports), whole, rows, _validation([*first.splits, "test"]))
    if first.splits:
        lines = f"{first.lines}\n{TEXT.by_split(*_parts(first.splits))}"
        return reading(first.imports, lines, rows, _validation(first.splits))
    return drawn(recipe, first.imports, first.lines, rows)


def _validation(names: Sequence[str]) -> str:
    """The rows of these splits that are for validation; "" where there are none, or no other split to test on."""
    named = tuple(name for name in names if SPLITS[name] == "validation")
    if not named or all(SPLITS[name] != "test" for name in names):
        return ""
    return f'[row for row in rows if str(row["split"]).strip().lower() in {named}]'


def _parts(names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of the split to train on, and of the one to test with; validation serves where there is no test."""
    train, test, validation = (tuple(name for name in names if SPLITS[name] == part) for part in ("train", *SHARES))
    return train, test or validation


def _file(
    kind: str,
    name: str,
    data: bytes,
    read: ReadRows,
    chosen: str,
    spelling: Mapping[str, str],
    shown: str,
    variable: str,
) -> _File:
    """The lines with which a program reads one file, `shown` by its name; `spelling` is each label's class."""
    reader = reader_of(kind)
    if inner := packed_name(data, name, reader.endings):
        content, inner_name = unpacked(data, name, reader.endings)
        file = _file(kind, inner_name, content, read, chosen, spelling, inner, variable)
        extracted = f"zipfile.ZipFile({shown!r}).extract({inner!r})\n{file.lines}"
        return _File(("import zipfile", *file.imports), extracted, file.splits)
    rows, read_as = read.rows, read.read_as
    splits = tuple(sorted({row.split.strip().lower() for row in rows} - {""}))
    bio = f"\n{TEXT.bio(variable)}" if any(getattr(row, "note", "") for row in rows) else ""  # of another scheme
    more = ("import re", "import string") if kind == "question" else ()
    if read_as.form.startswith("CoNLL") and read.mapping:
        blanks = any(" " in word for row in rows for word in row.words)
        text = decode_text(data)[0]
        token, tag = (places[0] for places in (read.mapping.places["tokens"], read.mapping.places["tags"]))
        words = f"cells[{token}]"
        if before := language_of([cells[token] for _, cells in read.mapping.rows]):
            words += f".removeprefix({before!r})"
        tags = "cells[-1]" if tag == len(read.mapping.names) - 1 else f"cells[{tag}]"
        remarks = _remarks(text, counted=token > 0)
        lines = TEXT.conll(repr(shown), repr(_encoding(read_as)), variable, blanks, remarks, words, tags)
        return _File(("import re",), f"{lines}{bio}", splits)
    if read_as.form == "SQuAD’s JSON":
        plain = _stated_starts(json.loads(decode_text(data)[0])) == [row.value.start for row in rows]
        lines = TEXT.squad(repr(shown), repr(_encoding(read_as)), variable, plain)
        lines = lines if plain else f"{lines}\n{answers_lines(variable, rows)}"
        return _File(("import json", *more), lines, splits)
    table = read_table(data, name, read_as.sheet)
    if kind == "labels":
        return _labels_file(table, shown, variable, data, splits, chosen)
    mapping = reader.find(table, chosen)
    renaming = ""
    header: tuple[Any, ...] = table.header if mapping.named else tuple(range(len(table.header)))
    used = [place for places in mapping.places.values() for place in places]
    if mapping.named and any(header.count(header[place]) > 1 or not header[place].strip() for place in used):
        renaming, header = str(TEXT.names(list(mapping.names))), mapping.names
    columns = {header[places[0]]: role for role, places in mapping.places.items() if len(places) == 1}
    joined = {role: [header[place] for place in places] for role, places in mapping.places.items() if len(places) > 1}
    kinds = {column.role: column.kind for column in reader.columns}
    cells = [{role: value_at(cells, places) for role, places in mapping.places.items()} for _, cells in mapping.rows]
    records = [{role: value_of(cell, kinds.get(role, "text")) for role, cell in row.items()} for row in cells]
    parsed = {
        role
        for row, record in zip(cells, records, strict=True)
        for role, cell in row.items()
        if isinstance(cell, str) and not isinstance(record[role], str)
    }
    renamed = {column: role for column, role in columns.items() if column != role}
    before, reading, needed = _pandas(table, repr(shown), mapping.named, data)
    reading += _dropped(table, columns)
    texts = [column.role for column in reader.columns if column.holds == TEXTS and column.role in mapping.places]
    if mapping.plain:
        before = f"{before}\n\n{PLAIN}".lstrip()
        needed = (*needed, *PLAIN_IMPORTS)
    lines, shaping = shaped(kind, variable, records, parsed, rows, spelling)
    rows_of = str(TEXT.table(reading, renaming, joined, renamed, variable))
    if mapping.plain:
        rows_of += f"\n{TEXT.plained(variable, texts)}"
    text = f"{before}\n{rows_of}\n{lines}{bio}".strip()
    return _File((PANDAS, *needed, *shaping, *more), text, splits)


def _dropped(table: Table, columns: Mapping[Any, str]) -> str:
    """The lines that drop columns whose name is that of a role that they do not have; "" if there are none."""
    taken = [
        role for column, role in columns.items() if column != role and role in table.header and role not in columns
    ]
    return f".drop(columns={taken})" if taken else ""


def _labels_file(table: Table, shown: str, variable: str, data: bytes, splits: tuple[str, ...], chosen: str) -> _File:
    """The lines for a table whose rows have any number of labels."""
    mapping, sets = find_labels(table, chosen)
    header: tuple[Any, ...] = table.header if mapping.named else tuple(range(len(table.header)))
    places = {role: at for role, (at, *_) in mapping.places.items() if role != "labels" or sets.form != MARKED}
    columns = {header[place]: role for role, place in places.items()}
    before, reading, needed = _pandas(table, repr(shown), mapping.named, data)
    renamed = {column: role for column, role in columns.items() if column != role}
    cells = [[row[place] for place in sets.places] for _, row in mapping.rows]
    lines, imports = label_lines(variable, sets, cells, table.header)
    text = f"{before}\n{TEXT.table(reading + _dropped(table, columns), '', {}, renamed, variable)}\n{lines}".strip()
    return _File((PANDAS, *needed, *imports), text, splits)


def _stated_starts(whole: Any) -> list[Any]:
    """The start of the first answers in SQuAD's JSON, 0 without an answer; None where it is not a whole number."""
    starts: list[Any] = []
    for qa in (qa for article in whole["data"] for paragraph in article["paragraphs"] for qa in paragraph["qas"]):
        answers = qa.get("answers")
        first = answers[0] if isinstance(answers, list) and answers else None
        start = first.get("answer_start") if isinstance(first, dict) else None
        none = answers == [] or (isinstance(answers, list) and qa.get("is_impossible") is True)
        starts.append(0 if none else start if type(start) is int else None)
    return starts


def _remarks(text: str, counted: bool) -> str:
    """The condition by which a CoNLL file's lines are remarks; "" where it has none but those that name a split.

    Where tokens are `counted`, a line that begins with # and a tab is one too.
    """
    lines = lines_of(text)
    if counted and any(line.startswith("#\t") for line in lines):
        return 'line.startswith("#")'
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
    if read_as.form == PARQUET_FORM:
        return "", f"pd.read_parquet({path})", ()
    if read_as.form in (FASTTEXT, AT):
        lines = TEXT.fasttext if read_as.form == FASTTEXT else TEXT.at_lines
        return str(lines(path, repr(_encoding(read_as)))), 'pd.DataFrame(labelled, columns=["label", "text"])', ()
    if table.export:
        text = decode_text(data)[0]
        export = annotation_lines(table.export, table.header, path, repr(_encoding(read_as)), text)
        functions, before, reading, imports = export
        return f"{functions}{before}", reading, imports
    if table.keyed:
        return _json(read_as, path, data)
    options = "dtype=str, keep_default_na=False" + ("" if named else ", header=None")
    options += f", skiprows={read_as.skipped}" if read_as.skipped else ""
    if not read_as.encoding:
        return "", f"pd.read_excel({path}, sheet_name={read_as.sheet!r}, {options})", ()
    options += "" if read_as.quoted else ", quoting=3"  # quotes are the text's own
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
    """The text as one JSON value; None where several follow one another."""
    try:
        return json.loads(text)
    except ValueError:
        return None
