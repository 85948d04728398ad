"""The programs that the page hands out, run."""

from __future__ import annotations

import contextlib
import io
from typing import Any

from demos.training.export.data_program import reading_of
from demos.training.export.recipe_file import Recipe


def printed(program: str) -> list[str]:
    """The lines that a program prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(program, "lesson", "exec"), {})
    return output.getvalue().splitlines()


def read_data(recipe: Recipe) -> tuple[list[Any], list[Any], str]:
    """A recipe's examples for training and for the test, as its program reads them; and the lines that do."""
    reading = reading_of(recipe)
    done: dict[str, Any] = {}
    exec(compile("\n".join((*reading.imports, reading.lines)), "reading", "exec"), done)
    return done["train"], done["test"], reading.lines
