"""The picture of both stacks, as plain records: boxes and arrows in the numbers of its SVG."""

from collections.abc import Sequence
from dataclasses import dataclass

from demos.files import read_beside

WIDTH, GAP = 440, 16  # of the drawing; between layers
BOX, NORM, STEP = 28, 24, 64  # of a box; of the Add & Norm above it; from box to box
LAYER = 210  # of a decoder layer
LEFT, RIGHT, ACROSS = 12, 252, 176  # left edges and widths of the columns
TOP = 78  # above the topmost layer: the output layer
NORM_NAME = "Add & norm"


@dataclass(frozen=True)
class Box:
    """A rectangle with its name; `place` is its number among the places."""

    x: int
    y: int
    name: str
    place: int
    height: int = BOX


@dataclass(frozen=True)
class Frame:
    """A layer around its boxes."""

    x: int
    y: int
    height: int
    name: str


@dataclass(frozen=True)
class Stacks:
    """The boxes and arrows that the template draws."""

    height: int
    frames: tuple[Frame, ...]
    boxes: tuple[Box, ...]  # in the order in which they are computed
    crossing: tuple[int, ...]  # heights at which the encoder's output enters the decoder's layers
    leaves: int  # the height of the encoder's top
    columns: tuple[int, int] = (LEFT, RIGHT)


def stacks(layers: int) -> Stacks:
    """The picture for so many layers in each stack; it is read from below.

    Places are numbered as in demos/bert/translation/transformer_places.py: attention, output, then all others.
    """
    bottom = TOP + layers * (LAYER + GAP)
    others = 3 * layers + 1
    encoder_others, decoder_others = others + 2, others + 2 + 3 * layers
    frames, crossing = [], []
    left = [Box(LEFT, bottom + 4, "Embedding + position", others)]
    right = [Box(RIGHT, bottom + 4, "Embedding + position", others + 1)]
    for layer in range(layers):
        floor = bottom - GAP - layer * (LAYER + GAP - STEP)  # the lower edge; encoder layers have a sublayer less
        frames.append(Frame(LEFT, floor - LAYER + STEP, LAYER - STEP, f"encoder layer {layer + 1}"))
        first = encoder_others + 3 * layer
        left += sublayers(LEFT, floor, [("Self-attention", layer, first), ("Feed-forward", first + 1, first + 2)])
        floor = bottom - GAP - layer * (LAYER + GAP)
        frames.append(Frame(RIGHT, floor - LAYER, LAYER, f"decoder layer {layer + 1}"))
        first, attention = decoder_others + 4 * layer, layers + 2 * layer
        named = [
            ("Masked self-attention", attention, first),
            ("Cross-attention", attention + 1, first + 1),
            ("Feed-forward", first + 2, first + 3),
        ]
        right += sublayers(RIGHT, floor, named)
        crossing.append(right[-4].y + BOX // 2)
    right.append(Box(RIGHT, 36, "Linear + softmax", 3 * layers))
    leaves = bottom - layers * (LAYER + GAP - STEP)
    return Stacks(bottom + 44, tuple(frames), (*left, *right), tuple(crossing), leaves)


def sublayers(x: int, floor: int, named: Sequence[tuple[str, int, int]]) -> list[Box]:
    """A box for each (name, its place, the place of its Add & Norm), from the lower edge `floor` upwards."""
    boxes = []
    for at, (name, place, norm) in enumerate(named):
        y = floor - 6 - BOX - at * STEP
        boxes += [Box(x, y, name, place), Box(x, y - NORM - 2, NORM_NAME, norm, NORM)]
    return boxes


def transformer_code(source: Sequence[str]) -> str:
    """A program that translates these words as the page does."""
    return read_beside(__file__, "program.txt").replace("SENTENCE", repr(" ".join(source)))
