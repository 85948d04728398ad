"""`python -m demos.training.elmo BOOKS [FILE]`: trains the small ELMo that comes along, in half an hour on one core.

BOOKS is text with a paragraph a line and an empty line between books; it may be packed by xz. The last 12 books are
held out: the perplexities that are printed and kept in FILE are theirs.
"""

import argparse
import time
from pathlib import Path

import torch

from demos.bert.elmo.bundled import FILE, Trained, save
from demos.bert.elmo.model import TwoWay
from demos.training.elmo.text import common_words, grouped, read_books
from demos.training.elmo.training import measure, train

WORDS = 4_000  # that the output layer knows
EVERY = 3  # of the books' sentences one is read
SEED = 1
LOOK = 60.0  # seconds from line to line


def main() -> None:
    """Train, save, and print what was measured on the held-out books."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("books", type=Path)
    parser.add_argument("file", type=Path, nargs="?", default=FILE)
    parser.add_argument("--minutes", type=float, default=25.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    texts, others = read_books(options.books, EVERY)
    if not texts or not others:
        parser.error("The text needs more than 12 books, with an empty line between them.")
    known = common_words(texts, WORDS)
    sentences, held_out = grouped(texts, known), grouped(others, known)
    model = TwoWay(WORDS)
    size = sum(weights.numel() for weights in model.parameters())
    print(f"{len(texts):,} sentences, {len(sentences.types):,} different words, {size:,} parameters", flush=True)
    reported_at = time.monotonic()
    options.file.parent.mkdir(parents=True, exist_ok=True)
    for step in train(model, sentences, WORDS, options.minutes * 60, SEED):
        if time.monotonic() - reported_at > LOOK:
            reported_at = time.monotonic()
            save(Trained(model, known, {}), options.file)
            print(f"step {step.number:,}: loss {step.loss:.3f}, {step.words:,} words, {step.share:.0%}", flush=True)
    measured = measure(model, held_out, WORDS) | {"words": step.words, "steps": step.number, "minutes": options.minutes}
    save(Trained(model, known, measured), options.file)
    print(measured)


if __name__ == "__main__":
    main()
