"""The head of an earlier run that a training begins with: as a run is kept here, or as its folder is downloaded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load
from torch import nn
from transformers import AutoConfig

from demos.bert.model.fetching import WEIGHTS
from demos.errors import UserError
from demos.training.export.modeling_head import HeadConfig
from demos.training.export.transformers_folder import SHAPES, STOCK
from demos.training.learning.model import HEAD, RECIPE, read_recipe_of
from demos.training.tasks.task import Task

GONE = "The run to start from is no longer kept here; choose another start."
NAMED = ("classification", "entities", "labels", "similarity")  # tasks whose outputs have names
DOWNLOADED = "recipe.json"  # beside the weights in a downloaded folder: the recipe of its run
CONFIG = "config.json"


@dataclass(frozen=True)
class HeadOf:
    """The purpose of a head. Two that are equal can have the same weights, unless they read all positions."""

    kind: str  # of task
    labels: tuple[str, ...]  # in the order of the outputs; none where the task has no names for them
    pairs: bool
    hidden: tuple[int, ...]
    positions: bool  # whether it has weights for each position, as many as the longest example

    def fits(self, other: HeadOf) -> bool:
        """Whether a head for this can go on as one for the other."""
        return self == other and not self.positions


def head_of(task: Any) -> HeadOf:
    """The purpose of this task's head."""
    labels = tuple(getattr(task, "output_names", task.labels)) if task.kind in NAMED else ()
    pairs = bool(getattr(task, "pairs", False))
    return HeadOf(task.kind, labels, pairs, tuple(task.hidden), getattr(task, "pooling", "") == "none")


@dataclass(frozen=True)
class EarlierHead:
    """An earlier run's head: what it is for, and the weights [out, in] and biases [out] of its linear layers."""

    of: HeadOf
    linears: tuple[tuple[torch.Tensor, torch.Tensor], ...]

    def put(self, task: Task, head: nn.Module) -> bool:
        """Put the weights into a fresh head of this task, where it is for the same; whether they were."""
        if not self.of.fits(head_of(task)):
            return False
        fresh = [layer for layer in head.modules() if isinstance(layer, nn.Linear)]
        with torch.no_grad():
            for layer, (weight, bias) in zip(fresh, self.linears, strict=True):
                layer.weight.copy_(weight)
                layer.bias.copy_(bias)
        return True


def read_run(folder: Path) -> tuple[Task, Any]:
    """(the task of a kept run, its encoder's configuration). Raises UserError where the run is gone."""
    try:
        task, _ = read_recipe_of(folder)
        config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(GONE) from error
    return task, AutoConfig.for_model(**config)


def read_head(base: Path) -> EarlierHead | None:
    """The head in this folder; None where it holds a plain model."""
    if (base / RECIPE).is_file():
        task, _ = read_recipe_of(base)
        return EarlierHead(head_of(task), _linears(load((base / HEAD).read_bytes())))
    if (base / DOWNLOADED).is_file():
        config = json.loads((base / CONFIG).read_text(encoding="utf-8"))
        recipe = json.loads((base / DOWNLOADED).read_text(encoding="utf-8"))
        return _downloaded(config, recipe["task"], load((base / WEIGHTS).read_bytes()))
    return None


def _downloaded(config: Mapping[str, Any], data: str, state: Mapping[str, torch.Tensor]) -> EarlierHead:
    """The head of a folder as `transformers_folder.export` writes it; `data` is the kind of data that it learned."""
    (architecture,) = config["architectures"]
    known = {data: SHAPES[data]} if data in SHAPES else SHAPES  # "sentence" and "pair" are one task
    kind, shape = next((kind, shape) for kind, shape in known.items() if architecture.endswith(shape.ending))
    own = config["model_type"] == HeadConfig.model_type
    if own:
        linears = _linears(
            {name.removeprefix("head."): tensor for name, tensor in state.items() if name.startswith("head.")}
        )
    else:
        names = [name for name in (STOCK[config["model_type"]].dense, shape.last) if f"{name}.weight" in state]
        linears = tuple((state[f"{name}.weight"], state[f"{name}.bias"]) for name in names)
    labels = tuple(config["id2label"].values()) if kind in NAMED else ()
    hidden = tuple(len(bias) for _, bias in linears[:-1])
    return EarlierHead(HeadOf(kind, labels, data == "pair", hidden, own and config.get("pooling") == "none"), linears)


def _linears(state: Mapping[str, torch.Tensor]) -> tuple[tuple[torch.Tensor, torch.Tensor], ...]:
    """The linear layers of a `dense_head`'s state, from below."""
    places = sorted({int(name.partition(".")[0]) for name in state})
    return tuple((state[f"{place}.weight"], state[f"{place}.bias"]) for place in places)
