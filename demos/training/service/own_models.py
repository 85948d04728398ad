"""The kept runs of a reader as models of the menu, for that reader's browser alone.

A run's public name is in the menu and in links. Its key is that name and, after a space, the reader's key, which only
their browser has: the page computes with it, and it is checked whenever a model is asked for. Shared caches have the
model under its name, which nobody reaches without the key.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from demos.bert.model.catalogue import ModelSpec, OwnSpec
from demos.bert.model.models import LoadedModel
from demos.errors import UserError
from demos.training.results.history import Record
from demos.training.service.readers import Readers, reader_of
from demos.training.service.stored_runs import OWN, public_name

NOT_YOURS = "This model cannot be opened here: it was trained in another browser, or it has been deleted."
DATA_LENGTH = 40  # of a data set's name in a title


class ReadersModels:
    """The models that readers have trained here (`OwnModels`). `base` gives the entry of a catalogue key."""

    def __init__(self, readers: Readers, base: Callable[[str], ModelSpec]) -> None:
        self._readers, self._runs, self._base = readers, readers.runs, base

    def menu(self, reader: str) -> list[tuple[str, str]]:
        """(title, public name) of the reader's runs whose models are kept, newest first."""
        history = reversed(self._readers.history(reader))
        return [(title_of(record), public_name(record.run)) for record in history if self._runs.has(record.run)]

    def spec(self, key: str) -> OwnSpec | None:
        """The entry of a key; None for what is no key of a run.

        Raises UserError, one sentence, for a run that is not this reader's, or is no longer kept.
        """
        if not key.startswith(OWN):
            return None
        name, _, reader = key.partition(" ")
        record = self._readers.named(reader, name)
        if record is None:
            raise UserError(NOT_YOURS)
        title = title_of(record)
        if not self._runs.has(record.run):
            raise UserError(f"“{title}” is no longer kept here; train it again.")
        base = self._base(self._runs.base(record.run))
        return OwnSpec.of(base, record.run, name, title, f"Fine-tuned in this browser from {base.title}")

    def folder(self, spec: OwnSpec) -> Path:
        """The folder of the run. Raises UserError for what can't be one."""
        return self._runs.folder(spec.run)

    def load(self, spec: OwnSpec, tokenizer: Any) -> LoadedModel:
        """The run's encoder, within the memory budget of all runs. Raises UserError where it is gone or has no room."""
        trained = self._runs.trained(spec.run)
        return LoadedModel(spec, tokenizer, trained.model.encoder, kept_with=trained)


def title_of(record: Record) -> str:
    """A run's name in the menu: "Your run 2: Emotion"."""
    data = " ".join(record.data.split())
    return f"Your run {record.number}: {data if len(data) <= DATA_LENGTH else f'{data[: DATA_LENGTH - 1]}…'}"


def key_of(name: Any, reader: str) -> Any:
    """The key with which `reader`'s page computes; what is no name of a run stays as it is."""
    return f"{name_of(name)} {reader_of(reader)}" if isinstance(name, str) and name.startswith(OWN) else name


def name_of(key: str) -> str:
    """What a menu or a link may say of a key."""
    return key.partition(" ")[0] if key.startswith(OWN) else key
