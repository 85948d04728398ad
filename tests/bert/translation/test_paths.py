"""Paths between two words against a search through each network's own connections."""

import itertools

import pytest

from demos.bert.translation.paths import ATTENTION, CONVOLUTION, DILATED, KERNEL, NETWORKS, RECURRENT, levels, path

HALF = KERNEL // 2


def sources(network: str, place: int, level: int) -> set[int]:
    """The places of the level below that a state is computed from."""
    if network == ATTENTION:
        return set(range(40))
    gap = KERNEL ** (level - 1) if network == DILATED else 1
    return {place + gap * move for move in range(-HALF, HALF + 1)}


def reached(network: str, place: int, level: int) -> set[int]:
    """The words on which the state at this place and level depends."""
    words = {place}
    for below in range(level, 0, -1):
        words = set().union(*(sources(network, one, below) for one in words))
    return words


@pytest.mark.parametrize("network", [CONVOLUTION, DILATED, ATTENTION])
def test_no_fewer_layers_connect_the_two_words(network: str) -> None:
    for distance in range(1, 28):
        first, second = 6, 6 + distance
        found = path(network, first, second)
        (meeting, level), other = found.first[-1], found.second[-1]
        assert other == (meeting, level)
        assert level == found.steps
        assert {first, second} <= reached(network, meeting, level)
        fewer = (reached(network, place, level - 1) for place in range(40))
        assert not any({first, second} <= words for words in fewer)
        for way in (found.first, found.second):
            for (place, below), (following, above) in itertools.pairwise(way):
                assert above == below + 1
                assert place in sources(network, following, above)


def test_a_recurrent_network_takes_a_step_a_word() -> None:
    found = path(RECURRENT, 2, 7)
    assert found.steps == 5 == sum(one[1] == other[1] == 1 for one, other in itertools.pairwise(found.first))
    assert found.first[0] == (2, 0)
    assert found.first[-1] == found.second[-1] == (7, 1)


def test_the_orders_of_table_1() -> None:
    """n / k and log_k n layers, of n words and kernel width k, and one."""
    for power in range(1, 4):
        n = KERNEL**power
        assert levels(DILATED, n) == power
        assert levels(CONVOLUTION, n) == -(-(n - 1) // (KERNEL - 1))
        assert levels(ATTENTION, n) == levels(RECURRENT, n) == 1
    assert [levels(network, 1) for network in NETWORKS] == [1, 1, 1, 1]
    with pytest.raises(ValueError, match="network"):
        path("graph", 0, 1)
