"""The lines of a program that read a data set of the Hub with datasets."""

from demos.training.data.columns.labels import merged
from demos.training.data.columns.profiles import TEXTS
from demos.training.data.hub_data import hub_name
from demos.training.data.tables import Row
from demos.training.export.data_shaping import label_lines, shaped
from demos.training.export.reading import PANDAS, PLAIN, PLAIN_IMPORTS, TEXT, Reading, drawn, reading
from demos.training.export.recipe_file import Recipe
from demos.training.sources import reader_of
from demos.training.tasks.multi_label.data import label_cells
from demos.training.tasks.multi_label.label_sets import label_sets


def hub_reading(recipe: Recipe) -> Reading:
    """The lines with which a program reads this recipe's data set, as the page does.

    Raises UserError where it can't be fetched.
    """
    reader = reader_of(recipe.task)
    fetched = reader.fetch(recipe.hub, recipe.columns)
    mapping = fetched.mapping
    columns = {role: names for role, names in mapping.columns.items() if role != "split"}
    records = [record.values for record in fetched.records]
    rows = reader.rows(fetched.records)
    lists, shape = False, ""
    imports: tuple[str, ...] = ()
    if recipe.task == "labels":
        names, cells = label_cells([record["labels"] for record in records])
        lists = len(names) == 1 and all(isinstance(cell, list) for (cell,) in cells) and not fetched.parsed
        if sets := label_sets(names, cells):
            shape, imports = label_lines("rows", sets, cells, names, parsed=not lists)
    elif recipe.task == "entities" and not fetched.parsed and all(isinstance(row["tokens"], list) for row in records):
        lists = True
    else:
        spelling = merged([row.label for row in rows if isinstance(row, Row)])
        shape, imports = shaped(recipe.task, "rows", records, fetched.parsed, rows, spelling)
    if "table" in shape:  # a word a row
        shape, imports = f"table = pd.DataFrame(rows)\n{shape}", (*imports, PANDAS)
    if any(getattr(row, "note", "") for row in rows):
        shape = f"{shape}\n{TEXT.bio('rows')}".strip()
    texts = [column.role for column in reader.columns if column.holds == TEXTS and column.role in columns]
    joined = {role: names for role, names in columns.items() if len(names) > 1 and role != "labels"}
    if mapping.plain:
        shape, imports = f"{TEXT.plained('rows', texts)}\n{shape}", (*imports, *PLAIN_IMPORTS)
    repository, config, _ = hub_name(recipe.hub)
    lines = TEXT.hub(
        kind=recipe.task,
        repository=repr(repository),
        config=repr(config) if config else "",
        columns=list(dict.fromkeys(name for names in columns.values() for name in names)),
        joined=joined,
        lists=lists,
        renamed={names[0]: role for role, names in columns.items() if len(names) == 1 and names[0] != role},
        train=repr(fetched.splits.get("train") or next(iter(fetched.splits.values()))),
        test=repr(test) if (test := fetched.splits.get("test") or fetched.splits.get("validation")) else "",
        shaped=shape,
    )
    more = ("import re", "import string") if recipe.task == "question" else ()
    needed = ("from datasets import load_dataset", *imports, *more)
    text = f"{PLAIN}\n{lines}" if mapping.plain else str(lines)
    if not test:
        return drawn(recipe, needed, text, rows)
    between = f"rows_of({fetched.splits['validation']!r})" if {"validation", "test"} <= fetched.splits.keys() else ""
    return reading(needed, text, rows, between)
