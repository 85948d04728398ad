"""A public data set of the Hub as records: so many rows a split, within a time, or one sentence on why not."""

from __future__ import annotations

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, ClassVar

import numpy as np

from demos.bert.model.text import MAX_CHARACTERS
from demos.errors import UserError
from demos.training.data.benchmarks import data_id
from demos.training.data.columns.mapping import Column, find
from demos.training.data.file_tables import MAX_ROWS, Table
from demos.training.data.read_as import ReadAs
from demos.training.data.splits import SPLITS
from demos.training.data.tables import Record, value_of

REACH_SECONDS = 4.0  # for the Hub to answer at all
SECONDS = 60.0  # for the whole data set
MAX_HELD = 40_000_000  # characters in all
MAX_FETCHES = 2  # at a time
MAX_KEPT = 2  # data sets in memory, since one is asked for again at each move of a slider
# One name on either side of the slash: neither a path nor an address. After colons: the config, the split to test on.
NAME = re.compile(
    r"(?P<repo>(?!buckets/)\w[\w.-]{0,95}/\w[\w.-]{0,95})"
    r"(?::(?P<config>[\w.+-]{1,95})(?::(?P<tested>[\w.+-]{1,95}))?)?",
    re.ASCII,
)
FORMATS = {"parquet", "csv", "json", "text", "arrow"}  # files of values; none of them holds a program
HIDDEN = frozenset({"-1", "-1.0"})  # a class or score where a shared task keeps its answers to itself
SAMPLE = 200  # rows of a split by which columns without a known name are found
_UNREAD = re.compile("Image|Audio|Video|Pdf|Nifti|Array")  # kinds of columns that hold no text
ANSWERS = ("label", "score")  # the roles of what is to be predicted, of which a task has one
TAUGHT = ("", "train", "validation")  # the splits that classes are learned from: the first that there is
NO_HUB = "The Hugging Face Hub could not be reached; the data of this app and your own files work without it."


@dataclass(frozen=True)
class Fetched:
    """A data set's records, each with the split it is in, and what was left out, one sentence each."""

    name: str
    records: tuple[Record, ...]
    notes: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict)  # role -> the column's name there
    splits: Mapping[str, str] = field(default_factory=dict)  # train, validation, test -> the split's name there
    parsed: frozenset[str] = frozenset()  # the roles of columns whose text holds lists, as JSON

    @property
    def source(self) -> str:
        """The data set's id: what a run on it is tested on. No split where the test is drawn from the training rows."""
        repo, config, _ = hub_name(self.name)
        return data_id(repo, config, self.splits.get("test") or self.splits.get("validation") or "")


def hub_name(name: str) -> tuple[str, str | None, str | None]:
    """(repository, config, split to test on) of `owner/name:config:split`; None where left out. Raises UserError."""
    match = NAME.fullmatch(name.strip()) if isinstance(name, str) else None
    if not match or ".." in name:
        raise UserError(f"{str(name)[:60]!r} is not the name of a data set; write owner/name, or owner/name:config.")
    return match["repo"], match["config"], match["tested"]


def fetch(name: str, columns: Sequence[Column], chosen: str = "") -> Fetched:
    """The data set `owner/name`, `owner/name:config` or `owner/name:config:split`; its columns are found as a file's.

    Raises UserError within REACH_SECONDS where the Hub can't be reached and within SECONDS in any case.
    """
    return _Fetch.of(*hub_name(name), tuple(columns), chosen).wait()


