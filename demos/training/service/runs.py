"""The storage of trained models: in temporary folders, bounded in number and bytes, the oldest out; or on disk."""

import logging
import re
import secrets
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from safetensors import SafetensorError

from demos.bert.model.memory_budget import Budget
from demos.bert.model.once_cache import Recent
from demos.errors import UserError
from demos.system import is_device
from demos.training.learning.model import Trained
from demos.training.service.own_folder import OwnFolder
from demos.training.service.stored_runs import StoredRuns

log = logging.getLogger(__name__)
MAX_RUNS = 24
MAX_BYTES = 3 * 2**30
HOME = "fine-tune-"  # how the temporary folder's name begins
BROKEN = (OSError, ValueError, KeyError, SafetensorError)  # the errors of reading files of other content
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
GONE = "This trained model is no longer kept here; train again."


class Runs:
    """Runs by an id that can't be guessed: only a holder of the id may stop the run and use its model.

    Files are read and deleted outside of the lock: every reader needs it, and so does Gradio's
    event loop, on which sessions expire. Models in `stored` have bounds of their own, and outlast this process.
    """

    def __init__(
        self,
        max_runs: int = MAX_RUNS,
        max_bytes: int = MAX_BYTES,
        stored: StoredRuns | None = None,
        memory: Budget | None = None,
    ) -> None:
        self.max_runs = max_runs
        self.max_bytes = max_bytes
        self.stored = stored
        self._home = OwnFolder(HOME)
        self._sizes: OrderedDict[str, int] = OrderedDict()  # run -> bytes, oldest first
        self._base: dict[str, str] = {}  # run -> catalogue key
        self._trained: Recent[Trained] = Recent(size=lambda model: model.nbytes, budget=memory, kind="tuned models")
        self._lock = threading.Lock()

    def new(self) -> str:
        """A fresh run's id; its folder is made when something is kept in it."""
        return secrets.token_urlsafe(18)

    def folder(self, run: str) -> Path:
        """The run's own folder, which need not exist. Raises UserError for what can't be an id."""
        return self._stored(run) or self._path(run)

    def _path(self, run: str, ending: str = "") -> Path:
        if not _is_id(run):  # a page sends its id, and a forged one could be anybody's path
            raise UserError(GONE)
        return self._home.path / f"{run}{ending}"

    def _stored(self, run: str | None) -> Path | None:
        """The folder in which the run's model outlasts this process; None where it doesn't."""
        return self.stored.model(run) if run and self.stored else None

    def stop_file(self, run: str) -> Path:
        """The file whose existence stops the run: an Event could not reach a ZeroGPU worker's process."""
        return self._path(run, ".stop")

    def stop(self, run: str) -> None:
        """Make the run stop at its next step and keep its model."""
        self.stop_file(run).touch()

    def pause_file(self, run: str) -> Path:
        """The file that makes the run wait for as long as it exists."""
        return self._path(run, ".pause")

    def pause(self, run: str) -> None:
        """Make the run wait before its next step."""
        self.pause_file(run).touch()

    def go_on(self, run: str) -> None:
        """Make a run that waits go on."""
        self.pause_file(run).unlink(missing_ok=True)

    def keep(self, run: str, base: str) -> None:
        """The run is over and its model is in its folder: count it, and put the oldest out beyond the bounds.

        `base` is the catalogue key of the model that it began as.
        """
        size = sum(path.stat().st_size for path in self.folder(run).rglob("*") if path.is_file())
        out = []
        with self._lock:
            self._sizes[run] = size
            self._base[run] = base
            while len(self._sizes) > 1 and (
                len(self._sizes) > self.max_runs or sum(self._sizes.values()) > self.max_bytes
            ):
                out.append(next(iter(self._sizes)))
                self._forget(out[-1])
        for oldest in out:
            self._delete(oldest)

    def store(self, run: str) -> None:
        """Move the run's model to where it outlasts this process; it stays where it is if that can't be."""
        if self.stored and run in self._sizes and self.stored.keep(run, self.base(run), self._path(run)):
            with self._lock:
                self._forget(run)
            self._delete(run)

    def discard(self, run: str | None) -> None:
        """Forget the run and delete what it left. Unknown ids are fine."""
        if run and _is_id(run):
            with self._lock:
                self._forget(run)
            self._delete(run)
            if self.stored:
                self.stored.discard(run)

    def _forget(self, run: str) -> None:
        self._sizes.pop(run, None)
        self._trained.pop(run)
        self._base.pop(run, None)

    def _delete(self, run: str) -> None:
        self.stop_file(run).unlink(missing_ok=True)
        self.pause_file(run).unlink(missing_ok=True)
        shutil.rmtree(self._path(run), ignore_errors=True)

    def keep_last(self, runs: Sequence[str], most: int, most_bytes: int) -> None:
        """Discard the oldest of one reader's `runs` (oldest first) until they are within the reader's own bounds.

        Of those that stay all but the newest are the first to go where other readers' runs need room.
        """
        out = []
        stored = {run: size for run in runs if (size := self.stored.size(run))} if self.stored else {}
        with self._lock:
            sizes = stored | {run: self._sizes[run] for run in runs if run in self._sizes}
            mine = [run for run in runs if run in sizes]
            while len(mine) > 1 and (len(mine) > most or sum(sizes[run] for run in mine) > most_bytes):
                out.append(mine.pop(0))
            for run in reversed(mine[:-1]):
                if run in self._sizes:
                    self._sizes.move_to_end(run, last=False)
        for oldest in out:
            self.discard(oldest)

    def has(self, run: str | None) -> bool:
        """Whether the run's model can be used."""
        return run in self._sizes or self._stored(run) is not None

    def base(self, run: str | None) -> str:
        """The catalogue key of the model that the run began as. Raises UserError where the run is gone."""
        with self._lock:
            base = self._base.get(run or "")
        if base is None and run and self.stored:
            base = self.stored.base(run)
        if base is None:
            raise UserError(GONE)
        return base

    def trained(self, run: str | None) -> Trained:
        """The run's model, in memory; otherwise it is read now, once for all threads.

        Raises UserError where it is gone.
        """
        stored = self._stored(run)
        with self._lock:
            if run is None or not (stored or run in self._sizes):
                raise UserError(GONE)
            if run in self._sizes:
                self._sizes.move_to_end(run)
            size = self._sizes.get(run, 0)

        def read(take: Callable[[float], None]) -> Trained:
            take((self.stored.size(run) if self.stored else 0) or size)
            return Trained.read(self.folder(run))

        try:
            model = self._trained.make(run, read)
        except UserError:
            raise
        except Exception as error:
            # Somebody cleared the machine's files, or wrote to them, or the run was discarded while it was read.
            if isinstance(error, BROKEN):
                log.warning("a run's model can't be read, and is discarded: %r", error)
                self.discard(run)
            if self.has(run):
                raise
            raise UserError(GONE) from error
        if not self.has(run):  # discarded while it was read
            self._trained.pop(run)
            raise UserError(GONE)
        return model

    def predict(self, run: str | None, texts: Sequence[str]) -> list[dict[str, float]]:
        """Each text's probability by class, from the run's model. Raises UserError where that is gone."""
        trained = self.trained(run)
        return [dict(zip(trained.task.labels, row, strict=True)) for row in trained.predict(texts)]


def _is_id(run: str) -> bool:
    return _ID.fullmatch(run) is not None and not is_device(run)
