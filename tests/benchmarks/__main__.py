"""`python tests/benchmarks [--short] [name ...] [file ...]`: run all benchmarks, or those named, print their figures.

Each is a file here with a `main()`; each figure of speed is a ratio of two things timed in this one run, since a
machine's speed drifts, and what was measured on is printed first. A benchmark that has a parameter `files` is handed
the files that were named. With `--short` each does as little as shows that it runs, and its figures say nothing.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHORT = "--short"
LEAST = {"SEQUENCES": "8", "LENGTH": "32", "SEEDS": "0"}  # of those that are told by the environment how much to do
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the app has it: threads that spin starve others
sys.path[:0] = [str(HERE), str(HERE.parents[1])]


def names() -> list[str]:
    """The benchmarks in this folder."""
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def main(asked: list[str]) -> int:
    """Run those asked for, or all; 2 and one sentence for an unknown name, 1 where a promised figure was missed."""
    short, asked = SHORT in asked, [name for name in asked if name != SHORT]
    files = [Path(name) for name in asked if name not in names() and Path(name).is_file()]
    unknown = [name for name in asked if name not in names() and not Path(name).is_file()]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}; there are {', '.join(names())}.", file=sys.stderr)
        return 2
    if short:
        os.environ.update(LEAST)
    print(importlib.import_module("_machine").machine())
    missed = 0
    for name in [name for name in asked if name in names()] or names():
        print(f"== {name}", flush=True)
        run = importlib.import_module(name).main
        taken = inspect.signature(run).parameters
        offered: dict[str, Any] = {"files": files, "short": short}
        try:
            run(**{name: value for name, value in offered.items() if name in taken})
        except SystemExit as told:  # the others' figures are wanted all the same
            print(f"  MISSED: {told}", flush=True)
            missed = 1
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
