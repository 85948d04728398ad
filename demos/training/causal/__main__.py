"""`python -m demos.training.causal FOLDER BOOKS TEXT`: makes assets/causal/decoder.safetensors.

BOOKS is text with a paragraph a line and an empty line between books, which may be packed by xz; all but the last 12
books are trained on. TEXT is another text, on which it is only measured. FOLDER holds the tokens, the state of the
training (stop it by Ctrl+C or SIGTERM and start it again), the log and the weights. assets/causal/README.md tells with
which numbers it was run.
"""

import os

# Read when torch is imported: waiting OpenMP threads sleep, since spinning starves a training on busy cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import argparse
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.training.causal.making import Plan, make
from demos.training.pretraining.offline.__main__ import HELD_OUT, tokens_of


def main(arguments: Sequence[str] | None = None) -> None:
    """Train until the minutes are over or a signal comes; then measure what was held out and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("folder", "books", "text"):
        parser.add_argument(name, type=Path)
    for field in fields(Plan)[1:]:
        kind = float if isinstance(field.default, float) else int
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    loaded = ModelStore().get(BUNDLED)
    books = tokens_of(options.folder, "books", options.books, loaded.tokenizer)
    last = HELD_OUT["books"]
    held_out = {
        "books": books.part(slice(-last, None)),
        "text": tokens_of(options.folder, options.text.stem, options.text, loaded.tokenizer),
    }
    plan = Plan(**{field.name: getattr(options, field.name) for field in fields(Plan)})
    make(plan, loaded, books.part(slice(0, -last)), held_out)


if __name__ == "__main__":
    main()
