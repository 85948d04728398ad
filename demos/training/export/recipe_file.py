"""A recipe as a file: the model, the task, the data and every setting, in JSON that page, script and command share."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from demos.errors import UserError
from demos.training.data.file_tables import MAX_ROWS
from demos.training.data.splits import MAX_TRAIN, Splits
from demos.training.form_values import HUB, LEAST_TRAIN, OWN, UPLOAD, read_dataset
from demos.training.settings import Settings

LARGEST = 64 * 2**10  # bytes of a recipe file
TEXTS = {"model": 100, "task": 20, "data": 40, "file": 1_000, "test_file": 1_000, "hub": 200}  # most characters


@dataclass(frozen=True)
class Recipe:
    """What makes a run, whole: equal recipes on equal machines give equal numbers."""

    model: str = "minilm"  # key of the catalogue
    task: str = "sentence"  # sentence, pair, entities, question or choice
    data: str = OWN  # key of a data set of our own, or "file", or "hub"
    file: str = ""  # where `data` is "file"
    test_file: str = ""  # one that is the test split, or none
    hub: str = ""  # where `data` is "hub": owner/name or owner/name:config
    max_train: int = MAX_TRAIN  # the page's bound; the command takes up to MAX_ROWS
    settings: Settings = field(default_factory=Settings)

    @property
    def source(self) -> str:
        """The data in a few words: where it comes from."""
        return {UPLOAD: self.file, HUB: self.hub}.get(self.data, self.data)

    def dataset(self) -> Splits:
        """The data, as the page reads it; the seed is the settings' own. Raises UserError where it can't be had."""
        for name in filter(None, (self.file, self.test_file) if self.data == UPLOAD else ()):
            if not Path(name).is_file():
                raise UserError(f"There is no file {name!r} here; the recipe names the file and does not hold it.")
        files = self.file or None, self.test_file or None
        return read_dataset(self.task, self.data, *files, self.hub, self.max_train, self.settings.seed, MAX_ROWS)

    def named(self) -> Recipe:
        """What may be read by others: files by their names, not their paths on a server, and none that was not used."""
        files = (self.file, self.test_file) if self.data == UPLOAD else ("", "")
        file, test_file = (Path(name).name for name in files)
        return replace(self, file=file, test_file=test_file, hub=self.hub if self.data == HUB else "")


def recipe_json(recipe: Recipe) -> str:
    """The file's text; what is empty is left out."""
    values = {name: value for name, value in asdict(recipe).items() if value != ""}
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def read_recipe(text: str) -> Recipe:
    """A recipe from its file's text. Raises UserError, one sentence that names the field, where it is none."""
    if len(text.encode("utf-8", "replace")) > LARGEST:
        raise UserError(f"This is no recipe: it is larger than {LARGEST // 2**10} kB.")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError("The recipe is not JSON.") from error
    return recipe_of(values)


def recipe_of(told: Any) -> Recipe:
    """A recipe from JSON's objects. Raises UserError, naming the field."""
    if not isinstance(told, dict) or not isinstance(told.get("settings", {}), dict):
        raise UserError("A recipe is a JSON object with model, task, data and settings.")
    _known(told, {known.name for known in fields(Recipe)})
    values = {name: value for name, value in told.items() if name != "settings"}
    for name, longest in TEXTS.items():
        if not isinstance(values.get(name, ""), str) or len(values.get(name, "")) > longest:
            raise UserError(f"The recipe's {name} must be a text of at most {longest:,} characters.")
    most = values.get("max_train", MAX_TRAIN)
    if not isinstance(most, int) or isinstance(most, bool) or not LEAST_TRAIN <= most <= MAX_ROWS:
        raise UserError(f"The recipe's max_train must be a whole number from {LEAST_TRAIN} to {MAX_ROWS:,}.")
    return Recipe(**values, settings=settings_of(told.get("settings", {})))


def settings_of(told: dict[str, Any]) -> Settings:
    """Settings from JSON's objects. Raises UserError for an unknown field or a value out of bounds."""
    _known(told, {one.name for one in fields(Settings)})
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in told.items()}
    if not isinstance(values.get("hidden", ()), tuple):
        raise UserError("The recipe's hidden must be a list of widths.")
    for name in ("class_weights", "frozen_embeddings"):
        if not isinstance(values.get(name, False), bool):
            raise UserError(f"The recipe's {name} must be true or false.")
    return Settings(**values).check()


def _known(values: dict[str, Any], names: set[str]) -> None:
    for name in values:
        if name not in names:
            raise UserError(f"A recipe has no field {name[:40]!r}; there are {', '.join(sorted(names))}.")
