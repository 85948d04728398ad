"""The lines with which a program reads a recipe's data: its imports, and those that fill `train` and `test`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from demos.bert.model.text import MASK
from demos.templates import templates
from demos.training.data.columns.labels import in_order
from demos.training.data.columns.markup import LOST, MARKUP, TAG
from demos.training.data.tables import Row
from demos.training.export.recipe_file import Recipe

TEXT = templates(__file__, "text_data_program.txt")
PLAIN = f"{TEXT.plain(*(repr(form.pattern) for form in (MARKUP, TAG, LOST)))}\n\n"  # a function
PLAIN_IMPORTS = ("import html", "import re")
MASKED = f"{TEXT.with_masks()}\n\n"  # a function
MASKED_IMPORTS = ("import json", "import re")
PANDAS, DRAW = "import pandas as pd", "from sklearn.model_selection import train_test_split"
DRAW_GROUPS = "from sklearn.model_selection import GroupShuffleSplit"


@dataclass(frozen=True)
class Reading:
    """Imports, and the lines that fill `train` and `test`."""

    imports: tuple[str, ...]
    lines: str
    numbers: bool  # whether the classes are numbers, in their own order
    validation: str  # the expression of the rows for validation; "" where no split beside the test's is for them


def drawn(recipe: Recipe, imports: Sequence[str], lines: str, rows: Sequence[Any]) -> Reading:
    """The lines, and those that draw a test split."""
    grouped = any(getattr(row, "group", "") for row in rows)
    draw = TEXT.drawn(recipe.task, recipe.settings.seed, grouped)
    return reading((*imports, DRAW_GROUPS if grouped else DRAW), f"{lines}\n{draw}", rows)


def reading(imports: Sequence[str], lines: str, rows: Sequence[Any], validation: str = "") -> Reading:
    """Python's own imports before the others, each once; `rows` are the page's.

    Where these have a [MASK] in any letters, the program writes it in capitals, as the page does.
    """
    if any(MASK in str(row).upper() for row in rows):
        imports, lines = (*imports, *MASKED_IMPORTS), f"{MASKED}{lines}\n{TEXT.mask_capital()}"
        validation = validation and f"with_masks({validation})"
    ours = ("pandas", "sklearn", "datasets")
    every = {*imports, "import random"}
    ordered = tuple(sorted(every, key=lambda line: (any(name in line for name in ours), line)))
    labels = {row.label for row in rows if isinstance(row, Row) and row.label}
    return Reading(ordered, lines, list(in_order(labels)) != sorted(labels), validation)
