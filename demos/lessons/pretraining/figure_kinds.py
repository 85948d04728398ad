"""The three kinds of chosen token (masked, random, kept), each with its mark and its color."""

from demos.figures.palette import CLASSES

KINDS = (
    ("masked", "■", CLASSES[0], "square"),
    ("random", "◆", CLASSES[5], "diamond"),
    ("kept", "●", CLASSES[2], "circle"),
)
NAMES = ("", *(name for name, *_ in KINDS))  # by the kind's number; 0 is a token that was not chosen
MARKS = ("", *(mark for _, mark, *_ in KINDS))
