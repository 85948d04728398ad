"""A run as one runnable Python program that gives the page's numbers, and as a line for the command."""

import shlex
from dataclasses import asdict, fields, replace

from demos.bert.model.by_name.typed_name import is_pinned
from demos.bert.model.catalogue import CATALOGUE, FOLDER
from demos.templates import templates
from demos.training.data.splits import MAX_TRAIN
from demos.training.export.recipe_file import Recipe
from demos.training.export.run_log import Log
from demos.training.form_values import HUB, UPLOAD
from demos.training.settings import MAX_SECONDS, Settings

TEXT = templates(__file__, "text_program.txt")
DEFAULT = Settings()
OUT = "fine-tuned"
OWN_CATALOGUE = "catalogue.json"  # the name of a file of further models here; the app takes any name


def repeated(log: Log) -> Recipe:
    """The recipe that gives this run's numbers again, with as many threads as it had.

    One that ended early ends after as many steps again; the clock's limit is far off for one that took long.
    """
    settings = replace(
        log.recipe.settings,
        threads=log.started.threads,
        max_steps=log.steps if log.stopped else 0,
        max_seconds=DEFAULT.max_seconds if log.seconds < DEFAULT.max_seconds / 4 else MAX_SECONDS,
    )
    return replace(log.recipe, settings=settings)


def script_of(recipe: Recipe, log: Log | None = None, out: str = OUT) -> str:
    """A program that trains this recipe with the project's own loop, prints the metrics and writes the folder.

    Before a run too: any recipe, on our own data, a file beside the program or the Hub's data.
    With the log of a run it says which numbers to expect. It holds texts that a person wrote as Python's own string
    literals only.
    """
    dataset, needed = _dataset(recipe)
    text: str = TEXT.program(
        metrics=[(name, value) for name, value in log.metrics.items() if value is not None] if log else [],
        settings=[(field.name, repr(getattr(recipe.settings, field.name))) for field in fields(Settings)],
        dataset=dataset,
        needed=needed,
        model=repr(recipe.model),
        earlier=repr(recipe.earlier) if recipe.earlier else "",
        any_model=is_pinned(recipe.model),
        catalogue=repr(_catalogue(recipe.model)) if not recipe.earlier and _in_own_catalogue(recipe.model) else "",
        counts_cores=not recipe.settings.threads,  # as many as the machine has, which the page finds out alike
        out=repr(out),
    )
    return f"{text}\n"


def _dataset(recipe: Recipe) -> tuple[str, str]:
    """(the data as an expression, the name that it needs of demos.training.sources)."""
    columns = f", {recipe.columns!r}" if recipe.columns else ""
    if recipe.data == UPLOAD:
        files = f"{recipe.task!r}, {recipe.file!r}, {recipe.test_file or None!r}, settings.seed, {recipe.max_train}"
        return f"load_file({files}{columns})", "load_file"
    if recipe.data == HUB:
        return f"load_hub({recipe.task!r}, {recipe.hub!r}, settings.seed, {recipe.max_train}{columns})", "load_hub"
    return f"SOURCES[{recipe.data!r}].load(settings.seed, {recipe.max_train})", "SOURCES"


def _catalogue(key: str) -> str:
    """The app's options: a file of further models, or the model's folder."""
    return key.removeprefix(FOLDER) if key.startswith(FOLDER) else OWN_CATALOGUE


def _in_own_catalogue(key: str) -> bool:
    return key not in CATALOGUE and not is_pinned(key)


def command_of(recipe: Recipe) -> str:
    """The same recipe for `python -m demos.training`, what is not the default written out; quoted for a shell."""
    words = ["python", "-m", "demos.training"]
    data = {UPLOAD: recipe.file, HUB: f"hub:{recipe.hub}"}.get(recipe.data, recipe.data)
    if is_pinned(recipe.model):
        words += ["--any-model"]
    elif _in_own_catalogue(recipe.model):
        words += ["--catalogue", _catalogue(recipe.model)]
    words += ["--model", recipe.model, "--task", recipe.task, "--data", data]
    if recipe.earlier:
        words += ["--earlier", recipe.earlier]
    if recipe.data == UPLOAD and recipe.test_file:
        words += ["--test", recipe.test_file]
    if recipe.columns and recipe.data in (UPLOAD, HUB):
        words += ["--columns", recipe.columns]
    if recipe.max_train != MAX_TRAIN:
        words += ["--max-train", str(recipe.max_train)]
    before = asdict(DEFAULT)
    for name, value in asdict(recipe.settings).items():
        if value != before[name]:
            words += ["--set", f"{name}={','.join(map(str, value)) if isinstance(value, tuple) else value}"]
    return " ".join(map(shlex.quote, [*words, "--out", OUT]))
