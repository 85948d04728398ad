"""A recipe as a file: the model, the task, the data and every setting, in JSON that page, script and command share."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from demos.bert.model.catalogue import ModelSpec
from demos.bert.model.models import ModelStore
from demos.errors import UserError
from demos.files import Json
from demos.training.data.file_tables import MAX_ROWS
from demos.training.data.splits import MAX_TRAIN, Splits
from demos.training.form_values import (
    HUB,
    LEAST_TRAIN,
    OWN,
    UPLOAD,
    fit_model,
    fitting,
    max_train_of,
    read_dataset,
    read_settings,
)
from demos.training.learning import hardware
from demos.training.settings import Settings

LARGEST = 64 * 2**10  # bytes of a recipe file
# What earlier versions could choose and no run can now: the value that every run has; `precision` beside them.
FORMER: dict[str, tuple[object, ...]] = {"activation": ("tanh",), "layer_decay": (1.0,), "label_smoothing": (0.0,)}
# Most characters.
TEXTS = {
    "model": 140,
    "earlier": 1_000,
    "task": 20,
    "data": 40,
    "file": 1_000,
    "test_file": 1_000,
    "hub": 200,
    "columns": 1_000,
}


@dataclass(frozen=True)
class Recipe:
    """The complete recipe of a run: equal recipes on equal machines give equal numbers."""

    model: str = "minilm"  # key of the catalogue
    task: str = "sentence"  # a `Reader`'s kind: sentence, pair, entities, …
    data: str = OWN  # key of a data set of our own, or "file", or "hub"
    file: str = ""  # where `data` is "file"
    test_file: str = ""  # one that is the test split, or none
    hub: str = ""  # where `data` is "hub": owner/name or owner/name:config
    columns: str = ""  # which of their columns is which, as text=NAME,label=NAME; "" where they are found
    max_train: int = MAX_TRAIN  # the page's bound; the command takes up to MAX_ROWS
    settings: Settings = field(default_factory=Settings)
    earlier: str = ""  # the downloaded folder of a run of this model that this one begins with; or none

    def base(self, store: ModelStore) -> Path:
        """The folder of what it begins with. Raises UserError where it can't be had."""
        if not self.earlier:
            return store.folder(self.model)
        if not (folder := Path(self.earlier)).is_dir():
            raise UserError(
                f"There is no folder {folder.name!r} here; download the earlier run in “Export” and unpack it here."
            )
        return folder

    def dataset(self) -> Splits:
        """The data, as the page reads it; the seed is the settings' own. Raises UserError where it can't be had."""
        for name in filter(None, (self.file, self.test_file) if self.data == UPLOAD else ()):
            if not Path(name).is_file():
                raise UserError(
                    f"There is no file {Path(name).name!r} here; the recipe contains only the name of the file."
                )
        files = self.file or None, self.test_file or None
        picked = *files, self.hub, self.columns, self.max_train
        return read_dataset(self.task, self.data, *picked, self.settings.seed, MAX_ROWS)

    def named(self) -> Self:
        """The recipe to share: files by their names, not their paths on a server, and none that was not used."""
        files = (self.file, self.test_file) if self.data == UPLOAD else ("", "")
        file, test_file = (Path(name).name for name in files)
        earlier = Path(self.earlier).name
        hub = self.hub if self.data == HUB else ""
        columns = self.columns if self.data in (UPLOAD, HUB) else ""
        return replace(self, file=file, test_file=test_file, hub=hub, columns=columns, earlier=earlier)


def chosen_recipe(
    spec: ModelSpec,
    kind: str,
    data: str,
    file: Any,
    test_file: Any,
    hub: str,
    columns: str,
    most: Any,
    *controls: Any,
) -> Recipe:
    """The recipe that the page's controls say: the data picker's, then those of `read_settings`.

    Raises UserError where one is out of bounds or does not fit the model.
    """
    settings = fit_model(read_settings(*controls), spec.num_layers)
    names = str(file or ""), str(test_file or ""), (hub or "").strip(), columns or ""
    return Recipe(spec.key, kind, fitting(kind, data), *names, max_train_of(most), settings)


def recipe_json(recipe: Recipe) -> str:
    """The file's text; empty fields are left out."""
    values = {name: value for name, value in asdict(recipe).items() if value != ""}
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"


def read_recipe(text: str) -> Recipe:
    """A recipe from its file's text. Raises UserError, one sentence that names the field, where it is none."""
    if len(text.encode("utf-8", "replace")) > LARGEST:
        raise UserError(f"This file is not a recipe: it is larger than {LARGEST // 2**10} kB.")
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UserError("The recipe is not JSON.") from error
    return recipe_of(values)


def recipe_of(document: Any) -> Recipe:
    """A recipe from JSON's objects. Raises UserError, naming the field."""
    if not isinstance(document, dict) or not isinstance(document.get("settings", {}), dict):
        raise UserError("A recipe is a JSON object with model, task, data and settings.")
    _known(document, vars(Recipe()))
    values = {name: value for name, value in document.items() if name != "settings"}
    for name, longest in TEXTS.items():
        if not isinstance(values.get(name, ""), str) or len(values.get(name, "")) > longest:
            raise UserError(f"The recipe's {name} must be text of at most {longest:,} characters.")
    most = values.get("max_train", MAX_TRAIN)
    if not isinstance(most, int) or isinstance(most, bool) or not LEAST_TRAIN <= most <= MAX_ROWS:
        raise UserError(f"The recipe's max_train must be a whole number from {LEAST_TRAIN} to {MAX_ROWS:,}.")
    return Recipe(**values, settings=settings_of(document.get("settings", {})))


def settings_of(document: Json) -> Settings:
    """Settings from JSON's objects. Raises UserError for an unknown field or a value out of bounds.

    A setting of earlier versions is accepted where its value is what a run does here anyway.
    """
    products = "bfloat16" if hardware.in_bfloat16() else "float32"
    former = {**FORMER, "precision": (products, "auto")}
    values: Json = {}
    for name, value in document.items():
        if name not in former:
            values[name] = tuple(value) if isinstance(value, list) else value
        elif value not in former[name]:
            now = former[name][0]
            raise UserError(f"The recipe's {name} can no longer be {str(value)[:40]!r}; its value here is {now!r}.")
    _known(values, vars(Settings()))
    if not isinstance(values.get("hidden", ()), tuple):
        raise UserError("The recipe's hidden must be a list of widths.")
    for name in ("class_weights", "frozen_embeddings", "contrast"):
        if not isinstance(values.get(name, False), bool):
            raise UserError(f"The recipe's {name} must be true or false.")
    return Settings(**values).check()


def _known(values: Iterable[str], names: Iterable[str]) -> None:
    for name in values:
        if name not in names:
            raise UserError(f"A recipe has no field {name[:40]!r}; its fields are {', '.join(sorted(names))}.")
