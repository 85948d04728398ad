"""The picture of both stacks, as plain records: boxes and arrows in the numbers of its SVG."""

from __future__ import annotations

from dataclasses import dataclass

WIDTH, LAYER, GAP, BOX, STEP = 440, 142, 16, 30, 42  # of the drawing; of a decoder layer; between; of a box; box to box
LEFT, RIGHT, ACROSS = 12, 252, 176  # where the columns begin, and how wide they are
TOP = 78  # above the topmost layer: the output layer


@dataclass(frozen=True)
class Box:
    """A rectangle with its name; `place` is its number among the places, or None where nothing is to be opened."""

    x: int
    y: int
    name: str
    place: int | None = None


@dataclass(frozen=True)
class Frame:
    """A layer around its boxes."""

    x: int
    y: int
    height: int
    name: str


@dataclass(frozen=True)
class Stacks:
    """All that the template draws."""

    height: int
    frames: tuple[Frame, ...]
    boxes: tuple[Box, ...]
    crossing: tuple[int, ...]  # heights at which the encoder's output enters the decoder's layers
    leaves: int  # the height of the encoder's top
    inputs: int  # the height of both embeddings


def stacks(layers: int) -> Stacks:
    """The picture for so many layers in each stack; it is read from below."""
    bottom = TOP + layers * (LAYER + GAP)
    frames, boxes, crossing = [], [Box(RIGHT, 34, "Linear + softmax", 3 * layers)], []
    for layer in range(layers):
        floor = bottom - GAP - layer * (LAYER + GAP)  # the lower edge of this decoder layer
        frames.append(Frame(RIGHT, floor - LAYER, LAYER, f"decoder layer {layer + 1}"))
        rows = [floor - 40 - at * STEP for at in range(3)]
        boxes += [
            Box(RIGHT, rows[0], "Masked self-attention", layers + 2 * layer),
            Box(RIGHT, rows[1], "Cross-attention", layers + 2 * layer + 1),
            Box(RIGHT, rows[2], "Feed-forward"),
        ]
        crossing.append(rows[1] + BOX // 2)
        floor = bottom - GAP - layer * (LAYER + GAP - STEP)  # encoder layers have a box less
        frames.append(Frame(LEFT, floor - LAYER + STEP, LAYER - STEP, f"encoder layer {layer + 1}"))
        boxes += [Box(LEFT, floor - 40, "Self-attention", layer), Box(LEFT, floor - 40 - STEP, "Feed-forward")]
    leaves = bottom - GAP - layers * (LAYER + GAP - STEP) + GAP
    boxes += [Box(x, bottom + 4, "Embedding + position") for x in (LEFT, RIGHT)]
    return Stacks(bottom + 44, tuple(frames), tuple(boxes), tuple(crossing), leaves, bottom + 4)
