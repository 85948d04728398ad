"""`python -m demos.training.causal.scores FOLDER BOOKS TEXT`: measures the decoder in assets/causal.

BOOKS and TEXT are the files that the training was given, FOLDER holds their tokens. Windows of 95 pieces are drawn, and
each piece behind the first 31 is asked for. It writes assets/causal/measured.json, which the page shows.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from demos.bert.causal.decoder import WINDOW, our_decoder
from demos.bert.causal.measured import FILE
from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.training.causal.making import SEED, measure, windows
from demos.training.pretraining.offline.__main__ import HELD_OUT, tokens_of

CONTEXT = 31  # pieces before the first that is scored, [CLS] among them


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure both texts and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("folder", "books", "text"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--windows", type=int, default=120, help="of each text")
    parser.add_argument("--out", type=Path, default=FILE)
    options = parser.parse_args(arguments)
    loaded = ModelStore().get(BUNDLED)
    decoder = our_decoder(loaded)
    books = tokens_of(options.folder, "books", options.books, loaded.tokenizer)
    last = HELD_OUT["books"]
    measurements = []
    for title, corpus in (
        ("WikiText-2 (encyclopedia)", tokens_of(options.folder, options.text.stem, options.text, loaded.tokenizer)),
        (f"{last} other old books", books.part(slice(-last, None))),
    ):
        rng = np.random.default_rng(SEED)
        rows = windows(corpus, options.windows, WINDOW + 1, loaded.tokenizer.cls_token_id, rng)
        measurements.append(measure(decoder, rows, title, CONTEXT))
    options.out.write_text(
        json.dumps([asdict(measured) for measured in measurements], indent=2) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
