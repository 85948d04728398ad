"""The cost and the accuracy of each sentence vector, measured once: assets/data/pooling.json."""

import json
from functools import cache
from typing import TypedDict

from demos.files import read_asset
from demos.templates import templates

TEXT = templates(__file__, "poolings.html")
NAMES = {"cls": "[CLS]", "mean": "mean", "none": "no pooling"}  # in the table's order
COMMAND = "python tests/benchmarks pooling"


class Measured(TypedDict):
    seeds: int
    poolings: dict[str, dict[str, float]]  # pooling -> the head's parameters, seconds of a training, accuracy


@cache
def measured() -> Measured:
    """The file, read."""
    return json.loads(read_asset("data/pooling.json"))


def poolings_html() -> str:
    """One row per pooling."""
    sample = measured()
    rows = [(name, sample["poolings"][pooling]) for pooling, name in NAMES.items()]
    return TEXT.poolings(rows, sample["seeds"], COMMAND)
