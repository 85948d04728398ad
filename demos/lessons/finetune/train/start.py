"""The start of a training of "Train": the bar's model, or one of the reader's own kept runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demos.bert.model.catalogue import ModelSpec
from demos.errors import UserError
from demos.figures.download_names import run_folder
from demos.figures.run_table import run_title
from demos.figures.short_text import short
from demos.figures.training_program import EarlierRun, earlier_run
from demos.page.services import Services
from demos.page.view import Update, limit
from demos.templates import templates
from demos.training.learning.earlier import GONE, read_run
from demos.training.results.history import Record

MODEL = "model"  # the menu's value if no run is chosen
NAME_LENGTH = 60  # of a data set
TEXT = templates(__file__)


@dataclass(frozen=True)
class Start:
    """A model, and of it perhaps a run that is kept."""

    spec: ModelSpec
    record: Record | None = None
    folder: Path | None = None  # the folder of that run

    @property
    def title(self) -> str:
        """The model's, and which run changed it: "MiniLM, from run 2"."""
        return f"{self.spec.title}, from run {self.record.number}" if self.record else self.spec.title

    @property
    def downloaded(self) -> str:
        """The name of the run's folder as "Export" hands it out; "" of a model as it is."""
        return run_folder(self.record.data) if self.record else ""

    @property
    def description(self) -> str:
        """The run in words: "run 2, trained on Emotion"; "" of a model as it is."""
        return f"run {self.record.number}, trained on {self.record.data}" if self.record else ""

    def program(self, now: Any) -> EarlierRun | None:
        """The lines with which a program of the task `now` loads the run; None without one. UserError if it is gone."""
        if self.record is None or self.folder is None:
            return None
        return earlier_run(self.record.number, *read_run(self.folder), now)


def start_of(services: Services, model: str, history: Sequence[Record], number: str | None) -> Start:
    """The start that `number` of the menu means in this reader's history, which has no other reader's runs.

    Raises UserError for a run that is no longer kept, or was never this reader's.
    """
    runs = services.trainings.runs
    if (number or MODEL) == MODEL:
        return Start(services.store.spec(services.pretrained_key(model)))
    record = next((record for record in history if str(record.number) == number), None)
    if record is None or not runs.has(record.run):
        raise UserError(GONE)
    return Start(services.store.spec(runs.base(record.run)), record, runs.folder(record.run))


def available_runs(services: Services, history: Sequence[Record]) -> list[Record]:
    """The reader's runs whose models are kept, newest first."""
    return [record for record in reversed(history) if services.trainings.runs.has(record.run)]


def offers_of(services: Services, history: Sequence[Record], number: str | None) -> Update:
    """The menu of the reader's kept runs, not there before the first one; a run that went gives way to the model."""
    available = available_runs(services, history)
    runs = [(run_title(record, last=record is history[-1]), str(record.number)) for record in available]
    value = number if number in dict(runs).values() else MODEL
    return limit(choices=[("the pre-trained model", MODEL), *runs], value=value, visible=bool(runs))


def start_from_model(services: Services, history: Sequence[Record]) -> str:
    """The line under the menu where no run is chosen: what the menu does, or when it will appear."""
    return str(TEXT.start_from_model(bool(available_runs(services, history))))


def start_from_run(start: Start, now: Any) -> str:
    """The line under the menu: the parts of the run that continue in the task `now`, and the new ones."""
    earlier, record = start.program(now), start.record
    if earlier is None or record is None:
        raise ValueError("No run is chosen.")
    return str(
        TEXT.start_from_run(start.spec.title, record.number, short(record.data, NAME_LENGTH), earlier.keeps_head)
    )
