"""An adapter: what LoRA adds to the bundled encoder's matrices, as two thin ones each in 8 bits, a head and a task."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn

from demos.files import ASSETS
from demos.training.learning.model import HEAD, RECIPE, Model, Trained, load_encoder, read_recipe_of

FOLDER = ASSETS / "ready"
ADAPTER = "adapter.safetensors"
EVERY_MATRIX = ("query", "key", "value", "output.dense", "intermediate.dense")
HEAD_PREFIX = "head."
LARGEST = 127  # of a signed byte


def changed_layers(encoder: Any) -> Iterator[tuple[str, nn.Linear]]:
    """The linear layers that the adapter changes, by their names: the six of each Transformer layer."""
    for name, module in encoder.named_modules():
        if isinstance(module, nn.Linear) and name.endswith(EVERY_MATRIX):
            yield name, module


def factored(change: torch.Tensor, rank: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(B [out, rank], A [rank, in]) with B A nearest to `change` [out, in]; equal where that has no higher rank.

    The truncated singular value decomposition (Eckart and Young 1936).
    """
    u, s, v = torch.linalg.svd(change.double(), full_matrices=False)
    root = s[:rank].sqrt()
    return (u[:, :rank] * root).float(), (root[:, None] * v[:rank]).float()


def to_bytes(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(whole numbers from -127 to 127 [rank, n], the unit of each row [rank]): rows ≈ unit · whole number."""
    unit = rows.abs().amax(dim=1).clamp_min(1e-12) / LARGEST
    return (rows / unit[:, None]).round().to(torch.int8).contiguous(), unit


def write_adapter(trained: Path, base: Path, folder: Path, rank: int) -> None:
    """Write what a LoRA run in the folder `trained` added to the encoder in `base`, its head and its task."""
    folder.mkdir(parents=True, exist_ok=True)
    before, after = dict(changed_layers(load_encoder(base))), dict(changed_layers(load_encoder(trained)))
    tensors = {HEAD_PREFIX + name: value for name, value in load_file(trained / HEAD).items()}
    for name, layer in after.items():
        b, a = factored((layer.weight - before[name].weight).detach(), rank)
        for part, rows in (("A", a), ("Bt", b.T)):
            tensors[f"{name}.{part}"], tensors[f"{name}.{part}.unit"] = to_bytes(rows)
    save_file(tensors, folder / ADAPTER)
    (folder / ADAPTER).chmod(0o644)
    recipe = json.loads((trained / RECIPE).read_text(encoding="utf-8"))
    (folder / RECIPE).write_text(json.dumps(recipe, indent=1) + "\n", encoding="utf-8")


def change_of(tensors: dict[str, torch.Tensor], name: str) -> torch.Tensor:
    """B A [out, in] of the linear layer of this name."""
    a, b = (tensors[f"{name}.{part}"].float() * tensors[f"{name}.{part}.unit"][:, None] for part in ("A", "Bt"))
    return b.T @ a


def with_adapter(encoder: Any, tokenizer: Any, folder: Path) -> Trained:
    """The encoder with an adapter's changes and its head; `encoder` is not changed and shares all other weights."""
    shared = {id(weight): weight for weight in (*encoder.parameters(), *encoder.buffers())}
    adapted = copy.deepcopy(encoder, shared)
    tensors = load_file(folder / ADAPTER)
    for name, layer in changed_layers(adapted):
        layer.weight = nn.Parameter(layer.weight.detach() + change_of(tensors, name), requires_grad=False)
    task, max_length = read_recipe_of(folder)
    head = task.head(encoder.config.hidden_size, None)
    head.load_state_dict(
        {key.removeprefix(HEAD_PREFIX): w for key, w in tensors.items() if key.startswith(HEAD_PREFIX)}
    )
    model = Model(adapted, head.eval().requires_grad_(False), tokenizer)
    return Trained(model, task, max_length)
