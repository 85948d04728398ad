"""The models of models.yaml, with their parameters: counted, quoted or not published."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import yaml

from demos.bert.encoder.other_sizes import OTHERS
from demos.bert.encoder.size import KNOWN, total_parameters
from demos.files import read_beside

SEES = ("two LSTMs", "both sides", "left side only", "encoder and decoder")


@dataclass(frozen=True)
class Model:
    """One model of the family."""

    name: str
    date: str  # year-month of the first version
    sees: str  # one of SEES
    changed: str
    parameters: int | None  # None where they are not published
    counted: bool  # from the configuration; else a paper's own number
    data: str
    result: str
    source: str
    arxiv: str  # the number, or "" where there is none


@cache
def models() -> tuple[Model, ...]:
    """All, by date."""
    counts = {shape.name: (total_parameters(shape), True) for shape in KNOWN}
    counts |= {one.name: (one.parameters, one.counted) for one in OTHERS}
    found = []
    for row in yaml.safe_load(read_beside(__file__, "models.yaml")):
        quoted = row.pop("parameters", None), False
        parameters, counted = counts[row.pop("count")] if "count" in row else quoted
        found.append(Model(**row, parameters=parameters, counted=counted))
    return tuple(sorted(found, key=lambda model: model.date))
