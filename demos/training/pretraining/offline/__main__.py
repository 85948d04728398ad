"""`python -m demos.training.pretraining.offline FOLDER BOOKS WIKIPEDIA`: makes assets/pretraining/heads.safetensors.

BOOKS is text with a paragraph a line and an empty line between books, WIKIPEDIA lines of two sentences with a tab
between them; either may be packed by xz. The last 12 books and 500 pairs are held out. FOLDER holds the tokens, the
state of the training (stop it by Ctrl+C or SIGTERM and start it again) and, at its end, the heads.
assets/pretraining/README.md tells with which numbers it was run.
"""

import os

# Read when torch is imported: waiting OpenMP threads sleep, since spinning starves a training on busy cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import argparse
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.training.pretraining.offline.corpus import Corpus, corpus_of, read_documents
from demos.training.pretraining.offline.making import Plan, make

HELD_OUT = {"books": 12, "wikipedia": 500}  # the last documents of each
HELP = {
    "steps": "in all; without end where it is not given",
    "decay": "steps from here, the rates falling to 0",
    "minutes": "the same by the clock",
    "begin": "heads.safetensors whose weights a new training begins with",
    "workers": "processes that draw the batches",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Train until --steps, --decay, --minutes or a signal; then measure what was held out and write the heads."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("folder", "books", "wikipedia"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--wikipedia-share", type=float, default=0.4, help="of the sequences")
    parser.add_argument("--alike", type=int, default=0, help="most similar books that half of the false parts are of")
    parser.add_argument("--float32", action="store_true", help="else bfloat16, with float32 weights")
    for field in fields(Plan):
        if field.name not in ("folder", "float32"):
            kinds = {"begin": Path, "minutes": float}
            kind = kinds.get(field.name, float if isinstance(field.default, float) else int)
            parser.add_argument(
                f"--{field.name.replace('_', '-')}", type=kind, default=field.default, help=HELP.get(field.name)
            )
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    loaded = ModelStore().get(BUNDLED)
    whole = {name: tokens_of(options.folder, name, getattr(options, name), loaded.tokenizer) for name in HELD_OUT}
    share = {"books": 1 - options.wikipedia_share, "wikipedia": options.wikipedia_share}
    corpora = [(field.part(slice(0, -HELD_OUT[name])), share[name]) for name, field in whole.items()]
    if options.alike:
        corpora[0] = (corpora[0][0].with_alike(options.alike), corpora[0][1])
    held_out = {name: field.part(slice(-HELD_OUT[name], None)) for name, field in whole.items()}
    make(Plan(**{field.name: getattr(options, field.name) for field in fields(Plan)}), loaded, corpora, held_out)


def tokens_of(folder: Path, name: str, path: Path, tokenizer: Any) -> Corpus:
    """The file's corpus, kept in the folder: the books take some minutes."""
    cache = folder / f"{name}.npz"
    if not cache.is_file():
        corpus = corpus_of(read_documents(path), tokenizer)
        np.savez(cache, input_ids=corpus.input_ids, sentences=corpus.sentences, documents=corpus.documents)
    with np.load(cache) as file:
        return Corpus(file["input_ids"], file["sentences"], file["documents"])


if __name__ == "__main__":
    main()
