"""A file's first rows with a menu above each column, as HTML."""

from collections.abc import Sequence
from typing import Any

from demos.figures.short_text import short
from demos.templates import templates
from demos.training.data.columns.labels import visible
from demos.training.data.columns.mapping import Column, ColumnMap, quoted, suspected_group
from demos.training.data.columns.markup import without_markup
from demos.training.look import Look

TEXT = templates(__file__)
ROWS, LONGEST, MOST_CLASSES = 5, 90, 12
SAMPLE = 300  # texts with HTML whose word pieces are counted
WORDS = {  # what a role is called in the menus, where it is not its own name
    "sentence1": "first text",
    "sentence2": "second text",
    "answers": "answer",
    "answer_start": "answer’s position",
    "start": "beginning",
    "endings": "list of endings",
}
MORE = {  # of a role that several columns may be
    "text": "more of the text",
    "sentence1": "more of the first text",
    "labels": "another label",
}


def picker_html(
    look: Look, columns: Sequence[Column], chosen: str, refused: str = "", task: str = "", tokenizer: Any = None
) -> str:
    """The picker for a look at a file; `columns` are what its task reads, `chosen` what the reader chose.

    `refused` is why these columns can't be trained on, `task` another task that they fit, "" for neither; the
    `tokenizer` counts the tokens that HTML costs. Columns of texts and of labels are before the others, whatever is
    chosen. A column that is joined to the text has the role "+text". "" for a form whose parts have fixed names.
    """
    mapping = look.mapping
    if mapping is None:
        return ""
    roles = {
        place: ("+" * (at > 0)) + role for role, places in mapping.places.items() for at, place in enumerate(places)
    }
    options = [(column.role, WORDS.get(column.role, column.role)) for column in columns]
    options += [(f"+{column.role}", MORE[column.role]) for column in columns if column.many]
    likely = {place for place, profile in enumerate(mapping.profiles) if profile.may_be_text or profile.may_be_label}
    order = sorted(range(len(mapping.names)), key=lambda place: place not in likely)
    heads = [
        {"name": mapping.names[place], "address": quoted(mapping.names[place]), "role": roles.get(place, "")}
        for place in order
    ]
    rows = [[short(visible(_text(cells[place])), LONGEST) for place in order] for _, cells in mapping.rows[:ROWS]]
    classes = list(look.labels.items())
    return str(
        TEXT.picker(
            chosen=chosen,
            heads=heads,
            options=options,
            rows=rows,
            named=mapping.named,
            sure=look.sure,
            problem=look.problem,
            refused=refused,
            task=task,
            count=look.rows,
            classes=classes[:MOST_CLASSES],
            more=len(classes) - MOST_CLASSES,
            most=max(look.labels.values(), default=1),
            left_out=look.left_out,
            sheets=[(name, quoted(name)) for name in look.sheets],
            sheet=look.sheet,
            markup=_markup(look, tokenizer),
            group=_group(mapping, columns),
            rating=look.rating,
            kind=look.kind,
        )
    )


def _group(mapping: ColumnMap, columns: Sequence[Column]) -> dict[str, str] | None:
    """The column that is likely to say which rows belong together, where none is chosen; else None."""
    place = suspected_group(mapping) if any(column.role == "group" for column in columns) else None
    if place is None or "group" in mapping.places:
        return None
    return {"name": mapping.names[place], "address": quoted(mapping.names[place])}


def _markup(look: Look, tokenizer: Any) -> dict[str, object] | None:
    """The sentence on HTML in the texts; None if there is none."""
    if not look.marked or not look.mapping:
        return None
    sample = look.marked[:SAMPLE]
    without = [without_markup(text) for text in sample]
    counts = [sum(map(len, tokenizer(list(texts))["input_ids"])) for texts in (sample, without)] if tokenizer else []
    before, after = min(zip(sample, without, strict=True), key=lambda pair: len(pair[0]))
    return {
        "removed": look.mapping.plain,
        "count": len(look.marked),
        "sample": len(sample),
        "pieces": counts,
        "before": short(before, LONGEST),
        "after": short(after, LONGEST),
    }


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)
