"""`python -m demos.training`: the page's recipe without the page, on one process or on several."""

import os

# Read when torch is imported: waiting OpenMP threads sleep, since spinning starves a training on busy cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import argparse
import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from transformers.utils import logging as transformers_logging

from demos.bert.model.catalogue import CATALOGUE, check_bert
from demos.bert.model.cores import cores
from demos.bert.model.models import ModelStore, default_key
from demos.bert.model.own_folder import read_catalogue
from demos.errors import UserError
from demos.system import print_any_character
from demos.training.data.splits import MAX_TRAIN
from demos.training.events import Event, Failed, Finished, Look, Outcome, Started, Step, Stopped, as_json
from demos.training.export.folder import write_folder
from demos.training.export.recipe_file import Recipe, read_recipe, recipe_of
from demos.training.export.run_log import Log, log_of
from demos.training.form_values import HUB, UPLOAD
from demos.training.learning.model import Trained
from demos.training.learning.parallel import Parallel, joined
from demos.training.look import look_at
from demos.training.loop import train
from demos.training.results.learned_nothing import LearnedNothing, learned_nothing
from demos.training.service.own_folder import OwnFolder
from demos.training.service.runs import HOME
from demos.training.service.training_thread import in_own_thread
from demos.training.settings import Settings
from demos.training.sources import READERS, SOURCES

HUB_MARK = "hub:"
DESCRIPTION = """Fine-tune a BERT as the page does, from a recipe file or from options; the same recipe gives the
same numbers on the same machine. The folder that it writes holds the model for transformers, its model card and the
recipe. On several processes: accelerate launch --multi_gpu --num_processes 2 -m demos.training … (on CPUs too);
each takes its share of every batch. Numbers then differ in their last digits, since sums are added up in another
order, and a run with dropout draws other noise."""


def parser() -> argparse.ArgumentParser:
    """The command's options."""
    options = argparse.ArgumentParser(prog="python -m demos.training", description=DESCRIPTION)
    options.add_argument("--recipe", type=Path, help="a recipe file, as the page hands out; further options change it")
    options.add_argument(
        "--data", help=f"one of {', '.join(SOURCES)}; a file (CSV, TSV, JSONL, JSON, CoNLL); or hub:owner/name"
    )
    options.add_argument("--test", help="with a file: a second one that is the test split")
    options.add_argument("--task", choices=tuple(READERS))
    which = "which column of the file or data set is which: text=NAME,label=NAME; of several texts each as text=NAME; "
    which += "which sheet of a workbook: sheet=NAME"
    options.add_argument("--columns", help=which)
    options.add_argument("--look", action="store_true", help="print what --data would be trained on; train nothing")
    options.add_argument(
        "--model",
        help=f"one of {', '.join(key for key, spec in CATALOGUE.items() if spec.is_bert)}, or of the --catalogue",
    )
    options.add_argument("--earlier", help="the downloaded folder of an earlier run, to begin with its weights")
    any_model = "let --model be any BERT or DistilBERT of the Hub: owner/name or owner/name@commit"
    options.add_argument("--any-model", action="store_true", help=any_model)
    options.add_argument("--catalogue", type=Path, help="a JSON file with further models, or a model's folder or zip")
    most = f"training examples at the most; without it the page's {MAX_TRAIN:,}"
    options.add_argument("--max-train", type=int, help=most)
    settings = f"a setting, as often as needed: {', '.join(vars(Settings()))}"
    options.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help=settings)
    options.add_argument("--seeds", help="one run a seed: 0,1,2; then their mean")
    options.add_argument("--out", type=Path, help="where the model's folder is written; without it nothing is kept")
    options.add_argument("--json", action="store_true", help="every event as a line of JSON on standard output")
    return options


def recipe_from(options: argparse.Namespace) -> Recipe:
    """The recipe that the options describe. Raises UserError where one is wrong."""
    recipe = Recipe(model=default_key())
    if options.recipe:
        try:
            recipe = read_recipe(options.recipe.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"The recipe {str(options.recipe)!r} can't be read.") from error
    if options.data:
        recipe = replace(recipe, **_source(options.data))  # type: ignore[arg-type]
    changed = {
        "task": options.task,
        "model": options.model,
        "max_train": options.max_train,
        "test_file": options.test,
        "earlier": options.earlier,
        "columns": options.columns,
    }
    recipe = replace(recipe, **{name: value for name, value in changed.items() if value is not None})
    settings = asdict(recipe.settings) | dict(map(_setting, options.set))
    return recipe_of({**asdict(recipe), "settings": settings})


def _source(data: str) -> dict[str, str]:
    """The recipe's fields for --data."""
    if data in SOURCES:
        return {"data": data, "file": "", "hub": "", "task": SOURCES[data].kind}
    if data.startswith(HUB_MARK):
        return {"data": HUB, "hub": data.removeprefix(HUB_MARK), "file": ""}
    return {"data": UPLOAD, "file": data, "hub": ""}


def _setting(text: str) -> tuple[str, Any]:
    """(name, value) of NAME=VALUE. Raises UserError for an unknown name or a value of another type."""
    name, equals, value = text.partition("=")
    defaults = vars(Settings())
    if not equals or name not in defaults:
        raise UserError(f"--set takes NAME=VALUE with a name from {', '.join(defaults)}, not {text[:60]!r}.")
    default = defaults[name]
    try:
        if isinstance(default, bool):
            return name, {"true": True, "false": False}[value.lower()]
        if isinstance(default, tuple):
            return name, [int(width) for width in value.split(",") if width.strip("0 ")]
        return name, type(default)(value)
    except (ValueError, KeyError) as error:
        raise UserError(f"The setting {name} can't be {value[:40]!r}.") from error


