"""Three splits from rows of any kind: the file's own splits are kept, the rest is drawn, and no row is in two of them.

The common parts of all tasks' data sets are here too.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, TypeVar

from demos.errors import UserError

MAX_TRAIN, MAX_VALIDATION, MAX_TEST = 1_500, 300, 2_000
LEAST_CONTAINED = 12  # characters of a text that counts as a part of another
SHARES = {"test": 0.2, "validation": 0.1}  # of a file that brings no splits
SPLITS = {
    "train": "train",
    "training": "train",
    "validation": "validation",
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
    "test": "test",
    "testing": "test",
}

T = TypeVar("T")


@dataclass(frozen=True)
class Item(Generic[T]):
    """A row on its way into a split."""

    number: int  # in its file
    key: str  # rows with the same are the same
    stratum: str  # the group that each split gets a share of: the class, or "" where there is none
    split: str  # as the file says it; "" where it does not
    value: T
    label: str = ""  # rows that are the same should have the same
    group: str = ""  # rows with the same stay in one split; "" for a row without a group


class Parts(NamedTuple, Generic[T]):
    """The splits, and what was done to get them, one sentence each."""

    train: tuple[T, ...]
    validation: tuple[T, ...]
    test: tuple[T, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Splits(Generic[T]):
    """A task's data: examples in three splits, none in two of them. One that is watched and tested is the same object.

    Each task's data set is one, with what it knows beyond that.
    """

    name: str
    train: tuple[T, ...]
    validation: tuple[T, ...]
    test: tuple[T, ...]
    notes: tuple[str, ...] = ()  # the changes to the file, one sentence each
    # Which data set this is: a key of our own, or an id of `benchmarks.data_id`; "" for a person's file.
    source: str = field(default="", kw_only=True)

    @property
    def sentences(self) -> int:
        """The number of texts that the encoder gets for one example."""
        return 1


def validation_as_test(dataset: Splits[T]) -> Splits[T]:
    """The data set with its validation examples as its test: what a curve's score is measured on."""
    return dataset if dataset.test is dataset.validation else replace(dataset, test=dataset.validation)


def counts_of(classes: Iterable[int], num_classes: int) -> tuple[int, ...]:
    """The number of rows of each class."""
    counts = Counter(classes)
    return tuple(counts[label] for label in range(num_classes))


def same(text: str) -> str:
    """Equal for texts that differ in capitals and blanks alone."""
    return " ".join(text.casefold().split())


def split_items(
    items: Iterable[Item[T]],
    seed: int,
    max_train: int,
    noun: str = "sentence",
    check: Callable[[Sequence[Item[T]]], object] = lambda distinct: None,
    strata: str = "class by class",
) -> Parts[T]:
    """Rows in three splits: the file's own, or drawn by `seed`, stratum by stratum; each within its bound.

    A row that occurs twice is taken once, the test split's first, so that nothing tested was trained on; `check` may
    refuse what is left. The notes say by what the rest is drawn: `strata`. Raises UserError for a split without a known
    name, and where nothing is left to train on.
    """
    notes: list[str] = []
    given_rows = [replace(item, split=split_name(item.split, item.number)) for item in items]
    distinct = _distinct(given_rows)
    if len(distinct) < len(given_rows):
        notes.append(
            f"{count_of(len(given_rows) - len(distinct), noun)} removed because an earlier row has the same content."
        )
        by_key = {item.key: item for item in distinct}
        notes += labels_differ(((item, by_key[item.key]) for item in given_rows), noun)
    check(distinct)
    by_split: dict[str, list[Item[T]]] = defaultdict(list)
    for item in distinct:
        by_split[item.split].append(item)
    if by_split[""] and set(by_split) - {""}:
        raise UserError(f"Row {by_split[''][0].number:,} has no split, but other rows have one.")
    if not set(by_split) - {""}:
        by_split["train"] = by_split.pop("")
    if not by_split["train"]:
        if any(item.split == "train" for item in given_rows):
            raise UserError(f"Every {noun} of the training split is also in another split.")
        raise UserError("No row is in the training split.")
    if by_split["validation"] and not by_split["test"]:
        by_split["test"] = by_split.pop("validation")
        notes.append("The file has no test split, so its validation split is used for the test.")
    for split, share in SHARES.items():
        if not by_split[split]:
            counts = Counter(item.stratum for item in by_split["train"])
            if any(item.group for item in by_split["train"]):
                by_split["train"], by_split[split] = _draw_groups(by_split["train"], share, f"{seed} {split}")
                how = "group by group, "
            else:
                quotas = {stratum: round(share * count) for stratum, count in counts.items()}
                by_split["train"], by_split[split] = _draw(by_split["train"], quotas, seed, left=1)
                how = f"{strata}, " if len(counts) > 1 else ""
            notes.append(f"{count_of(len(by_split[split]), noun)} drawn for the {split} split ({how}seed {seed}).")
    for split, limit in (("train", max_train), ("validation", MAX_VALIDATION), ("test", MAX_TEST)):
        if len(by_split[split]) > limit:
            _, few = _draw(by_split[split], _quotas(by_split[split], limit), seed, left=0)
            notes.append(f"{len(few):,} of {count_of(len(by_split[split]), noun)} in the {split} split are used.")
            by_split[split] = few
    notes += _groups_note(by_split["train"], by_split["test"])
    train, validation, test = (
        tuple(item.value for item in by_split[split]) for split in ("train", "validation", "test")
    )
    return Parts(train, validation, test, tuple(notes))


def split_name(name: str, number: int) -> str:
    """The name of a row's split here, "" for none. Raises UserError for a name that is not known."""
    if not name:
        return ""
    if name.lower() not in SPLITS:
        raise UserError(f"Row {number:,} has the split {name[:40]!r}; use train, validation or test.")
    return SPLITS[name.lower()]


