"""Zips of trained models that readers are about to download: made on request, a few at a time, then deleted."""

import secrets
import shutil
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from demos.errors import UserError
from demos.figures.download_names import run_folder
from demos.training.export.folder import size_of, write_folder, zip_folder
from demos.training.export.run_log import Log
from demos.training.learning.failures import sentence_of
from demos.training.learning.model import Trained
from demos.widgets.takeaway.takeaway import megabytes

MAX_ZIPS = 4
LARGEST = 2 * 2**30  # bytes of a model that is still handed out


class Zips:
    """The newest few stay until others come, so that a slow download ends; each lies in a folder nobody can guess."""

    def __init__(self, home: Path | str, most: int = MAX_ZIPS) -> None:
        self.home = Path(home)
        self.most = most
        self._made: OrderedDict[str, Path] = OrderedDict()  # run -> its zip
        self._lock = threading.Lock()

    def steps(self, run: str, trained: Trained, log: Log) -> Iterator[str | Path]:
        """Yield the progress in words, and at last the zip. Raises UserError if it can't be made."""
        with self._lock:
            archive = self._made.get(run)
        if archive is not None and archive.is_file():
            yield archive
            return
        yield "Writing the model…"
        with written(trained, log) as folder:
            yield f"Packing {megabytes(size_of(folder))}…"
            place = self.home / f"kept-{secrets.token_urlsafe(18)}"
            try:
                place.mkdir(parents=True)
                archive = place / f"{folder.name}.zip"
                zip_folder(folder, archive)
            except OSError as error:
                shutil.rmtree(place, ignore_errors=True)
                raise UserError(sentence_of(error)) from error
        self._remember(run, archive)
        yield archive

    def _remember(self, run: str, archive: Path) -> None:
        with self._lock:
            self._made[run] = archive
            while len(self._made) > self.most:
                _, oldest = self._made.popitem(last=False)
                shutil.rmtree(oldest.parent, ignore_errors=True)


@contextmanager
def written(trained: Trained, log: Log) -> Iterator[Path]:
    """The model in a temporary folder, gone afterwards. Raises UserError for too large a model or a full disk."""
    if sum(value.nbytes for value in trained.model.encoder.state_dict().values()) > LARGEST:
        raise UserError(f"This model is larger than the {megabytes(LARGEST)} that can be downloaded.")
    with tempfile.TemporaryDirectory(prefix="keep-") as home:
        folder = Path(home) / run_folder(log.data_name)
        try:
            write_folder(trained, log, folder)
        except OSError as error:
            raise UserError(sentence_of(error)) from error
        yield folder
