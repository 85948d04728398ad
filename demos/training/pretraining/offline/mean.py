"""`python -m demos.training.pretraining.offline.mean FOLDER STATE STATE …`: the mean of several trainings' weights.

Trainings that went on from one another often lie around one hollow of the loss, and their mean nearer to its middle
than any of them (Izmailov et al. 2018; Wortsman et al. 2022, "model soups"). STATE is the state.pt of a training.
FOLDER gets the heads and a state.pt, so that a training there goes on from the mean.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import torch

from demos.bert.model.catalogue import BUNDLED
from demos.bert.model.models import ModelStore
from demos.training.pretraining.offline.making import Plan, Progress, write


def main(arguments: Sequence[str] | None = None) -> None:
    """Write both; they carry the tokens and steps of the longest training."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("states", type=Path, nargs="+")
    options = parser.parse_args(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    states = [torch.load(path) for path in options.states]
    farthest = max((Progress(**state["progress"]) for state in states), key=lambda state: state.step)
    weights, plan = mean([state["average"] for state in states]), Plan(options.folder)
    torch.save({"progress": asdict(farthest), "weights": weights, "average": weights}, plan.state)
    write(plan.heads, weights, ModelStore().get(BUNDLED), farthest)


def mean(weights: Sequence[Mapping[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """The mean of K trainings' weights, each with the same names, of which `left` and `right` are a product.

    The mean of K products left [V, r] right [r, d] has a rank of up to K r; the nearest matrix of rank r is taken,
    which the singular values give (Eckart and Young 1936).
    """
    rank = len(weights[0]["right"])
    means = {name: torch.stack([state[name] for state in weights]).mean(0) for name in weights[0]}
    left = torch.cat([state["left"] / len(weights) for state in weights], dim=1)  # [V, K r]
    right = torch.cat([state["right"] for state in weights])  # [K r, d]
    basis, rest = torch.linalg.qr(left)  # left is V rows long, so the values are taken of what is left of it
    outer, values, inner = torch.linalg.svd(rest @ right, full_matrices=False)
    root = values[:rank].sqrt()
    return means | {"left": basis @ outer[:, :rank] * root, "right": root[:, None] * inner[:rank]}


if __name__ == "__main__":
    main()
