"""A run as one runnable Python program that gives the page's numbers, and as a line for the command."""

from __future__ import annotations

import shlex
from dataclasses import asdict, fields, replace
from typing import Any

from demos.bert.model.catalogue import CATALOGUE
from demos.training.export.recipe_file import Recipe
from demos.training.export.run_log import Log
from demos.training.form_values import HUB, UPLOAD
from demos.training.settings import MAX_SECONDS, Settings
from demos.training.tasks.classification.data import MAX_TRAIN

DEFAULT = Settings()
OUT = "fine-tuned"
OWN_CATALOGUE = "catalogue.json"  # what a file of further models is called here; the app takes any name


def repeated(log: Log) -> Recipe:
    """The recipe that gives this run's numbers again: threads and precision as they were found, not as they fit here.

    One that ended early ends after as many steps again; the clock's limit is far off for one that took long.
    """
    settings = replace(
        log.recipe.settings,
        threads=log.threads,
        precision=log.precision,
        max_steps=log.steps if log.stopped else 0,
        max_seconds=DEFAULT.max_seconds if log.seconds < DEFAULT.max_seconds / 4 else MAX_SECONDS,
    )
    return replace(log.recipe, settings=settings)


def script_of(recipe: Recipe, log: Log | None = None, out: str = OUT) -> str:
    """A program that trains this recipe with the project's own loop, prints the metrics and writes the folder.

    Before a run too: any recipe, on our own data, a file beside the program or the Hub's data.
    With the log of a run it says which numbers to expect. Texts that a person wrote stand in it as Python's own string
    literals only.
    """
    told = _told(log) if log else "A fine-tune of Inside BERT, as a program."
    dataset, needed = _dataset(recipe)
    catalogue, store = "", "ModelStore()"
    if recipe.model not in CATALOGUE:  # one of the file that the app was started with
        catalogue = "from demos.bert.model.catalogue import extend_catalogue\n"
        store = f"ModelStore(extend_catalogue(Path({OWN_CATALOGUE!r})))"
    threads, cores = "settings.threads", ""
    if not recipe.settings.threads:  # as many as the machine has, which the page finds out alike
        threads, cores = "cores()", "from demos.bert.model.cores import cores\n"
    return f'''"""{told}

Run it in the folder of Inside BERT: python run.py
The same machine gives the same numbers; another one may add up in another order.
"""

import tempfile
from pathlib import Path

{cores}{catalogue}from demos.bert.model.models import ModelStore
from demos.training.events import Epoch, Failed, Finished, Stopped
from demos.training.export.transformers_folder import export
from demos.training.loop import train
from demos.training.learning.model import Trained
from demos.training.settings import Settings
{needed}from demos.training.service.training_thread import in_own_thread

settings = Settings(
{_settings(recipe.settings)})
dataset = {dataset}
base = {store}.folder({recipe.model!r})

with tempfile.TemporaryDirectory() as kept:
    run = lambda: train(dataset, base, settings, Path(kept) / "run")
    for event in in_own_thread(run, {threads}):
        if isinstance(event, Epoch):
            print(f"step {{event.step}}: validation loss {{event.validation_loss:.4f}}, "
                  f"score {{event.validation_score:.4f}}")
        elif isinstance(event, Failed):
            raise SystemExit(event.message)
        elif isinstance(event, Finished | Stopped):
            metrics = event.result.metrics
            export(Trained.read(event.result.folder), Path({out!r}))
print(metrics)
'''


def _told(log: Log) -> str:
    """What the run was and gave, safe inside a docstring: only numbers and our own words."""
    numbers = ", ".join(f"{name} {value:.4f}" for name, value in log.metrics.items() if value is not None)
    return f"A fine-tune of Inside BERT, as a program. On the page it gave: {numbers}."


def _settings(settings: Settings) -> str:
    return "".join(f"    {one.name}={getattr(settings, one.name)!r},\n" for one in fields(settings))


def _dataset(recipe: Recipe) -> tuple[str, str]:
    """(the data as an expression, the import that it needs)."""
    begin = "from demos.training.sources import"
    if recipe.data == UPLOAD:
        test = repr(recipe.test_file) if recipe.test_file else "None"
        files = f"{recipe.task!r}, {recipe.file!r}, {test}, settings.seed, {recipe.max_train}"
        return f"load_file({files})", f"{begin} load_file\n"
    if recipe.data == HUB:
        return f"load_hub({recipe.task!r}, {recipe.hub!r}, settings.seed, {recipe.max_train})", f"{begin} load_hub\n"
    return f"SOURCES[{recipe.data!r}].load(settings.seed, {recipe.max_train})", f"{begin} SOURCES\n"


def command_of(recipe: Recipe, out: str = OUT) -> str:
    """The same recipe for `python -m demos.training`, what is not the default written out; quoted for a shell."""
    words = ["python", "-m", "demos.training"]
    data = {UPLOAD: recipe.file, HUB: f"hub:{recipe.hub}"}.get(recipe.data, recipe.data)
    if recipe.model not in CATALOGUE:
        words += ["--catalogue", OWN_CATALOGUE]
    words += ["--model", recipe.model, "--task", recipe.task, "--data", data]
    if recipe.data == UPLOAD and recipe.test_file:
        words += ["--test", recipe.test_file]
    if recipe.max_train != MAX_TRAIN:
        words += ["--max-train", str(recipe.max_train)]
    before = asdict(DEFAULT)
    for name, value in asdict(recipe.settings).items():
        if value != before[name]:
            words += ["--set", f"{name}={_value(value)}"]
    return " ".join(map(shlex.quote, [*words, "--out", out]))


def _value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)
