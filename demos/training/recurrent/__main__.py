"""`python -m demos.training.recurrent [FILE]`: trains the recurrent network that comes along, in some ten seconds."""

import argparse
from dataclasses import replace
from pathlib import Path

import torch

from demos.bert.recurrent.bundled import FILE, load, save
from demos.training.recurrent.training import STEPS, measured, train


def main() -> None:
    """Train and save; print what was measured on the held-out sentences with the weights from the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, nargs="?", default=FILE)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    options.file.parent.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)  # the same weights again on the same machine
    save(train(options.steps), options.file)
    rounded = load(options.file)
    result = replace(rounded, measured=measured(rounded))
    save(result, options.file)
    print(result.measured)


if __name__ == "__main__":
    main()
