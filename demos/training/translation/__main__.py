"""`python -m demos.training.translation [FOLDER]`: trains the translators that come along, a minute or two each.

Of the GRU with attention, three seeds are trained, and the translator is kept whose weights agree best with the
grammar's links on pairs that it was trained on: in some runs, attention settles on a word's neighbour, whose state
knows the word too.
"""

import argparse
from pathlib import Path

import torch

from demos.bert.translation.alignment import aligned
from demos.bert.translation.bundled import FOLDER, right_of, save
from demos.bert.translation.decoding import Trained
from demos.bert.translation.grammar import SEED, held_out, sentences
from demos.bert.translation.translators import TRANSFORMER
from demos.training.translation.training import Plan, train_translator

STEPS, SEEDS = 800, (1, 2, 3)
TRANSFORMER_STEPS = 500


def main() -> None:
    """Train, save, and print what was measured on the held-out pairs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER)
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)  # the same weights again on the same machine
    trained_on = sentences(len(held_out()) * 2, SEED)[len(held_out()) :]
    candidates = [train(Plan("additive", STEPS, seed)) for seed in SEEDS]
    attending = max(candidates, key=lambda trained: aligned(trained, trained_on))
    transformer = train(Plan(TRANSFORMER, TRANSFORMER_STEPS, SEEDS[0]))
    for trained in (attending, train(Plan("none", STEPS, SEEDS[0])), transformer):
        save(trained, folder / f"{trained.model.score}.safetensors")
        right = right_of(trained, held_out())
        print(f"{trained.model.score}: {sum(right) / len(right):.1%} of {len(right)} held-out sentences right")
    for trained in (attending, transformer):
        share = aligned(trained, held_out())
        print(f"{trained.model.score}: {share:.1%} of their content words aligned as in the grammar")


def train(plan: Plan) -> Trained:
    """The translator that this plan ends in."""
    results: list[Trained] = []
    for _ in train_translator(plan, lambda: False, held_out()[0], results.append):
        pass
    return results[0]


if __name__ == "__main__":
    main()
