"""`python tests/benchmarks [name ...] [file ...]`: run all benchmarks, or those named, and print their figures.

Each is a file here with a `main()`; each figure of speed is a ratio of two things timed in this one run, since a
machine's speed drifts. A benchmark of quality has a `main(files)` and is handed the files that were named.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as the app has it: threads that spin starve others
sys.path[:0] = [str(HERE), str(HERE.parents[1])]


def names() -> list[str]:
    """The benchmarks in this folder."""
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def main(asked: list[str]) -> int:
    """Run those asked for, or all; 2 and one sentence for an unknown name."""
    files = [Path(name) for name in asked if name not in names() and Path(name).is_file()]
    unknown = [name for name in asked if name not in names() and not Path(name).is_file()]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}; there are {', '.join(names())}.", file=sys.stderr)
        return 2
    for name in [name for name in asked if name in names()] or names():
        print(f"== {name}", flush=True)
        run = importlib.import_module(name).main
        run(files) if inspect.signature(run).parameters else run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
