"""A public data set of the Hub as records: so many rows a split, within a time, or one sentence on why not."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from demos.errors import UserError
from demos.training.data.benchmarks import data_id
from demos.training.data.columns.mapping import Column, ColumnMap, UnclearError
from demos.training.data.file_tables import MAX_ROWS
from demos.training.data.hub_rows import Finder, HubRows, answer_of, characters_of, named_splits
from demos.training.data.tables import Record

REACH_SECONDS = 4.0  # for the Hub to answer at all
SECONDS = 60.0  # for the whole data set
MAX_HELD = 40_000_000  # characters in all
MAX_FETCHES = 2  # at a time
MAX_KEPT = 2  # data sets in memory, since one is needed again at each move of a slider
# One name on either side of the slash: neither a path nor an address. After colons: the config, the split to test on.
NAME = re.compile(
    r"(?P<repo>(?!buckets/)\w[\w.-]{0,95}/\w[\w.-]{0,95})"
    r"(?::(?P<config>[\w.+-]{1,95})(?::(?P<tested>[\w.+-]{1,95}))?)?",
    re.ASCII,
)
FORMATS = {"parquet", "csv", "json", "text", "arrow"}  # files of values; none of them holds a program
HIDDEN = frozenset({"-1", "-1.0"})  # a class or score where a shared task keeps its answers to itself
TAUGHT = ("", "train", "validation")  # the splits that classes are learned from: the first that there is
NO_HUB = "The Hugging Face Hub could not be reached; the data of this app and your own files work without it."


class NotFetchedError(UserError):
    """A data set that is not to be had, whatever its columns are."""


@dataclass(frozen=True)
class Fetched:
    """A data set's records, each with the split it is in, and what was left out, one sentence each."""

    name: str
    records: tuple[Record, ...]
    notes: tuple[str, ...]
    mapping: ColumnMap  # of the columns; its rows are the first ones alone
    splits: Mapping[str, str] = field(default_factory=dict)  # train, validation, test -> the split's name there
    parsed: frozenset[str] = frozenset()  # the roles of columns whose text holds lists, as JSON
    marked: tuple[str, ...] = ()  # the texts that hold HTML, unchanged from the Hub

    @property
    def source(self) -> str:
        """The data set's id: what a run on it is tested on. No split where the test is drawn from the training rows."""
        repo, config, _ = hub_name(self.name)
        return data_id(repo, config, self.splits.get("test") or self.splits.get("validation") or "")


def hub_name(name: str) -> tuple[str, str | None, str | None]:
    """(repository, config, tested split) of `owner/name:config:split`; None if left out. Raises NotFetchedError."""
    match = NAME.fullmatch(name.strip()) if isinstance(name, str) else None
    if not match or ".." in name:
        raise NotFetchedError(
            f"{str(name)[:60]!r} is not the name of a data set; write owner/name, or owner/name:config."
        )
    return match["repo"], match["config"], match["tested"]


def fetch(name: str, columns: Sequence[Column], chosen: str = "", finder: Finder | None = None) -> Fetched:
    """The data set `owner/name`, `owner/name:config` or `owner/name:config:split`; its columns are found as a file's.

    Raises NotFetchedError within REACH_SECONDS where the Hub can't be reached and within SECONDS in any case;
    UnclearError where its columns are not clear.
    """
    return _Fetch.of((*hub_name(name), tuple(columns), chosen, finder)).wait()


_Key = tuple[str, str | None, str | None, tuple[Column, ...], str, Finder | None]


class _Fetch:
    """One data set being downloaded in a separate thread, so that a caller waits no longer than it should."""

    _known: ClassVar[OrderedDict[tuple[Any, ...], _Fetch]] = OrderedDict()
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self, key: _Key) -> None:
        self.key = key
        self.repo, self.config, self.tested = key[:3]
        self.reached, self.done = threading.Event(), threading.Event()
        self.given_up = False
        self.fetched: Fetched | None = None
        self.error: BaseException | None = None
        self.began = time.monotonic()
        threading.Thread(target=self._run, name=f"hub {self.repo}", daemon=True).start()

    @classmethod
    def of(cls, key: _Key) -> _Fetch:
        """The fetch of this data set, the one under way or kept where there is one. Raises UserError for too many."""
        with cls._lock:
            if key not in cls._known:
                if sum(not fetch.done.is_set() for fetch in cls._known.values()) >= MAX_FETCHES:
                    raise NotFetchedError("Other data sets are being downloaded from the Hub; try again in a minute.")
                cls._known[key] = cls(key)
            cls._known.move_to_end(key)
            ended = [key for key, fetch in cls._known.items() if fetch.done.is_set()]
            for old in ended[: max(0, len(cls._known) - MAX_KEPT)]:
                if old != key:
                    del cls._known[old]
            return cls._known[key]

    def wait(self) -> Fetched:
        """The fetched data. Raises NotFetchedError or UnclearError as `fetch` does; a failure is not kept."""
        left = self.began + REACH_SECONDS - time.monotonic()
        if not self.reached.wait(max(0.1, left)):
            self.given_up = True
            raise NotFetchedError(NO_HUB)
        if not self.done.wait(max(0.1, self.began + SECONDS - time.monotonic())):
            self.given_up = True
            raise NotFetchedError(f"{self.repo} could not be downloaded from the Hub within {SECONDS:.0f} seconds.")
        if isinstance(self.error, UnclearError):  # kept: the same rows would say the same
            raise UnclearError(self.error.mapping) from self.error
        if self.fetched is None:
            with self._lock:
                self._known.pop(self.key, None)
            if isinstance(self.error, UserError):
                raise NotFetchedError(str(self.error)) from self.error
            raise NotFetchedError(f"{self.repo} could not be read from the Hub just now.") from self.error
        return self.fetched

    def _run(self) -> None:
        try:
            reach_hub()
            self.reached.set()
            self.fetched = read_hub(self.repo, self.config, HubRows(*self.key[3:]), self._stopped, self.tested)
        except BaseException as error:  # raised by `wait`, in the thread of the caller
            self.error = error
        finally:
            self.reached.set()
            self.done.set()
            if self.fetched is None and self.given_up:  # no caller waits any more
                with self._lock:
                    self._known.pop(self.key, None)

    def _stopped(self) -> bool:
        return self.given_up or time.monotonic() - self.began > SECONDS


