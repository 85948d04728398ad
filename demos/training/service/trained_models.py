"""Where trained models are kept: a temporary folder a run, bounded in number and bytes, the oldest out."""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from demos.bert.model.memory_budget import Budget
from demos.bert.model.once_cache import Recent
from demos.errors import UserError
from demos.training.learning.model import Trained

MAX_RUNS = 24
MAX_BYTES = 3 * 2**30
_ID = re.compile(r"[\w-]{1,64}", re.ASCII)
GONE = "That trained model is no longer kept here; train again."


class Runs:
    """Runs by an id that can't be guessed: who has the id may stop the run and ask its model, and nobody else.

    Files are read and deleted outside of the lock: every reader needs it, and so does Gradio's
    event loop, on which sessions expire.
    """

    def __init__(self, max_runs: int = MAX_RUNS, max_bytes: int = MAX_BYTES, memory: Budget | None = None) -> None:
        self.max_runs = max_runs
        self.max_bytes = max_bytes
        self._home = tempfile.TemporaryDirectory(prefix="fine-tune-", ignore_cleanup_errors=True)
        self._kept: OrderedDict[str, int] = OrderedDict()  # run -> bytes, oldest first
        self._base: dict[str, str] = {}  # run -> catalogue key
        self._trained: Recent[Trained] = Recent(size=lambda model: model.nbytes, budget=memory, kind="tuned models")
        self._lock = threading.Lock()

    def new(self) -> str:
        """A fresh run's id; its folder is made when something is kept in it."""
        return secrets.token_urlsafe(18)

    def folder(self, run: str) -> Path:
        """The run's own folder, which need not exist. Raises UserError for what can't be an id."""
        return self._path(run)

    def _path(self, run: str, ending: str = "") -> Path:
        if not _ID.fullmatch(run):  # a page sends its id, and a forged one could be anybody's path
            raise UserError(GONE)
        return Path(self._home.name) / f"{run}{ending}"

    def stop_file(self, run: str) -> Path:
        """The file whose existence asks the run to stop: an Event could not reach a ZeroGPU worker's process."""
        return self._path(run, ".stop")

    def stop(self, run: str) -> None:
        """Ask the run to stop at its next step and keep what it learned."""
        self.stop_file(run).touch()

    def pause_file(self, run: str) -> Path:
        """The file that makes the run wait for as long as it exists."""
        return self._path(run, ".pause")

    def pause(self, run: str) -> None:
        """Ask the run to wait before its next step."""
        self.pause_file(run).touch()

    def go_on(self, run: str) -> None:
        """Ask a run that waits to go on."""
        self.pause_file(run).unlink(missing_ok=True)

    def keep(self, run: str, base: str) -> None:
        """The run is over and its model is in its folder: count it, and put the oldest out beyond the bounds.

        `base` is the catalogue key of the model that it began as.
        """
        size = sum(path.stat().st_size for path in self.folder(run).rglob("*") if path.is_file())
        out = []
        with self._lock:
            self._kept[run] = size
            self._base[run] = base
            while len(self._kept) > 1 and (
                len(self._kept) > self.max_runs or sum(self._kept.values()) > self.max_bytes
            ):
                out.append(next(iter(self._kept)))
                self._forget(out[-1])
        for oldest in out:
            self._delete(oldest)

    def discard(self, run: str | None) -> None:
        """Forget the run and delete what it left. Unknown ids are fine."""
        if run and _ID.fullmatch(run):
            with self._lock:
                self._forget(run)
            self._delete(run)

    def _forget(self, run: str) -> None:
        self._kept.pop(run, None)
        self._trained.pop(run)
        self._base.pop(run, None)

    def _delete(self, run: str) -> None:
        self.stop_file(run).unlink(missing_ok=True)
        self.pause_file(run).unlink(missing_ok=True)
        shutil.rmtree(self.folder(run), ignore_errors=True)

    def keep_last(self, runs: Sequence[str], most: int, most_bytes: int) -> None:
        """Discard the oldest of one reader's `runs` (oldest first) until they are within the reader's own bounds.

        Of those that stay all but the newest are the first to go where other readers' runs need room.
        """
        out = []
        with self._lock:
            mine = [run for run in runs if run in self._kept]
            while len(mine) > 1 and (len(mine) > most or sum(self._kept[run] for run in mine) > most_bytes):
                out.append(mine.pop(0))
                self._forget(out[-1])
            for run in reversed(mine[:-1]):
                self._kept.move_to_end(run, last=False)
        for oldest in out:
            self._delete(oldest)

    def kept(self, run: str | None) -> bool:
        """Whether the run's model can be asked."""
        return run in self._kept

    def base(self, run: str | None) -> str:
        """The catalogue key of the model that the run began as. Raises UserError where the run is gone."""
        with self._lock:
            if run is None or run not in self._base:
                raise UserError(GONE)
            return self._base[run]

    def trained(self, run: str | None) -> Trained:
        """The run's model, in memory; where it is not it is read now, once however many ask.

        Raises UserError where it is gone.
        """
        with self._lock:
            if run is None or run not in self._kept:
                raise UserError(GONE)
            self._kept.move_to_end(run)
            size = self._kept[run]

        def read(take: Callable[[float], None]) -> Trained:
            take(size)
            return Trained.read(self.folder(run))

        try:
            model = self._trained.make(run, read)
        except UserError:
            raise
        except Exception as error:
            # Somebody cleared the machine's temporary files, or the run was discarded while half of it was read.
            if isinstance(error, OSError):
                self.discard(run)
            if self.kept(run):
                raise
            raise UserError(GONE) from error
        if not self.kept(run):  # discarded while it was read
            self._trained.pop(run)
            raise UserError(GONE)
        return model

    def predict(self, run: str | None, texts: Sequence[str]) -> list[dict[str, float]]:
        """Each text's probability by class, from the run's model. Raises UserError where that is gone."""
        trained = self.trained(run)
        return [dict(zip(trained.task.labels, row, strict=True)) for row in trained.predict(texts)]
