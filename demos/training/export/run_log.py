"""The record of a finished run, kept as a file beside its model: its recipe, its data, its numbers."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import transformers

from demos.bert.model.catalogue import ModelSpec
from demos.files import Json
from demos.training.data.splits import Splits
from demos.training.events import Outcome, Started
from demos.training.export.recipe_file import Recipe, recipe_of

LOG = "log.json"
MAX_LOOKS = 60


@dataclass(frozen=True)
class Log:
    """Plain numbers and texts; a number that JSON lacks (NaN) is None."""

    recipe: Recipe
    base_title: str
    base_id: str  # on the Hub; "" for the bundled model
    base_revision: str
    data_name: str
    notes: tuple[str, ...]  # the changes to the data
    started: Started
    metrics: dict[str, float | None]  # on the test split
    loss: float | None
    looks: tuple[tuple[float | None, ...], ...]  # step, training loss, validation loss, validation score
    steps: int  # done
    stopped: str  # "asked" or "time" where the run ended before its last step; else ""
    seconds: float
    examples_per_second: float
    processes: int = 1
    versions: tuple[str, str] = ("", "")  # of torch and transformers
    earlier: str = ""  # the run that it began with, in words; "" where it is not known, or there is none
    learned_nothing: str = ""  # the sign that it has learned nothing, one sentence; "" of any other run


def log_of(
    recipe: Recipe,
    spec: ModelSpec,
    dataset: Splits,
    started: Started,
    looks: Sequence[Sequence[float | None]],
    result: Outcome,
    stopped: str = "",
    processes: int = 1,
    earlier: str = "",
    learned_nothing: str = "",
) -> Log:
    """The log of a run from its events. `looks` are rows of step, training loss, validation loss and score."""
    thinned = looks if len(looks) <= MAX_LOOKS else [*looks[:: math.ceil(len(looks) / MAX_LOOKS)], looks[-1]]
    return Log(
        recipe=recipe.named(),
        base_title=spec.title,
        base_id=spec.hub_id,
        base_revision=spec.revision,
        data_name=dataset.name,
        notes=tuple(getattr(dataset, "notes", ())),
        started=started,
        metrics={name: _finite(value) for name, value in result.metrics.items()},
        loss=_finite(result.loss),
        looks=tuple(tuple(map(_finite, look[:4])) for look in thinned),
        steps=result.steps,
        stopped=stopped,
        seconds=round(result.seconds, 3),
        examples_per_second=round(result.examples_per_second, 2),
        processes=processes,
        versions=(torch.__version__, transformers.__version__),
        earlier=earlier,
        learned_nothing=learned_nothing,
    )


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def keep_log(folder: Path, log: Log) -> None:
    """Write the log into the run's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / LOG).write_text(json.dumps(asdict(log), ensure_ascii=False), encoding="utf-8")


def read_log(folder: Path) -> Log | None:
    """The log in the run's folder; None where there is none."""
    try:
        document: Json = json.loads((folder / LOG).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    document |= {"recipe": recipe_of(document["recipe"]), "started": Started(**_tuples(document["started"]))}
    return Log(**_tuples(document) | {"looks": tuple(map(tuple, document["looks"]))})


def _tuples(document: Json) -> Json:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in document.items()}
