"""The split of rated pairs: no sentence on both sides, drawn by the seed, or one sentence on why not."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demos.bert.embeddings.agreement import Pair
from demos.errors import UserError
from demos.training.data.rated_pairs import OURS, Form, Rated
from demos.training.tasks.siamese.data import MAX_HELD_OUT, our_split, split_pairs

FORM = Form("csv", (0, 1, 2))
TRAINED_ON = set(range(40)) - set(
    split_pairs(Rated(tuple(Pair(f"a {k}", f"b {k}", k / 8) for k in range(40)), "", FORM), 0).held_out_rows
)


def rated(pairs: list[tuple[str, str, float]]) -> Rated:
    return Rated(tuple(Pair(*pair) for pair in pairs), "mine.csv", FORM)


def sides(pairs: tuple[Pair, ...]) -> set[str]:
    return {" ".join(text.casefold().split()) for pair in pairs for text in (pair.first, pair.second)}


def test_our_pairs_are_split_by_the_seed() -> None:
    split = our_split(0)
    assert (len(split.train), len(split.held_out), split.top) == (111, 74, 5)
    assert not sides(split.train) & sides(split.held_out)
    assert split == our_split(0) != our_split(1)
    lines = OURS.read_text(encoding="utf-8").splitlines()[1:]
    assert [lines[row].split("\t")[2] for row in split.held_out_rows] == [pair.first for pair in split.held_out]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=30, max_size=80), st.integers(0, 3))
def test_pairs_that_share_a_sentence_stay_together(numbers: list[tuple[int, int]], seed: int) -> None:
    """Whatever is shared, in whatever letters and spaces: never a sentence on both sides."""
    pairs = [(f"Number {a}", f"number  {b}", float(k % 6)) for k, (a, b) in enumerate(numbers)]
    pairs += [(f"only {k}", f"here {k}", float(k % 6)) for k in range(20)]
    split = split_pairs(rated(pairs), seed)
    assert not sides(split.train) & sides(split.held_out)
    assert len(split.train) + len(split.held_out) == len(pairs)


def test_bounds_and_scales() -> None:
    many = [(f"a {k}", f"b {k}", k % 11 / 10) for k in range(2_000)]
    split = split_pairs(rated(many), 0)
    assert len(split.held_out) == MAX_HELD_OUT
    assert split.top == 1
    assert split_pairs(rated([(a, b, 7 * score) for a, b, score in many]), 0).top == 10
    assert split_pairs(rated([(a, b, 700 * score) for a, b, score in many]), 0).top == 700


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        ([(f"a {k}", f"b {k}", k - 1.0) for k in range(40)], "lowest rating is -1"),
        ([(f"a {k}", f"b {k}", float(k)) for k in range(9)], "Only 4 of 9 pairs can be held out"),
        ([("the same", f"b {k}", float(k)) for k in range(40)], "Only 0 of 40 pairs can be held out"),
        ([(f"a {k}", f"b {k}", 5.0 * (k in TRAINED_ON)) for k in range(40)], "All held-out pairs have the same rating"),
    ],
)
def test_what_cannot_be_split_is_told_in_a_sentence(pairs: list[tuple[str, str, float]], told: str) -> None:
    with pytest.raises(UserError, match=told):
        split_pairs(rated(pairs), 0)
