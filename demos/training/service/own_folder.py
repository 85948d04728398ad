"""A folder that one process has for itself until it ends; the next process removes a killed one's folder."""

import secrets
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

LOCK = ".lock"  # beside the folder, under its name: locked for as long as its process lives, however that ends


class OwnFolder:
    """A new folder in `parent` (the system's temporary one if None), removed when this object goes or the program ends.

    First those of the same prefix are removed whose process is gone. Raises OSError where none can be made.
    """

    def __init__(self, prefix: str, parent: Path | None = None) -> None:
        parent = parent or Path(tempfile.gettempdir())
        remove_left_behind(prefix, parent)
        self.path = path = parent / f"{prefix}{secrets.token_hex(8)}"
        lock = FileLock(path.with_name(path.name + LOCK), thread_local=False)
        lock.acquire()  # before there is a folder, so that none is ever without
        path.mkdir(mode=0o700)
        self._end = weakref.finalize(self, _remove, path, lock)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.cleanup()

    def cleanup(self) -> None:
        """Remove it now."""
        self._end()


def remove_left_behind(prefix: str, parent: Path) -> None:
    """Remove the folders of this prefix whose process has ended without doing so."""
    for file in parent.glob(f"{prefix}*{LOCK}"):
        lock = FileLock(file, thread_local=False)
        with suppress(Timeout, OSError):  # in use, or another user's
            lock.acquire(timeout=0)
            _remove(file.with_name(file.name.removesuffix(LOCK)), lock)


def _remove(folder: Path, lock: FileLock) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():  # Windows deletes no file that is open: the lock's name stays, so that the next process tries
        lock.release()
        Path(lock.lock_file).touch()
        return
    with suppress(OSError):
        Path(lock.lock_file).unlink()
    lock.release()