class _Fetch:
    """One data set on its way, in a thread of its own: who asks for it waits no longer than he should."""

    _known: ClassVar[OrderedDict[tuple[Any, ...], _Fetch]] = OrderedDict()
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __init__(
        self, repo: str, config: str | None, tested: str | None, columns: tuple[Column, ...], chosen: str
    ) -> None:
        self.repo, self.config, self.tested, self.columns, self.chosen = repo, config, tested, columns, chosen
        self.reached, self.done = threading.Event(), threading.Event()
        self.given_up = False
        self.fetched: Fetched | None = None
        self.error: BaseException | None = None
        self.began = time.monotonic()
        threading.Thread(target=self._run, name=f"hub {repo}", daemon=True).start()

    @classmethod
    def of(cls, repo: str, config: str | None, tested: str | None, columns: tuple[Column, ...], chosen: str) -> _Fetch:
        """The fetch of this data set, the one under way or kept where there is one. Raises UserError for too many."""
        key = (repo, config, tested, columns, chosen)
        with cls._lock:
            if key not in cls._known:
                if sum(not fetch.done.is_set() for fetch in cls._known.values()) >= MAX_FETCHES:
                    raise UserError("Other data sets are being downloaded from the Hub; try again in a minute.")
                cls._known[key] = cls(*key)
            cls._known.move_to_end(key)
            ended = [key for key, fetch in cls._known.items() if fetch.done.is_set()]
            for old in ended[: max(0, len(cls._known) - MAX_KEPT)]:
                if old != key:
                    del cls._known[old]
            return cls._known[key]

    def wait(self) -> Fetched:
        """What was fetched. Raises UserError as `fetch` does; a failure is not kept."""
        left = self.began + REACH_SECONDS - time.monotonic()
        if not self.reached.wait(max(0.1, left)):
            self.given_up = True
            raise UserError(NO_HUB)
        if not self.done.wait(max(0.1, self.began + SECONDS - time.monotonic())):
            self.given_up = True
            raise UserError(f"{self.repo} could not be downloaded from the Hub within {SECONDS:.0f} seconds.")
        if self.fetched is None:
            with self._lock:
                self._known.pop((self.repo, self.config, self.tested, self.columns, self.chosen), None)
            if isinstance(self.error, UserError):
                raise UserError(str(self.error)) from self.error
            raise UserError(f"{self.repo} could not be read from the Hub just now.") from self.error
        return self.fetched

    def _run(self) -> None:
        try:
            reach_hub()
            self.reached.set()
            name = ":".join(filter(None, (self.repo, self.config, self.tested)))
            read = read_hub(self.repo, self.config, self.columns, self._stopped, self.tested, self.chosen)
            self.fetched = Fetched(name, *read)
        except BaseException as error:  # told by `wait`, in the thread that asked
            self.error = error
        finally:
            self.reached.set()
            self.done.set()
            if self.fetched is None and self.given_up:  # nobody waits any more
                with self._lock:
                    self._known.pop((self.repo, self.config, self.tested, self.columns, self.chosen), None)

    def _stopped(self) -> bool:
        return self.given_up or time.monotonic() - self.began > SECONDS


def reach_hub() -> None:
    """Raises UserError where no Hub is in reach, or none may be asked."""
    from huggingface_hub import constants  # here: nobody else needs the network
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
    repo: str,
    config: str | None,
    columns: Sequence[Column],
    stopped: Callable[[], bool] = lambda: False,
    tested: str | None = None,
    chosen: str = "",
) -> tuple[tuple[Record, ...], tuple[str, ...], dict[str, str], dict[str, str], frozenset[str]]:
    """What `Fetched` holds beside the name: at most MAX_ROWS rows of each split whose name is known.

    `tested` is the split to test on, where it is not the one called test. Classes are told by their names.
    Rows whose class the Hub keeps hidden are left out: those of no named class, and of plain numbers those of -1,
    unless the training rows have that class too. Raises UserError for a column that lacks.
    """
    opened = open_hub(repo, config)
    named = _named_splits(list(opened), tested)
    splits: dict[str, tuple[int, list[dict[str, Any]]]] = {}  # split -> rows read, those that have a class
    characters = 0
    names: dict[str, str] = {}
    parsed: set[str] = set()
    for split, name in named.items():
        rows = opened[name]
        kind = getattr(getattr(rows, "info", None), "builder_name", None)
        if kind is not None and kind not in FORMATS:
            raise UserError(f"{repo} holds files that are not tables of text ({kind[:30]}).")
        read = 0
        answered: list[dict[str, Any]] = []
        for values in _rows(rows, columns, chosen, split, stopped, names, parsed):
            read += 1
            if values is not None:
                answered.append(values)
                characters += sum(map(_characters, values.values()))
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
        usable = [values for values in answered if _answer(values) not in hidden]
        records += [Record(number, values) for number, values in enumerate(usable, len(records) + 1)]
        if usable:
            split_names[split] = named[split]
        if read == MAX_ROWS:
            notes.append(f"Only the first {MAX_ROWS:,} rows of the split {named[split]} are used.")
        if left_out := read - len(usable):
            lacks = "score" if any(column.role == "score" for column in columns) else "class"
            notes.append(f"{left_out:,} rows of the split {named[split]} have no {lacks} on the Hub and are not used.")
    if not records:
        raise UserError(f"{repo} has no rows for training; its splits are {', '.join(map(repr, list(opened)[:6]))}.")
    return tuple(records), tuple(notes), names, split_names, frozenset(parsed)


