"""`python tests/benchmarks [name ...]`: run all benchmarks, or those named, and print every figure the README tells.

Each is a file here with a `main()`; each figure is a ratio of two things timed in this one run, since a machine's
speed drifts.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("GRADIO_ANALYTICS_ENABLED", "False")
sys.path[:0] = [str(HERE), str(HERE.parents[1])]


def names() -> list[str]:
    """The benchmarks in this folder."""
    return sorted(path.stem for path in HERE.glob("*.py") if not path.stem.startswith("_"))


def main(asked: list[str]) -> int:
    """Run those asked for, or all; 2 and one sentence for an unknown name."""
    unknown = [name for name in asked if name not in names()]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}; there are {', '.join(names())}.", file=sys.stderr)
        return 2
    for name in asked or names():
        print(f"== {name}", flush=True)
        importlib.import_module(name).main()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
