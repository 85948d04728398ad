"""Which examples are watched: few, of every class, always the same."""

from __future__ import annotations

import pytest

from demos.training.learning.watched import watched_of


def test_classes_are_watched_evenly() -> None:
    targets = [0] * 60 + [1] * 30 + [2] * 1
    places = watched_of(targets)
    assert [sum(targets[place] == label for place in places) for label in range(3)] == [4, 3, 1]
    assert places == tuple(sorted(set(places))) == watched_of(targets)
    assert places[:4] == (7, 22, 37, 52)  # the middles of the class's four quarters


@pytest.mark.parametrize(("targets", "count"), [([], 0), ([0, 1], 2), (list(range(50)), 8), ([(1, 2)] * 30, 8)])
def test_never_more_than_there_are_nor_than_eight(targets: list[object], count: int) -> None:
    places = watched_of(targets)
    assert len(set(places)) == len(places) == count
    assert all(0 <= place < len(targets) for place in places)
