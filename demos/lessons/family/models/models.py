"""The models of models.yaml, with their parameters: counted, quoted or not published."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from urllib.parse import urlencode

import yaml

from demos.bert.encoder.other_sizes import OTHERS
from demos.bert.encoder.size import KNOWN, total_parameters
from demos.bert.family.members import MEMBERS
from demos.bert.model.catalogue import CATALOGUE
from demos.files import read_beside

PARTS = {"elmo": "our small ELMo", "decoder": "our small decoder", "late_interaction": "MaxSim with a BERT"}
SEES = ("two LSTMs", "both sides", "left side only", "encoder and decoder", "the word alone", "the whole input")


@dataclass(frozen=True)
class Link:
    """The view of the app that shows a model, or a smaller one of its kind."""

    title: str
    lesson: str
    choices: Mapping[str, str]  # of the link

    @property
    def href(self) -> str:
        """The address, relative to the page."""
        return f"./{self.lesson}?{urlencode(self.choices)}"


@dataclass(frozen=True)
class Model:
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
    opens: Link | None = None


def link(member: str = "", model: str = "", part: str = "", lesson: str = "family", title: str = "") -> Link:
    """To a member's attention, to all heads of a model of the bar's menu, or to a part. Raises KeyError for no such."""
    if member:
        return Link(MEMBERS[member].title, "family", {"part": "attention", "family_model": member})
    if model:
        return Link(CATALOGUE[model].title, "attention", {"model": model})
    return Link(title or PARTS[part], lesson, {"part": part})


@cache
def models() -> tuple[Model, ...]:
    """All, by date."""
    counts = {shape.name: (total_parameters(shape), True) for shape in KNOWN}
    counts |= {other.name: (other.parameters, True) for other in OTHERS}
    family = []
    for row in yaml.safe_load(read_beside(__file__, "models.yaml")):
        quoted = row.pop("parameters", None), False
        parameters, counted = counts[row.pop("count")] if "count" in row else quoted
        opens = link(**row.pop("opens")) if "opens" in row else None
        family.append(Model(**row, opens=opens, parameters=parameters, counted=counted))
    return tuple(sorted(family, key=lambda model: model.date))