def _hidden(splits: Mapping[str, tuple[int, Sequence[Mapping[str, Any]]]]) -> frozenset[str]:
    """The answers that are hidden ones: none where the rows that are learned from have a class called -1."""
    taught = next((splits[split][1] for split in TAUGHT if split in splits), ())
    return frozenset() if any(_answer(values) in HIDDEN for values in taught) else HIDDEN


def _answer(values: Mapping[str, Any]) -> Any:
    """A row's class or score; of a task with neither a sign that is never hidden."""
    return next((values[role] for role in ANSWERS if role in values), "?")


def _characters(value: Any) -> int:
    """How much text a cell holds, in lists and structs too; what is no text counts as one."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(_characters, value.values()))
    return sum(map(_characters, value)) if isinstance(value, list | tuple) else 1


def _named_splits(names: Sequence[str], tested: str | None) -> dict[str, str]:
    """Which split serves as train, validation and test, "validation_matched" for one; "" for the only one there is.

    `tested` is to be the test. Raises UserError where there is no such split, or none to train on beside it.
    """
    chosen: dict[str, str] = {}
    for name in names:
        plain = name.lower()
        split = SPLITS.get(plain) or SPLITS.get(re.split(r"[^a-z]", plain)[0])
        if split and (split not in chosen or plain in SPLITS):
            chosen[split] = name
    if tested:
        if tested not in names or chosen.get("train") in (None, tested):
            others = ", ".join(repr(name) for name in names[:8] if name != chosen.get("train")) or "none"
            raise UserError(f"There is no split {tested!r} to test on; beside the training split there are: {others}.")
        return {split: name for split, name in chosen.items() if name != tested and split != "test"} | {"test": tested}
    if "train" not in chosen and len(names) == 1:
        return {"": names[0]}
    if list(chosen) == ["train"]:  # to be drawn from
        return {"": chosen["train"]}
    return chosen


def _rows(
    rows: Any,
    columns: Sequence[Column],
    chosen: str,
    split: str,
    stopped: Callable[[], bool],
    first_columns: dict[str, str],
    parsed: set[str],
) -> Iterator[dict[str, Any] | None]:
    """Each row's values by role; None for a row without a class.

    `first_columns` becomes the first split's columns by role; `parsed`, the roles of lists that stand in text as JSON.
    """
    features: Mapping[str, Any] = getattr(rows, "features", None) or {}
    if features:  # no picture is unpacked
        rows = rows.select_columns([name for name, of in features.items() if not _UNREAD.match(type(of).__name__)])
    iterator = iter(rows)
    sample = list(islice(iterator, SAMPLE))
    if not sample:
        return
    names = _columns_of(sample, features, columns, chosen)
    if not first_columns:
        first_columns |= names
    for row in islice(chain(sample, iterator), MAX_ROWS):
        if stopped():
            return
        values: dict[str, Any] = {}
        for column in columns:
            name = names.get(column.role)
            cell = _decoded(row.get(name), features.get(name)) if name else ""
            values[column.role] = value_of(cell[:MAX_CHARACTERS] if isinstance(cell, str) else cell, column.kind)
            if isinstance(cell, str) and not isinstance(values[column.role], str):
                parsed.add(column.role)
        if "split" in values:
            values["split"] = split
        yield values if _answer(values) else None


def _columns_of(
    sample: Sequence[Mapping[str, Any]], features: Mapping[str, Any], columns: Sequence[Column], chosen: str
) -> dict[str, str]:
    """Each role's column. Raises UserError where one is missing or not clear, and where several are chosen for one."""
    header = tuple(features or sample[0])
    header = tuple(name for name in header if name in sample[0])
    cells = [[_decoded(row.get(name), features.get(name)) for name in header] for row in sample]
    table = Table(header, list(enumerate(cells, start=1)), True, ReadAs("rows of the Hub"))
    mapping = find(table, columns, chosen=chosen).checked()
    for role, names in mapping.columns.items():
        if len(names) > 1:
            raise UserError(f"Of a data set from the Hub, one column can be the {role}, not {len(names)}.")
    return {role: names[0] for role, names in mapping.columns.items()}


def _decoded(value: Any, feature: Any) -> Any:
    """Class numbers as their names, in lists too; a hidden class as nothing; a short float as it was written."""
    if isinstance(value, float) and getattr(feature, "dtype", "") == "float32":
        return float(str(np.float32(value)))  # 3.8, and not 3.799999952316284
    names = getattr(feature, "names", None)
    if names and isinstance(value, int):
        return names[value] if 0 <= value < len(names) else None
    inner = getattr(feature, "feature", None)
    if getattr(inner, "names", None) and isinstance(value, list):
        return [_decoded(inner_value, inner) for inner_value in value]
    return value
