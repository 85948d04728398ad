"""The sources of a run's data: our own data sets by key, a person's file, or the Hub; one reader for each kind of task.

Each folder of tasks/ says in its data.py how its kinds of data are read (READERS) and which are our own (SOURCES).
"""

from collections.abc import Mapping
from pathlib import Path

from demos.errors import UserError
from demos.files import modules_in
from demos.training.data.readers import Reader, Source
from demos.training.data.splits import MAX_TRAIN, Splits

_MODULES = modules_in("demos.training.tasks", "data").values()
READERS: Mapping[str, Reader] = {
    reader.kind: reader for module in _MODULES for reader in getattr(module, "READERS", ())
}
SOURCES: Mapping[str, Source] = {source.key: source for module in _MODULES for source in getattr(module, "SOURCES", ())}


def load_file(
    kind: str,
    path: Path | str,
    test_path: Path | str | None = None,
    seed: int = 0,
    max_train: int = MAX_TRAIN,
    columns: str = "",
) -> Splits:
    """A person's file for this kind of task, and perhaps a second one that is the test split.

    `columns` says which column is which, as `text=NAME,label=NAME`; without it they are found.

    Raises UserError, one sentence that names the row or the column where there is one.
    """
    return reader_of(kind).from_files(path, test_path, seed, max_train, columns)


def load_hub(kind: str, name: str, seed: int = 0, max_train: int = MAX_TRAIN, columns: str = "") -> Splits:
    """The Hub's data set `owner/name` or `owner/name:config` for this kind of task. Raises UserError."""
    return reader_of(kind).from_hub(name, seed, max_train, columns)


def reader_of(kind: str) -> Reader:
    """The reader of a kind of task. Raises UserError for one that is not known."""
    if kind not in READERS:
        raise UserError(f"There is no task called {str(kind)[:40]!r} here.")
    return READERS[kind]
