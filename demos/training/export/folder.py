"""The folder that a run is taken away in: the model for transformers, its card, recipe and program; as a zip too."""

import zipfile
from pathlib import Path

from demos.training.export.card import card
from demos.training.export.recipe_file import recipe_json
from demos.training.export.run_log import Log
from demos.training.export.script import repeated, script_of
from demos.training.export.transformers_folder import README, export, how_loaded
from demos.training.learning.model import Trained

RECIPE, PROGRAM = "recipe.json", "run.py"
# The contents, file by file, for readers who open it.
CONTENTS = {
    "model.safetensors": "the weights of encoder and head, as plain numbers; loading them runs no code",
    "config.json": "the architecture and the labels",
    "tokenizer.json, tokenizer_config.json": "how text is split into word pieces, and the maximum length",
    README: "the model card: data, settings, scores, limitations, and how to load the model",
    RECIPE: "all settings, for the command",
    PROGRAM: "the run as a Python program that gives the same numbers",
}


def write_folder(trained: Trained, log: Log, folder: Path) -> None:
    """Write all of it into `folder`. Raises UserError for a task without a head, OSError where the disk says no."""
    form = export(trained, folder)
    loading = how_loaded(trained.task, trained.model.encoder.config)
    again = repeated(log)
    (folder / README).write_text(card(log, form, loading), encoding="utf-8")
    (folder / RECIPE).write_text(recipe_json(again), encoding="utf-8")
    (folder / PROGRAM).write_text(script_of(again, log), encoding="utf-8")


def size_of(folder: Path) -> int:
    """Bytes of all files in it."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def zip_folder(folder: Path, archive: Path) -> None:
    """`folder` as a zip with one folder of its name inside; not squeezed, for weights hardly shrink."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                packed.write(path, Path(folder.name) / path.relative_to(folder))
