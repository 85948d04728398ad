"""The uploads, bounded in bytes and files: for all readers, and for each session whose events use them.

An upload does not say which session it is of. It is nobody's until an event of a session names it; then it counts for
that session, and for each other that names it, since equal files of a class are one file. A session over a bound
loses its least recently used files; a file is deleted when no session holds it. Where all together are over theirs, the
session with the most loses files: endless uploads push out only files of no session, or the uploader's own.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

MEGABYTE = 2**20
MOST_BYTES = 200 * MEGABYTE  # of all: forty of the largest files
MOST_FILES = 1_000
SESSION_BYTES = 40 * MEGABYTE  # of one session, and of the uploads that belong to no session
SESSION_FILES = 200
MOST_HOLDINGS = 10_000  # of all sessions together
NOBODY = ""


class Uploads:
    """The files of each session: the session that used a file longest ago first, and its files in the same order."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.holdings: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()

    def add(self, paths: Iterable[str]) -> set[str]:
        """New files, which are nobody's yet -> those that had to go."""
        gone = {path for path in self.sizes if not Path(path).exists()}  # Gradio deletes those of two hours
        self._forget(gone)
        for path in paths:
            with suppress(OSError):
                self.sizes[path] = Path(path).stat().st_size
                self._hold(NOBODY, path)
        gone |= self._bound(NOBODY)
        gone |= self._while_over(lambda: sum(self.sizes.values()) > MOST_BYTES, self._bytes)
        return gone | self._while_over(lambda: len(self.sizes) > MOST_FILES, lambda holder: len(self.holdings[holder]))

    def use(self, session: str, paths: Iterable[str]) -> set[str]:
        """A session's event names these files -> those that had to go."""
        for path in paths:
            if path in self.sizes and sum(map(len, self.holdings.values())) < MOST_HOLDINGS:
                self._hold(session, path)
                self._let_go(NOBODY, path)
        return self._bound(session)

    def _hold(self, session: str, path: str) -> None:
        files = self.holdings.setdefault(session, OrderedDict())
        files[path] = None
        files.move_to_end(path)
        self.holdings.move_to_end(session)

    def _let_go(self, session: str, path: str) -> None:
        self.holdings.get(session, OrderedDict()).pop(path, None)
        if not self.holdings.get(session, True):
            del self.holdings[session]

    def _bytes(self, session: str) -> int:
        return sum(map(self.sizes.__getitem__, self.holdings.get(session, ())))

    def _bound(self, holder: str) -> set[str]:
        gone: set[str] = set()
        while len(self.holdings.get(holder, ())) > SESSION_FILES or self._bytes(holder) > SESSION_BYTES:
            gone |= self._drop_oldest(holder)
        return gone

    def _while_over(self, is_over: Callable[[], bool], share: Callable[[str], int]) -> set[str]:
        gone: set[str] = set()
        while self.holdings and is_over():
            gone |= self._drop_oldest(max(self.holdings, key=share))  # of equals the one that was idle for longest
        return gone

    def _drop_oldest(self, session: str) -> set[str]:
        path = next(iter(self.holdings[session]))
        self._let_go(session, path)
        if any(path in files for files in self.holdings.values()):
            return set()
        with suppress(OSError):  # Windows deletes no file that is being read; Gradio does later
            Path(path).unlink(missing_ok=True)
            Path(path).parent.rmdir()  # Gradio makes a folder for each
        self._forget({path})
        return {path}

    def _forget(self, paths: set[str]) -> None:
        for path in paths:
            self.sizes.pop(path, None)
            for session in list(self.holdings):
                self._let_go(session, path)
