"""`python tests/benchmarks [--short] [name ...] [file ...]`: run all benchmarks, or those named, print their figures.

Each is a file here with a `main()`; each figure of speed is a ratio of two things timed in this one run, since a
machine's speed drifts, and what was measured on is printed first. A benchmark that has a parameter `files` is handed
the files that were named, and one that has a parameter `options` the options that follow its name. With `--short`
each does as little as shows that it runs, and its figures say nothing.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHORT = "--short"
LEAST = {"SEQUENCES": "8", "LENGTH": "32", "SEEDS": "0"}  # of those that are told by the environment how much to do
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the app has it: threads that spin starve others
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path[:0] = [str(HERE), str(HERE.parents[1])]


def names() -> list[str]:
    """The benchmarks in this folder."""
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def main(asked: list[str]) -> int:
    """Run those asked for, or all; 2 and one sentence for an unknown name, 1 where a promised figure was missed."""
    short, asked = SHORT in asked, [name for name in asked if name != SHORT]
    begin = next((number for number, name in enumerate(asked) if name.startswith("--")), len(asked))
    asked, options = asked[:begin], asked[begin:]
    files = [Path(name) for name in asked if name not in names() and Path(name).is_file()]
    unknown = [name for name in asked if name not in names() and not Path(name).is_file()]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}; there are {', '.join(names())}.", file=sys.stderr)
        return 2
    if options and not (len(asked) == 1 and "options" in _parameters(asked[0])):
        print(f"{options[0]} is an option of no benchmark that was named.", file=sys.stderr)
        return 2
    if short:
        os.environ.update(LEAST)
    print(importlib.import_module("_machine").machine())
    missed = 0
    for name in [name for name in asked if name in names()] or names():
        print(f"== {name}", flush=True)
        run, taken = importlib.import_module(name).main, _parameters(name)
        offered: dict[str, Any] = {"files": files, "short": short, "options": options}
        try:
            run(**{name: value for name, value in offered.items() if name in taken})
        except SystemExit as told:  # the others' figures are wanted all the same
            print(f"  MISSED: {told}", flush=True)
            missed = 1
    return missed


def _parameters(name: str) -> Iterable[str]:
    return inspect.signature(importlib.import_module(name).main).parameters


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