def count_of(number: int, noun: str) -> str:
    """A number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def labels_differ(repeated: Iterable[tuple[Any, Any]], noun: str) -> list[str]:
    """A sentence on rows that are the same as another but for the label, from (row, the row that counts); or none.

    Rows have a `number` and a `label`.
    """
    odd = [(row, used) for row, used in repeated if row.label != used.label]
    if not odd:
        return []
    row, used = odd[0]
    rest = f"; the same holds for {count_of(len(odd) - 1, 'more row')}" if len(odd) > 1 else ""
    return [
        f"Rows {used.number:,} and {row.number:,} have the same {noun} with the labels {used.label[:30]!r} and "
        f"{row.label[:30]!r}: row {used.number:,} is used{rest}."
    ]


def shared_note(train: Iterable[Sequence[str]], test: Iterable[Sequence[str]]) -> tuple[str, ...]:
    """A sentence on the test pairs that share a sentence with a training pair; or none."""
    seen = {same(text) for pair in train for text in pair}
    count = sum(any(same(text) in seen for text in pair) for pair in test)
    return (f"{count_of(count, 'test pair')} with a sentence that a training pair has too.",) if count else ()


def contained_note(train: Iterable[str], test: Iterable[str]) -> tuple[str, ...]:
    """A sentence on the test texts that contain a longer training text or are a part of one; or none."""
    trained, tested = ([same(text) for text in texts] for texts in (train, test))
    in_training, in_test = (f" {'  '.join(texts)} " for texts in (trained, tested))
    parts = [text for text in trained if len(text) >= LEAST_CONTAINED and f" {text} " in in_test]
    count = sum(
        len(text) >= LEAST_CONTAINED
        and (f" {text} " in in_training or any(f" {part} " in f" {text} " for part in parts))
        for text in tested
    )
    if not count:
        return ()
    return (
        f"{count_of(count, 'test text')} {'contains' if count == 1 else 'contain'} a training text or "
        f"{'is' if count == 1 else 'are'} a part of one, which makes the test easier; a column that says which rows "
        "belong together can be chosen as the group.",
    )


def _groups_note(train: Sequence[Item[T]], test: Sequence[Item[T]]) -> list[str]:
    """A sentence on the use of groups; none if there are no groups."""
    groups = {item.group for item in train} - {""}
    tested = {item.group for item in test} - {""}
    if not groups and not tested:
        return []
    both = len(groups & tested)
    if both:
        return [f"{count_of(both, 'group')} of rows {'is' if both == 1 else 'are'} both in training and in test."]
    return ["Rows of one group stay in one split."]


def _draw_groups(items: Sequence[Item[T]], share: float, seed: str) -> tuple[list[Item[T]], list[Item[T]]]:
    """(the rest, drawn), in file order: whole groups, about this share of the rows; each stratum keeps a row.

    Raises UserError where no group can be drawn.
    """
    groups: dict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        groups[item.group or f"\n{position}"].append(position)
    left = Counter(item.stratum for item in items)
    order = sorted(groups)
    random.Random(seed).shuffle(order)
    wanted = max(1, round(share * len(items)))
    drawn: set[int] = set()
    for name in order:
        taken = Counter(items[position].stratum for position in groups[name])
        more = len(drawn) + len(groups[name])
        fits = not drawn or abs(more - wanted) <= abs(len(drawn) - wanted)
        if len(drawn) < wanted and fits and all(left[stratum] > count for stratum, count in taken.items()):
            drawn.update(groups[name])
            left -= taken
    if not drawn:
        raise UserError("Its rows form too few groups for a test split; choose no column as the group.")
    rest = [item for position, item in enumerate(items) if position not in drawn]
    return rest, [item for position, item in enumerate(items) if position in drawn]


def _distinct(items: Iterable[Item[T]]) -> list[Item[T]]:
    """One row a key, in file order: the test split's before validation's before training's."""
    rank = {"test": 0, "validation": 1}
    first: dict[str, Item[T]] = {}
    for item in sorted(items, key=lambda item: rank.get(item.split, 2)):
        first.setdefault(item.key, item)
    return sorted(first.values(), key=lambda item: (item.split == "test", item.number))


def _quotas(items: Sequence[Item[T]], limit: int) -> dict[str, int]:
    """The size of each stratum's share if all make `limit` rows in their own proportions (largest remainders)."""
    counts = Counter(item.stratum for item in items)
    quotas = {stratum: limit * count // len(items) for stratum, count in counts.items()}
    spare = sorted(counts, key=lambda stratum: (-(limit * counts[stratum] % len(items)), stratum))
    for stratum in spare[: limit - sum(quotas.values())]:
        quotas[stratum] += 1
    return quotas


def _draw(
    items: Sequence[Item[T]], quotas: Mapping[str, int], seed: int, left: int
) -> tuple[list[Item[T]], list[Item[T]]]:
    """(the rest, drawn), in file order: so many of each stratum, at least one, but `left` rows of it stay."""
    drawn: set[int] = set()
    by_stratum: dict[str, list[int]] = defaultdict(list)
    for position, item in enumerate(items):
        by_stratum[item.stratum].append(position)
    for stratum in sorted(by_stratum):
        positions = by_stratum[stratum]
        random.Random(f"{seed} {stratum}").shuffle(positions)
        drawn |= set(positions[: min(len(positions) - left, max(1, quotas[stratum]))])
    rest = [item for position, item in enumerate(items) if position not in drawn]
    return rest, [item for position, item in enumerate(items) if position in drawn]
