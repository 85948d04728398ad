"""The trainings of each reader, and the models that are kept of them; by a key that only their browser knows."""

import re
import secrets
import threading
from collections import OrderedDict

from demos.training.results.history import Record
from demos.training.service.runs import Runs
from demos.training.service.stored_runs import public_name

MAX_READERS = 500  # remembered; the reader whose last training is oldest is dropped first
MAX_HISTORY = 40  # runs of one reader
MAX_MODELS, MAX_MODEL_BYTES = 4, 2**30  # of one reader: the newest runs' models, which can be downloaded
_KEY = re.compile(r"[\w-]{16,64}(/[\w-]{16,64})?", re.ASCII)


class Readers:
    """Each reader's history, newest run last. Safe for many threads.

    Histories lie where `runs.stored` keeps them; in memory is what could not be written there, or all without it.
    """

    def __init__(self, runs: Runs, most: int = MAX_READERS) -> None:
        self.runs = runs
        self.most = most
        self._histories: OrderedDict[str, tuple[Record, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def history(self, reader: str) -> list[Record]:
        """This reader's trainings; [] for an unknown reader."""
        return self._all(reader_of(reader))[-MAX_HISTORY:]

    def named(self, reader: str, name: str) -> Record | None:
        """This reader's training of this public name; None where it is none of theirs, or nobody is named."""
        if not reader:
            return None
        records = self._histories.get(reader, ())
        in_memory = next((record for record in records if public_name(record.run) == name), None)
        return in_memory or (self.runs.stored.named(reader, name) if self.runs.stored else None)

    def _all(self, reader: str) -> list[Record]:
        records = list(self._histories.get(reader, ()))
        if reader and (stored := self.runs.stored):
            both = records + stored.history(reader)
            records = sorted(both, key=lambda record: (record.number, record.time))  # a clock may be set back
        return records

    def add(self, reader: str, record: Record) -> None:
        """One more run is over; models beyond the reader's bounds, and those of readers long gone, are discarded."""
        stored = self.runs.stored if reader else None
        self.runs.store(record.run)
        gone: list[Record] = []
        if stored is None or not stored.add(reader, record):
            gone = self._add_in_memory(reader, record)
        history = self._all(reader)
        for left in history[:-MAX_HISTORY]:
            gone.append(left)
            if stored:
                stored.forget(reader, left.run)
        for left in gone:
            self.runs.discard(left.run)
        self.runs.keep_last([record.run for record in history[-MAX_HISTORY:]], MAX_MODELS, MAX_MODEL_BYTES)

    def _add_in_memory(self, reader: str, record: Record) -> list[Record]:
        """The models to remove for it."""
        with self._lock:
            before = self._histories.pop(reader, ())
            self._histories[reader] = (*before, record)[-MAX_HISTORY:]
            gone = list(before[: max(0, len(before) + 1 - MAX_HISTORY)])
            while len(self._histories) > self.most:
                gone += self._histories.popitem(last=False)[1]
        return gone


def checked_key(key: str) -> str:
    """The key that a page sent: its reader's and, after a slash, its tab's; a new one where that can't be a key."""
    return key if _KEY.fullmatch(key or "") else secrets.token_urlsafe(18)


def reader_of(key: str) -> str:
    """The reader's part of a page's key."""
    return (key or "").partition("/")[0]
