"""Finished runs on disk: a server that starts again, or another one on the same folder, finds them by the same keys.

    histories/<a reader's key>/<a run's id>.json    a record
    models/<a run's id>/                            a model's files, and the catalogue key of what it began as

Keys and ids are hashed: the names give none away, and what a browser sends is never a path. All is written elsewhere
first and then renamed, so that no half-written file is there, and each process reads the folder each time.
"""

import hashlib
import json
import logging
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from demos.training.results.history import Record, record_from
from demos.training.service.own_folder import OwnFolder
from demos.training.settings import Settings

log = logging.getLogger(__name__)
MAX_DAYS = 7.0  # since the last use of a model, or of a reader's history
MAX_BYTES = 4 * 2**30  # of all; the least recently used is deleted first
SKEW = 60.0  # seconds by which the clocks of two machines on one folder may differ
BASE = "base.json"
OWN = "your-run-"  # begins a run's public name
_NAME = re.compile(f"{OWN}[0-9a-f]{{16}}")
_OURS = re.compile(r"[0-9a-f]{64}")
_NOT_OURS = (ValueError, TypeError, KeyError, AttributeError)  # the errors of reading a broken or foreign record


class StoredRuns:
    """Records and models in `folder`; safe for many threads and processes. A failed write is only logged.

    Raises OSError where the folder can't be used.
    """

    def __init__(self, folder: Path, max_bytes: float = MAX_BYTES, max_days: float = MAX_DAYS) -> None:
        self.max_bytes, self.max_days = max_bytes, max_days
        self._histories, self._models = folder / "histories", folder / "models"
        for made in (folder, self._histories, self._models):
            made.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._unfinished = OwnFolder("unfinished-", folder)
        self.tidy()

    def add(self, reader: str, record: Record) -> bool:
        """Keep a record for its reader; whether it is kept now."""
        file = self._record(reader, record.run)
        unfinished = self._new()
        try:
            unfinished.write_text(json.dumps(asdict(record)), encoding="utf-8")
            file.parent.mkdir(mode=0o700, exist_ok=True)
            unfinished.replace(file)
        except (OSError, TypeError, ValueError) as error:  # the last two: what JSON has no word for
            log.warning("a run's record is not kept on disk: %s", error)
            with suppress(OSError):
                unfinished.unlink()
            return False
        self.tidy()
        return True

    def history(self, reader: str) -> list[Record]:
        """The reader's records, in no order; without those that can't be read."""
        records = []
        folder = self._histories / _hashed(reader)
        _use(folder)
        for file in folder.glob("*.json"):
            try:
                record = record_from(json.loads(file.read_text(encoding="utf-8")))
                Settings(**record.settings)  # which another version, on the same folder, may not have alike
            except (OSError, *_NOT_OURS) as error:
                log.warning("no record of a run: %s: %r", file, error)
            else:
                records.append(record)
        return records

    def named(self, reader: str, name: str) -> Record | None:
        """The reader's record whose run is publicly known by `name`; None where there is none."""
        if not _NAME.fullmatch(name):
            return None
        for file in (self._histories / _hashed(reader)).glob(f"{name.removeprefix(OWN)}*.json"):
            with suppress(OSError, *_NOT_OURS):
                return record_from(json.loads(file.read_text(encoding="utf-8")))
        return None

    def forget(self, reader: str, run: str) -> None:
        """Delete one record."""
        with suppress(OSError):
            self._record(reader, run).unlink()

    def keep(self, run: str, base: str, folder: Path) -> bool:
        """Keep a copy of a model's folder; whether it is kept now. `base` is what it began as, by its catalogue key."""
        unfinished = self._new()
        try:
            shutil.copytree(folder, unfinished, copy_function=_link_or_copy)
            (unfinished / BASE).write_text(json.dumps({"base": base}), encoding="utf-8")
            _use(unfinished)
            unfinished.rename(self._model(run))
        except OSError as error:
            log.warning("a run's model is not kept on disk: %s", error)
            shutil.rmtree(unfinished, ignore_errors=True)
            return False
        self.tidy()
        return True

    def model(self, run: str) -> Path | None:
        """The folder of the run's model, which is then the last one used; None where there is none."""
        folder = self._model(run)
        return folder if _use(folder) else None

    def base(self, run: str) -> str | None:
        """The catalogue key of what the run began as; None where its model is not here."""
        try:
            return str(json.loads((self._model(run) / BASE).read_text(encoding="utf-8"))["base"])
        except (OSError, *_NOT_OURS):
            return None

    def size(self, run: str) -> int:
        """Bytes of the run's model; 0 where it is not here."""
        return _size(self._model(run))

    def discard(self, run: str) -> None:
        """Delete the run's model. Unknown ids are fine."""
        self._delete(self._model(run))

    def tidy(self) -> None:
        """Delete entries that have not been used in a while, and the oldest beyond the bound in bytes."""
        self._bring_back()
        oldest_first = sorted((used, folder) for folder in self._folders() if (used := _used(folder)))
        sizes = {folder: _size(folder) for _, folder in oldest_first}
        for used, folder in oldest_first:
            if sum(sizes.values()) > self.max_bytes or time.time() - used > 86_400 * self.max_days:
                del sizes[folder]
                self._delete(folder)

    def _bring_back(self) -> None:
        """Correct times in the future, which exist after the clock was set back and would count as the latest uses."""
        now = time.time()
        for folder in self._folders():
            if _used(folder) > now + SKEW:
                with suppress(OSError):
                    os.utime(folder, (now - SKEW, now - SKEW))

    def _folders(self) -> Iterator[Path]:
        for parent in (self._histories, self._models):
            yield from (folder for folder in parent.glob("*") if _OURS.fullmatch(folder.name))

    def _delete(self, folder: Path) -> None:
        gone = self._new()
        with suppress(OSError):  # another process was quicker
            folder.rename(gone)  # first, so that no other process finds half of it
            shutil.rmtree(gone, ignore_errors=True)

    def _new(self) -> Path:
        return self._unfinished.path / secrets.token_hex(8)

    def _model(self, run: str) -> Path:
        return self._models / _hashed(run)

    def _record(self, reader: str, run: str) -> Path:
        return self._histories / _hashed(reader) / f"{_hashed(run)}.json"


def public_name(run: str) -> str:
    """The name of a run that may be in a link: it does not reveal the run's id."""
    return OWN + _hashed(run)[:16]


def stored_runs(folder: Path | str = "") -> StoredRuns | None:
    """The store in this folder, or in this user's own one; None, and a line in the log, where it can't be used."""
    try:
        return StoredRuns(Path(folder) if folder else _default_folder())
    except OSError as error:
        log.warning("runs are not kept on disk: %s", error)
        return None


def _default_folder() -> Path:
    """In the system's temporary folder, for this user alone. Raises OSError where another has taken the name."""
    user = os.getuid() if hasattr(os, "getuid") else ""
    folder = Path(tempfile.gettempdir()) / f"inside-bert-runs-{user}"
    folder.mkdir(mode=0o700, exist_ok=True)
    if folder.is_symlink() or (user != "" and folder.stat().st_uid != user):
        raise PermissionError(f"{folder} is another user's")
    return folder


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _link_or_copy(source: str, target: str) -> None:
    """A model's files are never changed, so that a second name will do where both are on one disk."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def _use(folder: Path) -> bool:
    """Note that it is used now; whether it is there."""
    try:
        os.utime(folder)
    except OSError:
        return folder.is_dir()  # of another user's process
    return True


def _used(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0


def _size(folder: Path) -> int:
    sizes = []
    with suppress(OSError):  # deleted meanwhile
        sizes += [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return sum(sizes)
