"""An uploaded file, and perhaps a second one that is the test split, as one list of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from demos.errors import UserError
from demos.training.data.file_tables import check_size
from demos.training.data.splits import split_name
from demos.training.data.upload_limit import MAX_UPLOAD


class SplitRow(Protocol):
    """A row of any task: a frozen dataclass that says which split it is in ("" for none)."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def number(self) -> int: ...
    @property
    def split(self) -> str: ...


T = TypeVar("T", bound=SplitRow)


def read_splits(
    read: Callable[[bytes, str], Sequence[T]], path: Path | str, test: Path | str | None = None
) -> tuple[str, list[T]]:
    """(what the data is called, its rows): of a second file all are the test split, and of the first none is.

    Raises UserError as `read` does, and where a file can't be read.
    """
    rows = list(read(file_bytes(path), Path(path).name))
    if test is None:
        return Path(path).name, rows
    try:
        held_out = [replace(row, split="test") for row in read(file_bytes(test), Path(test).name)]
    except UserError as error:
        raise UserError(f"The test file can't be used: {str(error)[:1].lower()}{str(error)[1:]}") from error
    watched = {True: "validation", False: "train"}
    rows = [replace(row, split=watched[split_name(row.split, row.number) == "validation"]) for row in rows]
    return f"{Path(path).name} and {Path(test).name}", [*rows, *held_out]


def file_bytes(path: Path | str) -> bytes:
    """What the file holds; one that is too large is not read. Raises UserError where it can't be read."""
    try:
        with Path(path).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            data = file.read(MAX_UPLOAD + 1) if size <= MAX_UPLOAD else b""
    except (OSError, TypeError, ValueError) as error:
        raise UserError("The file could not be read; choose it again.") from error
    check_size(max(size, len(data)))
    return data
