"""The shortest way between two words k apart: through a recurrent network, convolutions and self-attention.

Steps are counted until one state depends on both words (Vaswani et al. 2017, section 4 and table 1).
"""

from dataclasses import dataclass

KERNEL = 3  # words that a convolution combines, in most layers of ConvS2S (Gehring et al. 2017)
RECURRENT, CONVOLUTION, DILATED, ATTENTION = "recurrent", "convolution", "dilated", "attention"
NETWORKS = (RECURRENT, CONVOLUTION, DILATED, ATTENTION)
Point = tuple[int, int]  # (a word's place, from 0; the level, the words' own being 0)


@dataclass(frozen=True)
class Path:
    """The paths of the first and the second of two words into one state, which is the last point of both."""

    steps: int  # of the longer of the two ways
    first: tuple[Point, ...]
    second: tuple[Point, ...]


def path(network: str, first: int, second: int) -> Path:
    """The way between the words at two places, `first` < `second`. Raises ValueError for an unknown network."""
    distance = second - first
    if network == RECURRENT:  # into the first word's state, and from state to state
        across = tuple((place, 1) for place in range(first, second + 1))
        return Path(distance, ((first, 0), *across), ((second, 0), (second, 1)))
    if network == ATTENTION:
        return Path(1, ((first, 0), (second, 1)), ((second, 0), (second, 1)))
    if network == CONVOLUTION:
        layers = -(-distance // (KERNEL - 1))
        moves = [(min(KERNEL - 1, distance - done), 1) for done in range(0, distance, KERNEL - 1)]
    elif network == DILATED:  # layer l combines words KERNEL ** (l - 1) apart: the distance, digit by digit
        moves, rest, gap = [], distance, 1
        while rest:
            moves.append((rest % KERNEL, gap))
            rest, gap = rest // KERNEL, gap * KERNEL
        layers = len(moves)
    else:
        raise ValueError(f"network is one of {NETWORKS}")
    left, right = [(first, 0)], [(second, 0)]
    for level, (nearer, gap) in enumerate(moves, start=1):  # each layer brings the two nearer by 0, 1 or 2 gaps
        left.append((left[-1][0] + gap * min(nearer, 1), level))
        right.append((right[-1][0] - gap * (nearer == KERNEL - 1), level))
    return Path(layers, tuple(left), tuple(right))


def levels(network: str, n: int) -> int:
    """The layers that are needed for any two of `n` words, at least one."""
    return 1 if network in (RECURRENT, ATTENTION) else path(network, 0, max(1, n - 1)).steps