class _Run:
    """One training of the command: its events printed, its folder written."""

    def __init__(self, recipe: Recipe, store: ModelStore, parallel: Parallel, as_lines: bool) -> None:
        self.recipe, self.store, self.parallel, self.as_lines = recipe, store, parallel, as_lines
        self.dataset = recipe.dataset()
        self.looks: list[tuple[float, ...]] = []
        self.losses: list[float] = []
        self.nothing: LearnedNothing | None = None

    def train(self, folder: Path) -> Finished | Stopped | None:
        """Its last event; None in a process that does not lead. Raises UserError where it fails."""
        last = None
        for event in self._events(folder):
            if isinstance(event, Failed):
                raise UserError(event.message)
            if isinstance(event, Finished | Stopped):
                last = event
            if self.parallel.leads:
                self._tell(event)
        return last

    def _events(self, folder: Path) -> Iterator[Event]:
        settings, base = self.recipe.settings, self.recipe.base(self.store)
        threads = settings.threads or max(1, cores() // self.parallel.processes)
        if self.parallel.processes == 1:
            yield from in_own_thread(lambda: train(self.dataset, base, settings, folder), threads)
            return
        import torch  # the process belongs to the run, and gloo's threads are recognized by theirs

        torch.set_num_threads(threads)
        yield from train(self.dataset, base, settings, folder, None, self.parallel)

    def _tell(self, event: Event) -> None:
        if isinstance(event, Started):
            self.started = event
        if isinstance(event, Step):
            self.losses.append(event.loss)
        if isinstance(event, Look):
            self.looks.append((event.step, event.train_loss, event.validation_loss, event.validation_score))
        if isinstance(event, Finished | Stopped):
            done = self.dataset, self.recipe.settings, self.started, event.result
            self.nothing = learned_nothing(*done, self.losses, self.looks)
        if self.as_lines:
            more = {"learned_nothing": self.nothing.on_command} if self.nothing else {}
            print(json.dumps(as_json(event) | more), flush=True)
        elif isinstance(event, Step):
            line = f"step {event.step:,} of {event.total_steps:,}, loss {event.loss:.4f}, "
            line += f"{event.examples_per_second:,.0f} examples/s, {event.seconds_left:,.0f} s left"
            print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)
        elif isinstance(event, Look):
            line = f"step {event.step:,}: validation loss {event.validation_loss:.4f}, "
            line += f"{self.started.metric} {event.validation_score:.4f}"
            print(f"\r{line:<78}", file=sys.stderr, flush=True)

    def log(self, last: Finished | Stopped) -> Log:
        """The known facts about the run."""
        reason = last.reason if isinstance(last, Stopped) else ""
        spec, processes = self.store.spec(self.recipe.model), self.parallel.processes
        done = self.recipe, spec, self.dataset, self.started, self.looks, last.result, reason, processes
        return log_of(*done, learned_nothing=self.nothing.evidence if self.nothing else "")


def _scores(metrics: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.4f}" for name, value in metrics.items())


def run(options: argparse.Namespace, parallel: Parallel) -> None:
    """Train once per seed; print, keep, print the mean. Raises UserError."""
    recipe = recipe_from(options)
    catalogue = read_catalogue(options.catalogue) if options.catalogue else CATALOGUE
    store = ModelStore(catalogue, any_model=options.any_model)
    spec = store.find(recipe.model)
    check_bert(spec)
    recipe = replace(recipe, model=spec.key)
    results: list[Outcome] = []
    seeds = _seeds(options.seeds) if options.seeds else [recipe.settings.seed]
    if options.out and options.out.exists() and any(options.out.iterdir() if options.out.is_dir() else [1]):
        raise UserError(f"{str(options.out)!r} is there already; name a new folder.")
    for seed in seeds:
        seeded = replace(recipe, settings=replace(recipe.settings, seed=seed).check())
        training = _Run(seeded, store, parallel, options.json)
        with OwnFolder(HOME) as home:
            last = training.train(home / "run")
            if last is None:
                continue
            result = last.result
            results.append(result)
            which = f"seed {seed}: " if len(seeds) > 1 else ""
            if training.nothing:
                print(f"{which}{training.nothing.on_command}", file=sys.stderr)
            if not options.json:
                print(f"{which}{_scores(result.metrics)}, loss {result.loss:.4f}, {result.seconds:.1f} s")
            if options.out:
                folder = options.out / f"seed-{seed}" if len(seeds) > 1 else options.out
                write_folder(Trained.read(result.folder), training.log(last), folder)
                print(f"written to {folder}", file=sys.stderr)
    if len(results) > 1 and not options.json:
        means = {name: statistics.mean(result.metrics[name] for result in results) for name in results[0].metrics}
        print(f"mean of {len(results)} seeds: {_scores(means)}")


def _seeds(text: str) -> list[int]:
    try:
        return list(dict.fromkeys(int(seed) for seed in text.split(",")))[:100]
    except ValueError as error:
        raise UserError(f"--seeds takes whole numbers with commas between them, not {text[:40]!r}.") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 2 and one sentence on standard error where it can't."""
    print_any_character()
    options = parser().parse_args(arguments)
    transformers_logging.disable_progress_bar()
    try:
        if options.look:
            look = look_at(options.data or "", options.task or "", options.columns or "")
            print(json.dumps(look.as_json(), ensure_ascii=False, indent=2))
            return 0
        with joined() as parallel:
            run(options, parallel)
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
