"""The kept runs of a reader as models of the menu, for that reader's browser alone, and for the members of their room.

A run's public name is in the menu and in links. Its key is that name and, after a space, the reader's key, which only
their browser has: the page computes with it, and it is checked at each request for a model. A member of a room adds,
after another space, a pass, which is checked likewise (demos/page/room/runs.py). Shared caches have the model under its
name, which nobody reaches without the key.
"""

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
NOT_YOUR_ROOMS = "This model cannot be opened here: it was not trained in your room, or the room has ended."
ROOMS = "The room’s run"
DATA_LENGTH = 40  # of a data set's name in a title


class ReadersModels:
    """The models that readers have trained here (`OwnModels`). `base` gives the entry of a catalogue key.

    `shown` is said by who keeps rooms: (public name, a member's pass) -> the id of the run that the room shows, or "".
    """

    def __init__(self, readers: Readers, base: Callable[[str], ModelSpec]) -> None:
        self._readers, self._runs, self._base = readers, readers.runs, base
        self.shown: Callable[[str, str], str] = lambda name, room_pass: ""

    def menu(self, reader: str, key: str = "") -> list[tuple[str, str]]:
        """(title, public name) of the reader's kept runs, newest first; before them a room's, where `key` opens one."""
        history = reversed(self._readers.history(reader))
        own = [(title_of(record), public_name(record.run)) for record in history if self._runs.has(record.run)]
        name, _, room_pass = _parts(key)
        is_rooms = self.shown(name, room_pass) and name not in dict(own).values()
        return [(ROOMS, name), *own] if is_rooms else own

    def spec(self, key: str) -> OwnSpec | None:
        """The entry of a key; None for what is no key of a run.

        Raises UserError, one sentence, for a run that is neither this reader's nor shown in a room of theirs, or is no
        longer kept.
        """
        if not key.startswith(OWN):
            return None
        name, reader, room_pass = _parts(key)
        if record := self._readers.named(reader, name):
            run, title, where, again = record.run, title_of(record), "in this browser", "; train it again"
        else:
            run, title, where, again = self.shown(name, room_pass), ROOMS, "by this room’s lecturer", ""
        if not run:
            raise UserError(NOT_YOUR_ROOMS if room_pass else NOT_YOURS)
        if not self._runs.has(run):
            raise UserError(f"“{title}” is no longer kept here{again}.")
        base = self._base(self._runs.base(run))
        return OwnSpec.of(base, run, name, title, f"Fine-tuned {where} from {base.title}")

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
    """The key with which `reader`'s page computes; any other text than a run's name is returned unchanged.

    After the name and a space, there may be the pass of a room's member.
    """
    if not (isinstance(name, str) and name.startswith(OWN)):
        return name
    name, _, room_pass = name.partition(" ")
    return f"{name} {reader_of(reader)}{f' {room_pass}' if room_pass else ''}"


def name_of(key: str) -> str:
    """The part of a key that a menu or a link may show."""
    return key.partition(" ")[0] if key.startswith(OWN) else key


def _parts(key: str) -> tuple[str, str, str]:
    """The public name, the reader's key and the pass into a room that a key has; "" for what it has not."""
    name, reader, room_pass = (*key.split(" ", 2), "", "")[:3]
    return name, reader, room_pass
