"""The recipe "few examples" compared with the others, measured once: assets/data/few_shot.json."""

import json
from functools import cache
from statistics import fmean
from typing import TypedDict

from demos.files import read_asset
from demos.templates import templates
from demos.training.presets import PRESETS

TEXT = templates(__file__, "few_shot.html")
METHODS = {  # the methods' names, in the table's order
    "few": PRESETS["few"].title,
    "mean": "logistic regression",
    "quick": PRESETS["quick"].title,
    "frozen": PRESETS["frozen"].title,
}


class Measured(TypedDict):
    command: str
    test: int
    accuracy: dict[str, dict[str, list[float]]]  # method -> examples of each class -> an accuracy a draw


@cache
def measured() -> Measured:
    """The file, read."""
    return json.loads(read_asset("data/few_shot.json"))


@cache
def few_shot_html() -> str:
    """One row per method: its mean accuracy over the draws, for each number of examples."""
    sample = measured()
    sizes = list(sample["accuracy"]["few"])
    rows = [
        (name, [f"{fmean(sample['accuracy'][method][size]):.1%}" for size in sizes]) for method, name in METHODS.items()
    ]
    draws = len(sample["accuracy"]["few"][sizes[0]])
    return TEXT.few_shot(rows, sizes, draws, sample["test"], sample["command"])