def reach_hub() -> None:
    """Raises UserError where no Hub is in reach, or none may be used."""
    from huggingface_hub import constants  # here: no other code needs the network
    from huggingface_hub.utils import get_session

    if constants.HF_HUB_OFFLINE:
        raise UserError(NO_HUB)
    try:
        get_session().head(constants.ENDPOINT, timeout=REACH_SECONDS)
    except Exception as error:  # the client raises many kinds; each means the same to the reader
        raise UserError(NO_HUB) from error


def open_hub(repo: str, config: str | None) -> Mapping[str, Any]:
    """The data set's splits, nothing of them read yet. Raises UserError, one sentence, where they can't be had."""
    from datasets import exceptions, load_dataset  # here: it takes a second to import

    try:
        # The address, so that no folder here is meant; no token, so that nobody reads what the host alone may.
        splits: Mapping[str, Any] = load_dataset(f"hf://datasets/{repo}", config, streaming=True, token=False)
    except exceptions.DatasetNotFoundError as error:
        raise UserError(f"The Hub has no public data set called {repo}.") from error
    except ValueError as error:
        configs = re.search(r"(?:configs|Available): \[([^\]]*)\]", str(error))
        if not configs:
            raise
        names = re.findall(r"'([\w.+-]+)'", configs[1])
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8:,} more" if len(names) > 8 else "")
        raise UserError(f"{repo} has several configurations; add one after a colon: {shown}.") from error
    except RuntimeError as error:
        if "script" not in str(error):
            raise
        raise UserError(
            f"{repo} consists of a program instead of data files; programs from the Hub are not run."
        ) from error
    return splits


def read_hub(
    repo: str, config: str | None, reader: HubRows, stopped: Callable[[], bool], tested: str | None = None
) -> Fetched:
    """At most MAX_ROWS rows of each split whose name is known.

    `tested` is the split to test on, where it is not the one called test. Classes are known by their names.
    Rows whose class the Hub keeps hidden are left out: those of no named class, and of plain numbers those of -1,
    unless the training rows have that class too. Raises UserError as `fetch` does.
    """
    opened = open_hub(repo, config)
    named = named_splits(list(opened), tested)
    splits: dict[str, tuple[int, list[dict[str, Any]]]] = {}  # split -> rows read, those that have a class
    characters = 0
    for split, name in named.items():
        rows = opened[name]
        kind = getattr(getattr(rows, "info", None), "builder_name", None)
        if kind is not None and kind not in FORMATS:
            raise UserError(f"{repo} holds files that are not tables of text ({kind[:30]}).")
        read = 0
        answered = []
        for values in reader.values(rows, split, stopped, MAX_ROWS):
            read += 1
            if values is not None:
                answered.append(values)
                characters += sum(map(characters_of, values.values()))
            if characters > MAX_HELD:
                raise UserError(f"{repo} has more text than the limit of {MAX_HELD:,} characters.")
        if stopped():
            raise UserError(f"{repo} could not be downloaded from the Hub within {SECONDS:.0f} seconds.")
        splits[split] = read, answered
    notes: list[str] = []
    records: list[Record] = []
    hidden = _hidden(splits)
    split_names: dict[str, str] = {}
    for split, (read, answered) in splits.items():
        usable = [values for values in answered if answer_of(values) not in hidden]
        records += [Record(number, values) for number, values in enumerate(usable, len(records) + 1)]
        if usable:
            split_names[split] = named[split]
        if read == MAX_ROWS:
            notes.append(f"Only the first {MAX_ROWS:,} rows of the split {named[split]} are used.")
        if left_out := read - len(usable):
            lacks = "score" if any(column.role == "score" for column in reader.columns) else "class"
            notes.append(f"{left_out:,} rows of the split {named[split]} have no {lacks} on the Hub and are not used.")
    if not records or not reader.mapping:
        raise UserError(f"{repo} has no rows for training; its splits are {', '.join(map(repr, list(opened)[:6]))}.")
    name = ":".join(filter(None, (repo, config, tested)))
    return Fetched(
        name, tuple(records), tuple(notes), reader.mapping, split_names, frozenset(reader.parsed), tuple(reader.marked)
    )


def _hidden(splits: Mapping[str, tuple[int, Sequence[Mapping[str, Any]]]]) -> frozenset[str]:
    """The answers that are hidden ones: none where the rows that are learned from have a class called -1."""
    taught = next((splits[split][1] for split in TAUGHT if split in splits), ())
    return frozenset() if any(answer_of(values) in HIDDEN for values in taught) else HIDDEN
