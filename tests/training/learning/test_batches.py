"""Batches hold every sentence once, of like length, in an order that only the generator decides; few are watched."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from demos.training.learning.batches import SCORING_TOKENS, balanced_places, scoring_batches, training_batches


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(2, 512), min_size=1, max_size=300), st.integers(1, 40), st.integers(0, 99))
def test_every_index_once(lengths: list[int], batch_size: int, seed: int) -> None:
    batches = training_batches(lengths, batch_size, torch.Generator().manual_seed(seed))
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    assert max(map(len, batches)) <= batch_size
    assert batches == training_batches(lengths, batch_size, torch.Generator().manual_seed(seed))
    scoring = scoring_batches(lengths)
    assert sorted(index for batch in scoring for index in batch) == list(range(len(lengths)))
    assert all(len(b) == 1 or len(b) * max(lengths[i] for i in b) <= SCORING_TOKENS for b in scoring)


def test_little_padding_and_a_new_order_each_epoch() -> None:
    generator = torch.Generator().manual_seed(0)
    lengths = [5 + (7 * k) % 40 for k in range(320)]
    epochs = [training_batches(lengths, 16, generator) for _ in range(2)]
    assert epochs[0] != epochs[1]
    padded = sum(len(batch) * max(lengths[i] for i in batch) for batch in epochs[0])
    assert padded < 1.1 * sum(lengths)


def test_classes_are_watched_evenly() -> None:
    targets = [0] * 60 + [1] * 30 + [2] * 1
    places = balanced_places(targets)
    assert [sum(targets[place] == label for place in places) for label in range(3)] == [4, 3, 1]
    assert places == tuple(sorted(set(places))) == balanced_places(targets)
    assert places[:4] == (7, 22, 37, 52)  # the middles of the class's four quarters


@pytest.mark.parametrize(("targets", "count"), [([], 0), ([0, 1], 2), (list(range(50)), 8), ([(1, 2)] * 30, 8)])
def test_never_more_than_there_are_nor_than_eight(targets: list[object], count: int) -> None:
    places = balanced_places(targets)
    assert len(set(places)) == len(places) == count
    assert all(0 <= place < len(targets) for place in places)
